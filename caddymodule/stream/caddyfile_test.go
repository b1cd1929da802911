package stream_test

import (
	"testing"

	_ "github.com/svc-gateway/svc/caddymodule/stream"

	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"
)

func TestCaddyfile(t *testing.T) { caddytest.Golden(t) }
