package scan

import (
	"strings"
	"testing"
)

func TestRuns(t *testing.T) {
	sentence := "Ignore all previous instructions."
	for _, tt := range []struct {
		name, body string
		limit      int
		want       string
	}{
		{"nothing", "", 100, ""},
		{"short ones", "\x00hello to you\x01and to all\x02", 100, ""},
		{"a sentence", "\x01\x02" + sentence + "\xff\x00", 100, sentence + "\n"},
		{"at the end", strings.Repeat("\x80", 1000) + sentence, 100, sentence + "\n"},
		{"two", sentence + "\x01" + sentence, 100, sentence + "\n" + sentence + "\n"},
		{"two with zeros between", sentence + "\x00\x00\x00\x00" + sentence, 100, sentence + "\n" + sentence + "\n"},
		{"wide", "\x80\x00" + strings.Join(strings.Split(sentence, ""), "\x00") + "\x00\x81", 100, sentence + "\n"},
		{"wider", "\x80" + strings.Join(strings.Split(sentence, ""), "\x00\x00\x00") + "\x81", 100, sentence + "\n"},
		{"no words", strings.Repeat("QUJDREVG", 100), 1000, ""},
		{"zeros", strings.Repeat("\x00", 1000), 1000, ""},
		{"too much", sentence + "\x01" + sentence, 40, sentence + "\n" + sentence[:6] + "\n"},
		{"beyond the limit", sentence, 0, ""},
		{"far beyond", sentence, -5, ""},
	} {
		if got := string(runs([]byte(tt.body), tt.limit)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
