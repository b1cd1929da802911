package scan

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecodeEscapes(t *testing.T) {
	for in, want := range map[string]string{
		"":              "",
		"plain":         "plain",
		`a\nb\tc`:       "a b c",
		`\u0069gnore`:   "ignore",
		`\"x\" \\ \/`:   `"x" \ /`,
		`\ud83d\ude00!`: "😀!",
		`\ud83d!`:       "\uFFFD!",
		`\u00`:          `\u00`,
		`\u00zz`:        `\u00zz`,
		`end\`:          `end\`,
		`\u200b`:        "\u200b",
	} {
		if got := decodeEscapes(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestDecodeForm(t *testing.T) {
	for in, want := range map[string]string{"a=b+c%20d": "a=b c d", "100%": "100%", "%zz%4": "%zz%4", "%e2%80%8b": "\u200b"} {
		if got := decodeForm(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// FuzzWalk holds that no string of a document is missed.
func FuzzWalk(f *testing.F) {
	for _, doc := range []string{`{"a":["b\\",{"c\"":"\u0064"}],"":""}`, `"\\\""`, `[]`, `" "`} {
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		if !json.Valid([]byte(doc)) {
			return
		}
		var got, want []string
		everything.walk(doc, func(_ []string, s string, _ bool) { got = append(got, strings.ToValidUTF8(s, "\uFFFD")) })
		d := json.NewDecoder(strings.NewReader(doc))
		for {
			token, err := d.Token()
			if err != nil {
				break
			}
			if s, ok := token.(string); ok {
				want = append(want, strings.ToValidUTF8(s, "\uFFFD"))
			}
		}
		if len(got) != len(want) {
			t.Fatal(cmp.Diff(want, got))
		}
		for i := range got { // invalid UTF-8 becomes one or several replacement characters
			if g, w := squeeze(got[i]), squeeze(want[i]); g != w {
				t.Errorf("string %d: got %q, want %q", i, got[i], want[i])
			}
		}
	})
}

func squeeze(s string) string {
	for strings.Contains(s, "\uFFFD\uFFFD") {
		s = strings.ReplaceAll(s, "\uFFFD\uFFFD", "\uFFFD")
	}
	return s
}
