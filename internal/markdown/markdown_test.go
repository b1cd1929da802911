package markdown_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/internal/markdown"
)

func TestRender(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		width    int
		want     string
	}{
		{"heading and paragraph", "# Disks\n\nThe disk is **full**.", 40, "Disks\n\nThe disk is full."},
		{"words are wrapped", "one two three four five six seven", 20, "one two three four\nfive six seven"},
		{"emphasis inside a word stays in it", "a bbbbbbbbbbbbbb**cc**dddd e", 20, "a\nbbbbbbbbbbbbbbccdddd\ne"},
		{"a long word is cut", strings.Repeat("x", 45), 20, strings.Repeat("x", 20) + "\n" + strings.Repeat("x", 20) + "\nxxxxx"},
		{"wide characters", "日本語のとても長い文章です", 20, "日本語のとても長い文\n章です"},
		{"lists", "1. one\n2. two\n   - a\n   - b\n\n- [x] done\n- [ ] open", 40, "1. one\n2. two\n   • a\n   • b\n\n• [x] done\n• [ ] open"},
		{"a list with paragraphs", "3. one\n\n   more\n\n4. two", 40, "3. one\n\n   more\n\n4. two"},
		{"code", "```go\nif x {\n\ty()\n}\n```", 40, "│ if x {\n│     y()\n│ }"},
		{"quotation", "> said\n> he", 40, "│ said he"},
		{"links are shown with their address", "[bank](http://evil.example) <http://a.example> ![cat](c.png)", 80, "bank (http://evil.example) http://a.example cat (c.png)"},
		{"a table", "| a | b |\n|:--|--:|\n| 1 | 10 |\n| 22 | 3 |", 40, "a    b\n──────\n1   10\n22   3"},
		{"a table that is too wide", "| name | text |\n|---|---|\n| ann | one two three four five |\n| bob | x |", 20, "name: ann\ntext: one two three\nfour five\n\nname: bob\ntext: x"},
		{"HTML is text", "<div>x</div>\n\na <i>b</i>", 40, "│ <div>x</div>\n\na <i>b</i>"},
		{"a line", "a\n\n---\n\nb", 40, "a\n\n" + strings.Repeat("─", 40) + "\n\nb"},
		{"entities", "&lt;&#27;[2J&#x202e;&amp;", 40, "<[2J&"},
		{"struck, and a break", "~~old~~ new  \nnext", 40, "old new\nnext"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Join(markdown.Render(tt.in, markdown.Options{Width: tt.width, Color: true}), "\n")
			if diff := cmp.Diff(tt.want, ansi.Strip(got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestStream(t *testing.T) {
	const text = "# a\n\n1. b\n\n   c\n2. d\n\n```\ncode\n\nstill\n```\n\nlast *one*"
	want := []string{"# a\n", "1. b\n\n   c\n2. d\n", "```\ncode\n\nstill\n```\n", "last *one*"}
	for n := range 12 {
		var s markdown.Stream
		var got []string
		for rest := text; rest != ""; {
			k := min(n+1, len(rest))
			got = append(got, s.Append(rest[:k])...)
			rest = rest[k:]
		}
		if got = append(got, s.Close()); !cmp.Equal(want, got) || s.Open() != "" {
			t.Errorf("in pieces of %d: %s", n+1, cmp.Diff(want, got))
		}
	}
}

var ours = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// FuzzRender: whatever a model writes, a terminal obeys nothing but looks that end on their line, no line is
// too wide, and cutting the text into pieces and blocks loses nothing.
func FuzzRender(f *testing.F) {
	f.Add("# a\x1b[2J\n\n- b `c\u009b` [x](\x07y)\n\n| a |\n|--|\n| \u202e |\n\n> > > 1. ```\n&#27;", uint8(20))
	f.Add("日本語 🏳️‍🌈 "+strings.Repeat("a", 50)+"\n\n~~~\n\t\tx\n", uint8(33))
	f.Fuzz(func(t *testing.T, in string, width uint8) {
		o := markdown.Options{Width: int(width%100) + markdown.MinWidth, Color: true}
		for _, line := range append(markdown.Render(in, o), markdown.Plain(in, o)...) {
			rest := ours.ReplaceAllString(line, "")
			if i := strings.IndexFunc(rest, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }); i >= 0 {
				t.Fatalf("%q: got %q", in, line)
			}
			if marks := ours.FindAllString(line, -1); len(marks)%2 != 0 || len(marks) > 0 && marks[len(marks)-1] != "\x1b[m" {
				t.Fatalf("%q: the looks do not end in %q", in, line)
			}
			if got := ansi.StringWidth(line); got > o.Width && got > 40 {
				t.Fatalf("%q: %d columns of %d: %q", in, got, o.Width, line)
			}
		}
		var s markdown.Stream
		var all strings.Builder
		for i := 0; i < len(in); i += 7 {
			for _, b := range s.Append(in[i:min(i+7, len(in))]) {
				all.WriteString(b)
			}
		}
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
		if all.WriteString("\n" + s.Close()); squeeze(all.String()) != squeeze(in) {
			t.Fatalf("%q: got %q", in, all.String())
		}
	})
}
