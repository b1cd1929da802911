package snapshot

import (
	"strings"
	"testing"
)

func TestPrefix(t *testing.T) {
	var p Prefix
	if p.Begins([]byte("")) || p.Begins([]byte("any")) {
		t.Error("something repeats an empty text")
	}
	for _, piece := range []string{"it", "", " is", " so"} {
		p.Grow([]byte(piece))
	}
	for raw, want := range map[string]bool{"it is so": true, "it is so too": true, "it is s": false, "it is no": false, "": false} {
		if got := p.Begins([]byte(raw)); got != want {
			t.Errorf("%q repeats the text: %t", raw, got)
		}
	}
	if p.Len() != len("it is so") {
		t.Errorf("the text has %d bytes", p.Len())
	}
	p.Forget()
	if p.Len() != 0 || p.Begins([]byte("it is so")) {
		t.Error("the text is not forgotten")
	}
}

func FuzzPrefix(f *testing.F) {
	f.Add("it", " is", "it is so")
	f.Fuzz(func(t *testing.T, a, b, raw string) {
		var p Prefix
		p.Grow([]byte(a))
		p.Grow([]byte(b))
		if got, want := p.Begins([]byte(raw)), a+b != "" && strings.HasPrefix(raw, a+b); got != want {
			t.Errorf("%q begins with %q: %t", raw, a+b, got)
		}
	})
}
