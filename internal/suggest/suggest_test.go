package suggest_test

import (
	"testing"

	"github.com/svc-gateway/svc/internal/suggest"
)

func TestNearest(t *testing.T) {
	known := []string{"start", "status", "stop"}
	for _, tt := range []struct{ name, want string }{
		{"strat", "start"}, {"START", "start"}, {"stauts", "status"}, {"stp", "stop"}, {"x", ""}, {"", ""}, {"configuration", ""},
	} {
		if got := suggest.Nearest(tt.name, known); got != tt.want {
			t.Errorf("Nearest(%q): got %q, want %q", tt.name, got, tt.want)
		}
	}
	if got, want := suggest.DidYouMean("strat", known), "; did you mean start?"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := suggest.DidYouMean("x", known); got != "" {
		t.Errorf("got %q, want none", got)
	}
}
