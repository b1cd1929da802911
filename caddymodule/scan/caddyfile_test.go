package scan_test

import (
	"testing"

	_ "github.com/svc-gateway/svc/caddymodule/scan"

	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"
)

func TestCaddyfile(t *testing.T) { caddytest.Golden(t) }
