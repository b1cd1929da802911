package identity

import (
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// Whatever a source calls somebody, the account's name is one that every path, log line and
// table can hold; what is one already stays as it is.
func FuzzUserName(f *testing.F) {
	for _, name := range []string{"bob", "Jane Doe", `DOMAIN\bob`, "os:root", "../etc", "a\x00b", "王", "-rf", "bob@example.org", strings.Repeat("é", 70)} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, text string) {
		x := External{Name: text}
		name, err := x.userName()
		if err != nil {
			if name != "" || !errors.Is(err, ErrInvalid) {
				t.Errorf("%q: got %q, %v; want ErrInvalid", text, name, err)
			}
			return
		}
		if err := checkUserName(name); err != nil {
			t.Errorf("%q: got %q: %v", text, name, err)
		}
		if checkUserName(text) == nil && name != text {
			t.Errorf("%q is a user name, and became %q", text, name)
		}
	})
}

func FuzzCut(f *testing.F) {
	f.Add("curl/8.0", 5)
	f.Add("é\x00\xff\u2028x", 3)
	f.Fuzz(func(t *testing.T, text string, n int) {
		if n < 0 {
			return
		}
		got := cut(text, n)
		if len(got) > n || !utf8.ValidString(got) || strings.ContainsFunc(got, unicode.IsControl) {
			t.Errorf("%q cut to %d: got %q", text, n, got)
		}
	})
}
