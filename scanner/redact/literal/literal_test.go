package literal

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExpand(t *testing.T) {
	want := []string{"xoxa-1", "xoxb-1", "xoxa-2", "xoxb-2"}
	if diff := cmp.Diff(want, Expand("xox[ab]-[12]")); diff != "" {
		t.Error(diff)
	}
}

// A mark is found in any case and at any cut, and what may begin a token is held.
func TestAutomaton(t *testing.T) {
	a := NewAutomaton([]Mark{{Text: "sword", Rule: 0}, {Text: "ghp_", Rule: 1, Exact: true, Token: true}})
	for _, tt := range []struct {
		text     string
		rule     int // of the mark that ends first; -1: none does
		at, held int
	}{
		{"the PassWord: x", 0, 12, 0},
		{"a ghp_x", 1, 6, 0},
		{"it ends in gh", -1, 13, 2},
		{"enough", -1, 6, 0},
		{"don't", -1, 5, 0},
	} {
		t.Run(tt.text, func(t *testing.T) {
			state, n, found := State(0), 0, false
			for n < len(tt.text) && !found {
				state, _, found = a.Find(state, []byte(tt.text[n:n+1]))
				n++
			}
			rule := -1
			if found {
				rule = a.Ends(state)[0].Rule
			}
			if rule != tt.rule || n != tt.at {
				t.Errorf("got rule %d at %d, want rule %d at %d", rule, n, tt.rule, tt.at)
			}
			if held := a.Held(state, []byte(tt.text)); !found && held != tt.held {
				t.Errorf("got %d bytes held, want %d", held, tt.held)
			}
		})
	}
}

func TestForms(t *testing.T) {
	f := (*Forms)(nil).Clone()
	f.Add("tiger&lion\"42")
	for _, tt := range []struct {
		text string
		at   int
		form string
	}{
		{`a tiger&lion"42 b`, 2, `tiger&lion"42`},
		{`a tiger%26lion%2242 b`, 2, `tiger%26lion%2242`},
		{`a tiger\u0026lion\"42`, 2, `tiger\u0026lion\"42`},
		{`a tiger&li`, 2, ""},
		{`a tiger!`, 8, ""},
	} {
		if at, form := f.Find([]byte(tt.text), false); at != tt.at || form != tt.form {
			t.Errorf("%q: got %q at %d, want %q at %d", tt.text, form, at, tt.form, tt.at)
		}
	}
	if !(*Forms)(nil).Clean([]byte("tiger")) {
		t.Error("no values: a text is not clean")
	}
}
