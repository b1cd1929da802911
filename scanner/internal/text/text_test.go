package text

import (
	"strings"
	"testing"
	"unicode"
)

func TestClasses(t *testing.T) {
	for b := range 256 {
		c, r := byte(b), rune(b)
		ascii := b < 0x80
		for _, tt := range []struct {
			name  string
			class Class
			want  bool
		}{
			{"letter", Letter, ascii && unicode.IsLetter(r)},
			{"digit", Digit, ascii && unicode.IsDigit(r)},
			{"blank", Blank, c == ' ' || c == '\t'},
			{"space", Space, strings.IndexByte(" \t\r\n", c) >= 0},
		} {
			if got := Is(c, tt.class); got != tt.want {
				t.Errorf("%q is a %s: got %v, want %v", c, tt.name, got, tt.want)
			}
		}
		if ClassOf(c)&^(Blank|Space|Digit|Letter) != 0 {
			t.Errorf("%q has a class that is free", c)
		}
	}
}

func TestSet(t *testing.T) {
	s := Words(" one\n two\tthree ")
	for word, want := range map[string]bool{"one": true, "three": true, "two\tthree": false, "hree": false, "thre": false, "One": false, "on": false, "": false, strings.Repeat("x", 100): false} {
		if got := Lists(" one\n two\tthree ", word); got != want {
			t.Errorf("Lists(%q): got %v, want %v", word, got, want)
		}
		if got := s.HasString(word); got != want {
			t.Errorf("HasString(%q): got %v, want %v", word, got, want)
		}
		if got := s.Has([]byte(word)); got != want {
			t.Errorf("Has(%q): got %v, want %v", word, got, want)
		}
		want = want || word == "One"
		if got := s.HasFoldString(word); got != want {
			t.Errorf("HasFoldString(%q): got %v, want %v", word, got, want)
		}
		if got := s.HasFold([]byte(word)); got != want {
			t.Errorf("HasFold(%q): got %v, want %v", word, got, want)
		}
	}
}

func TestFold(t *testing.T) {
	for _, tt := range []struct {
		p, word         string
		begins, somehow bool
	}{
		{"PassWord", "password", true, true},
		{"a PassWord", "password", false, true},
		{"Pass", "password", false, false},
		{"", "x", false, false},
	} {
		if got := HasPrefixFold(tt.p, tt.word); got != tt.begins {
			t.Errorf("HasPrefixFold(%q, %q): got %v, want %v", tt.p, tt.word, got, tt.begins)
		}
		if got := ContainsFold([]byte(tt.p), tt.word); got != tt.somehow {
			t.Errorf("ContainsFold(%q, %q): got %v, want %v", tt.p, tt.word, got, tt.somehow)
		}
	}
	if got, want := Rot13("Hello, Wörld 13"), "Uryyb, Jöeyq 13"; got != want {
		t.Errorf("Rot13: got %q, want %q", got, want)
	}
}

func TestExcerpt(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "a\u200bb": "aU+200Bb", "tab\there": "tabU+0009here", "\xff": "U+FFFD", "\U000e0041": "U+E0041", "❤\ufe0f": "❤U+FE0F",
	} {
		if got := Excerpt(in); got != want {
			t.Errorf("Excerpt(%q): got %q, want %q", in, got, want)
		}
	}
	if got := Excerpt(strings.Repeat("\u200b", 1000)); len(got) > 120 {
		t.Errorf("got an excerpt of %d bytes", len(got))
	}
}
