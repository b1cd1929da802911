package suggest_test

import (
	"testing"

	"github.com/svc-gateway/svc/internal/suggest"
)

func TestNearest(t *testing.T) {
	known := []string{"start", "status", "stop"}
	for _, tt := range []struct{ name, want string }{
		{"satrt", "start"}, {"START", "start"}, {"stauts", "status"}, {"stp", "stop"}, {"x", ""}, {"", ""}, {"configuration", ""}, {"sotp", "stop"},
	} {
		if got := suggest.Nearest(tt.name, known); got != tt.want {
			t.Errorf("Nearest(%q): got %q, want %q", tt.name, got, tt.want)
		}
	}
	if got, want := suggest.DidYouMean("satrt", known), "; did you mean start?"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := suggest.DidYouMean("x", known); got != "" {
		t.Errorf("got %q, want none", got)
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "ab", 2},
		{"ab", "", 2},
		{"web", "web", 0},
		{"wbe", "web", 1},
		{"web", "wb", 1},
		{"web", "wéb", 1},
		{"ca", "abc", 3},
		{"kitten", "sitting", 3},
		{"abcdef", "badcfe", 3},
	} {
		if got := suggest.Distance(tt.a, tt.b); got != tt.want {
			t.Errorf("Distance(%q, %q): got %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if got := suggest.Distance(tt.b, tt.a); got != tt.want {
			t.Errorf("Distance(%q, %q): got %d, want %d", tt.b, tt.a, got, tt.want)
		}
	}
}
