package markdown

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// textWidth is how many columns a text takes.
func textWidth(s string) int { return ansi.StringWidth(s) }

// line is one that is being filled.
type line struct {
	r     *renderer
	width int
	used  int
	spans []span
	done  []string
}

// wrap fills lines with words.
func (r *renderer) wrap(spans []span, width int) []string {
	l := line{r: r, width: max(width, 1)}
	for _, s := range spans {
		for i, part := range strings.Split(s.text, "\n") {
			if i > 0 {
				l.end()
			}
			for _, word := range words(part) {
				l.add(span{word, s.look})
			}
		}
	}
	if l.used > 0 {
		l.end()
	}
	if len(l.done) == 0 && len(spans) > 0 {
		return []string{""}
	}
	return l.done
}

// words cuts a text between words and spaces.
func words(s string) []string {
	s = strings.ReplaceAll(s, "\t", "    ")
	var out []string
	for s != "" {
		n := strings.IndexByte(s, ' ')
		switch {
		case n < 0:
			n = len(s)
		case n == 0:
			n = len(s) - len(strings.TrimLeft(s, " "))
		}
		out, s = append(out, s[:n]), s[n:]
	}
	return out
}

// add puts a word, or the spaces between two, on the line or the next one.
func (l *line) add(s span) {
	n := textWidth(s.text)
	space := strings.TrimLeft(s.text, " ") == ""
	switch {
	case l.used+n <= l.width:
		l.put(s, n)
	case space:
		l.end()
	case n <= l.width-l.begun():
		l.back()
		l.put(s, n)
	default: // longer than a line
		for i, piece := range pieces(s.text, l.width, l.width-l.used) {
			if i > 0 {
				l.end()
			}
			l.put(span{piece, s.look}, textWidth(piece))
		}
	}
}

// word is where the word at the end of the line begins, among its spans: what looks different may be one.
func (l *line) word() int {
	i := len(l.spans)
	for i > 0 && !strings.HasSuffix(l.spans[i-1].text, " ") {
		i--
	}
	return i
}

// begun is how wide the word at the end of the line is so far; 0 when it fills the line alone.
func (l *line) begun() int {
	n := 0
	if i := l.word(); i > 0 {
		for _, s := range l.spans[i:] {
			n += textWidth(s.text)
		}
	}
	return n
}

// back ends the line before the word at its end, unless that is all of it.
func (l *line) back() {
	var rest []span
	if i := l.word(); i > 0 {
		rest = append(rest, l.spans[i:]...)
		l.spans = l.spans[:i]
	}
	l.end()
	for _, s := range rest {
		l.put(s, textWidth(s.text))
	}
}

func (l *line) put(s span, n int) {
	l.spans, l.used = append(l.spans, s), l.used+n
}

// end ends the line; spaces at its end go.
func (l *line) end() {
	for n := len(l.spans); n > 0; n-- {
		s := &l.spans[n-1]
		if s.text = strings.TrimRight(s.text, " "); s.text != "" {
			break
		}
		l.spans = l.spans[:n-1]
	}
	var b strings.Builder
	for i := 0; i < len(l.spans); {
		text, look := l.spans[i].text, l.spans[i].look
		for i++; i < len(l.spans) && l.spans[i].look == look; i++ {
			text += l.spans[i].text
		}
		b.WriteString(l.r.style(look, text))
	}
	l.done, l.spans, l.used = append(l.done, b.String()), nil, 0
}

// cut breaks a line of code where it does not fit.
func (r *renderer) cut(s span, width int) []string {
	if textWidth(s.text) <= width {
		return []string{r.style(s.look, s.text)}
	}
	var out []string
	for _, piece := range pieces(s.text, width, width) {
		out = append(out, r.style(s.look, piece))
	}
	return out
}

// pieces cuts a text into parts of at most width columns, the first of them of at most first. A single
// character that is wider is a part of its own.
func pieces(s string, width, first int) []string {
	var out []string
	room, used, from := first, 0, 0
	for at := 0; at < len(s); {
		cluster, n := ansi.FirstGraphemeCluster(s[at:], ansi.GraphemeWidth)
		if used+n > room && (at > from || len(out) == 0 && room < width) {
			out = append(out, s[from:at])
			from, used, room = at, 0, width
		}
		at, used = at+len(cluster), used+n
	}
	return append(out, s[from:])
}
