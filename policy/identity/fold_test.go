package identity_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/svc-gateway/svc/policy/identity"
)

func TestFoldName(t *testing.T) {
	for name, tt := range map[string]struct {
		spellings []string
		want      string
	}{
		"case":              {[]string{"bob", "BOB", "Bob", "bOb"}, "bob"},
		"spaces":            {[]string{" bob", "bob ", "\tbob\n", "\u00a0bob\u3000"}, "bob"},
		"inner spaces":      {[]string{"bob smith", "Bob   Smith", "bob\u2003smith"}, "bob smith"},
		"invisible":         {[]string{"b\u00adob", "bo\u200bb", "\ufeffbob", "b\u034fob", "bob\ufe0f", "b\u202eob"}, "bob"},
		"width":             {[]string{"ｂｏｂ", "ＢＯＢ", "𝐛𝐨𝐛", "ⓑⓞⓑ"}, "bob"},
		"accents":           {[]string{"jose", "José", "JOSE\u0301", "josè"}, "jose"},
		"more than one":     {[]string{"STRASSE", "straße", "ﬆrasse", "strasse"}, "strasse"},
		"dotted and not":    {[]string{"i\u0307van", "İVAN", "ivan"}, "ivan"},
		"final sigma":       {[]string{"ΝΙΚΟΣ", "νικος", "νικοσ"}, "νικοσ"},
		"another person":    {[]string{"b0b"}, "b0b"},
		"another script":    {[]string{"вob"}, "вob"},
		"nothing to see":    {[]string{"", " ", "\u200b", "\u0301", "\u3164"}, ""},
		"not valid UTF-8":   {[]string{"b\xffb", "b\xfeb"}, "b\ufffdb"},
		"directory domains": {[]string{`CORP\Bob`}, `corp\bob`},
	} {
		for _, s := range tt.spellings {
			if got := identity.FoldName(s); got != tt.want {
				t.Errorf("%s: %q: got %q, want %q", name, s, got, tt.want)
			}
		}
	}
}

func FuzzFoldName(f *testing.F) {
	for _, s := range []string{"Bob", "ＢＯＢ", "straße", "İ", "\u1e9b\u0323", "\ufdfa", "ᾳ", "\xff", strings.Repeat("é", 200)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := identity.FoldName(s)
		if again := identity.FoldName(once); again != once {
			t.Errorf("%q: folded to %q, and that to %q", s, once, again)
		}
		if !utf8.ValidString(once) || len(once) > 256 {
			t.Errorf("%q: got %q", s, once)
		}
		for _, variant := range []string{" " + s, s + "\u200b", s + "\u00ad "} {
			if got := identity.FoldName(variant); got != once && len(once) < 250 {
				t.Errorf("%q: got %q, want %q", variant, got, once)
			}
		}
	})
}

func TestFoldAddress(t *testing.T) {
	for in, want := range map[string]string{
		"192.0.2.1":               "192.0.2.1",
		"::ffff:192.0.2.1":        "192.0.2.1",
		"64:ff9b::192.0.2.1":      "192.0.2.1",
		"2001:db8:1:2::1":         "2001:db8:1:2::/64",
		"2001:db8:1:2:3:4:5:6":    "2001:db8:1:2::/64",
		"2001:DB8:1:2:0:0:0:9":    "2001:db8:1:2::/64",
		"2001:db8:1:3::1":         "2001:db8:1:3::/64",
		"fe80::1%eth0":            "fe80::/64",
		"::1":                     "::/64",
		"@":                       "@",
		"":                        "",
		"2001:db8:1:2::/64":       "2001:db8:1:2::/64",
		"192.0.2.1, 198.51.100.7": "192.0.2.1, 198.51.100.7",
	} {
		if got := identity.FoldAddress(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
