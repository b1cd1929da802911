package sqltoken

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// written writes the tokens of a text, each as its kind and text.
func written(d Dialect, text string) string {
	var list []string
	for t, ok := d.Next(text, 0); ok; t, ok = d.Next(text, t.End) {
		list = append(list, [...]string{"word", "name", "literal", "mark"}[t.Kind]+" "+t.Text)
	}
	return strings.Join(list, ", ")
}

func TestNext(t *testing.T) {
	for _, tt := range []struct{ name, text, any, sqlite string }{
		{"words", "select a_1, é", "word SELECT, word A_1, mark ,, word É", "word SELECT, word A_1, mark ,, word É"},
		{"comments", "-- x\n1 /* y */ /**/ 2 -- z", "literal 1, literal 2", "literal 1, literal 2"},
		{"comment without an end", "1 /* ;", "literal 1", "literal 1"},
		{"executed comment", "/*!50000 DROP */ x", "word DROP, word X", "word X"},
		{"end of a comment alone", "a */ b", "word A, word B", "word A, mark *, mark /, word B"},
		{"strings", "'a''b' 'c", "literal 'a''b', literal 'c", "literal 'a''b', literal 'c"},
		{"backslash", `'a\' ; '`, `literal 'a\' ; '`, `literal 'a\', mark ;, literal '`},
		{"names", "\"a;\" `b`", "name a;, name b", "name a;, name b"},
		{"brackets", "[a;b", "mark [, word A, mark ;, word B", "name a;b"},
		{"dollars", "$q$;$q$ $1", "literal $q$;$q$, mark $, literal 1", "word $Q$, mark ;, word $Q$, word $1"},
		{"numbers", "1.5e3 .5", "literal 1.5e3, mark ., literal 5", "literal 1.5e3, mark ., literal 5"},
		{"white space", "a\v\x01b\x00", "word A, word B", "word A, word B"},
		{"nothing", " \t", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.any, written(Any, tt.text)); diff != "" {
				t.Errorf("Any: -want +got\n%s", diff)
			}
			if diff := cmp.Diff(tt.sqlite, written(SQLite, tt.text)); diff != "" {
				t.Errorf("SQLite: -want +got\n%s", diff)
			}
		})
	}
}

func TestIs(t *testing.T) {
	for text, want := range map[string]bool{"Drop": true, "'DROP'": false, `"DROP"`: false, ";": true, "x": false} {
		token, _ := Any.Next(text, 0)
		if got := token.Is("DROP", ";"); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}

// FuzzNext holds that tokens stand in the text one after the other, whatever it is.
func FuzzNext(f *testing.F) {
	f.Add("SELECT 'a', \"b\", [c], $x$d$x$ -- e\n/*! f */;")
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range []Dialect{Any, SQLite} {
			at := 0
			for token, ok := d.Next(text, 0); ok; token, ok = d.Next(text, token.End) {
				if token.Start < at || token.End <= token.Start || token.End > len(text) {
					t.Fatalf("%+v after byte %d of %q", token, at, text)
				}
				at = token.End
			}
		}
	})
}
