package legible_test

import (
	"testing"

	"github.com/svc-gateway/svc/agents/legible"
)

func TestSame(t *testing.T) {
	for _, tc := range []struct {
		name       string
		was, shown any
		want       bool
	}{
		{"a plain secret", map[string]any{"command": "x --password=hunter2"}, map[string]any{"command": "x --password=REDACTED"}, true},
		{"a second command", map[string]any{"command": "x --password=a;reboot"}, map[string]any{"command": "x --password=REDACTED"}, false},
		{"a name that is gone", map[string]any{"a": "x", "b": "y"}, map[string]any{"a": "x"}, false},
		{"in a list", []any{"x", "`y`"}, []any{"x", "REDACTED"}, false},
		{"a shorter list", []any{"x", "y"}, []any{"x"}, false},
		{"a text that became a number", "x", 1.0, false},
		{"numbers", 1.0, 2.0, true},
	} {
		if got := legible.Same(tc.was, tc.shown); got != tc.want {
			t.Errorf("%s: got %t, want %t", tc.name, got, tc.want)
		}
	}
}
