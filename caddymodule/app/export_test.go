package app

import (
	"testing"

	"github.com/svc-gateway/svc/internal/settings"
)

// LockForTest takes the data folder as another process would and returns what gives it back.
func LockForTest(t *testing.T, h settings.Home) func() {
	t.Helper()
	l, err := acquireLock(h, 0)
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := l.release(); err != nil {
			t.Error(err)
		}
	}
}
