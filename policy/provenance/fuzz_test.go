package provenance

import (
	"strings"
	"testing"
)

// FuzzSubstring: a text never names what is only a part of one of its words.
func FuzzSubstring(f *testing.F) {
	for _, v := range []string{"docs/a.md", "example.com", "https://example.com/a", "bob@example.com", "42", `"a b"`, "(a)", "::1", "a..", "./", "a:1", "https://a"} {
		for i := range Kinds() {
			f.Add(uint8(i), v, "x", "")
			f.Add(uint8(i), v, "", "y")
			f.Add(uint8(i), v, "x", "9")
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, value, before, behind string) {
		k := Kinds()[int(kind)%len(Kinds())]
		before, behind = letters(before), letters(behind)
		if before+behind == "" {
			return
		}
		word := before + value + behind
		a, ok := form(k, value)
		if b, same := form(k, word); !ok || same && a == b { // another way to write it
			return
		}
		if k == Host && len(named(Host, word)) == 1 && named(Host, word)[0] == a {
			return // a URL names its host
		}
		if NewWords(word).Name(k, value) {
			t.Errorf("%q names %s %q", word, k, value)
		}
	})
}

// letters leaves of a text what no punctuation is.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && alnum(byte(r)) {
			return r
		}
		return -1
	}, s)
}

// FuzzPunctuation: punctuation around a word changes nothing.
func FuzzPunctuation(f *testing.F) {
	for _, v := range []string{"docs/a.md", "example.com", "https://example.com/a", "bob@example.com", "42"} {
		f.Add(v, uint8(0), uint8(0))
		f.Add(v, uint8(3), uint8(7))
	}
	around := [][2]string{{"(", ")"}, {"[", "]"}, {"<", ">"}, {`"`, `"`}, {"'", "'"}, {"`", "`"}, {"“", "”"}, {"«", "»"}, {"", ""}}
	ends := []string{"", ".", ",", ";", ":", "!", "?", "…", "...", "?!"}
	f.Fuzz(func(t *testing.T, value string, mark, end uint8) {
		for _, k := range Kinds() {
			if strings.ContainsFunc(value, func(r rune) bool { return r > 0x7f || !alnum(byte(r)) && !strings.ContainsRune("/.-_@:", r) }) ||
				value == "" || !alnum(value[len(value)-1]) {
				return
			}
			m := around[int(mark)%len(around)]
			word := m[0] + value + ends[int(end)%len(ends)] + m[1] + ends[int(end/2)%len(ends)]
			plain, got := NewWords(value).Name(k, value), NewWords("see "+word+" now").Name(k, value)
			if plain != got {
				t.Errorf("%q: got %t, and %t for %q", value, plain, got, word)
			}
		}
	})
}

// FuzzTrace: nothing panics, every target has a source, and a fragment is short and of one line.
func FuzzTrace(f *testing.F) {
	f.Add("say docs/a.md", "read https://e.example/%41 \"a b\" \x00", "https://e.example/A", uint8(2))
	f.Fuzz(func(t *testing.T, said, read, value string, kind uint8) {
		trail := Trail{Said: NewWords(said), Read: []Text{{"tool:x", read}}}
		for _, g := range trail.Trace([]Target{{Kind: Kinds()[int(kind)%len(Kinds())], Value: value}}) {
			if g.Source != SourceUser && g.Source != "tool:x" && g.Source != SourceUnknown || len(g.Fragment) > maxFragment || strings.ContainsAny(g.Fragment, "\n\r") {
				t.Errorf("got %+v", g)
			}
		}
	})
}
