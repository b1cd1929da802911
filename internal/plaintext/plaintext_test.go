package plaintext_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/svc-gateway/svc/internal/plaintext"
)

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":       "plain\ttext\n",
		"a\r\nb\rc":           "a\nb\uFFFDc",
		"\x1b[31mred\x1b[0m":  "\uFFFD[31mred\uFFFD[0m",
		"\xff\xfe latin \xe4": "\uFFFD latin \uFFFD",
		"nul\x00del\x7f":      "nul\uFFFDdel\uFFFD",
		"c1 \u009b csi":       "c1 \uFFFD csi",
		"Grüße 日本 🙂":          "Grüße 日本 🙂",
	} {
		if got := plaintext.Clean([]byte(in)); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
	for _, s := range []string{"", "a", "ä", "日本", "🙂🙂"} {
		for n := range len(s) + 1 {
			if got := plaintext.Clean(plaintext.Whole([]byte(s[:n]))); strings.Contains(got, "\uFFFD") || !strings.HasPrefix(s, got) || len(s[:n])-len(got) > 3 {
				t.Errorf("%q cut at %d: %q", s, n, got)
			}
		}
	}
}

func TestWhole(t *testing.T) {
	for in, want := range map[string]string{"": "", "a": "a", "é": "é", "aé"[:2]: "a", "a€"[:3]: "a", "𝄞"[:3]: "", "\xff": "\xff"} {
		if got := string(plaintext.Whole([]byte(in))); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// FuzzClean: a terminal obeys nothing of the result, and what is clean stays.
func FuzzClean(f *testing.F) {
	f.Add([]byte("a\x1b]0;title\x07\r\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		got := plaintext.Clean(in)
		if !utf8.ValidString(got) {
			t.Errorf("%q: got %q, which is not UTF-8", in, got)
		}
		for _, r := range got {
			if unicode.IsControl(r) && r != '\n' && r != '\t' {
				t.Errorf("%q: got %q, with %U in it", in, got, r)
			}
		}
		if again := plaintext.Clean([]byte(got)); again != got {
			t.Errorf("%q: got %q, and %q of that", in, got, again)
		}
	})
}
