package inject

import (
	"strings"
	"unicode/utf8"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// tick is a place of a text, measured from another: in bytes, where a run of white space counts as
// one, and in ends of sentences. Bytes beyond ASCII and the white space behind them do not count: in
// languages that are written with them words belong together as far as a sentence goes.
type tick struct{ bytes, stops int32 }

// ruler measures where the words of a text stand. It reads what it has to, once.
type ruler struct {
	text  string
	words []hit
	next  int // the first word that is not measured
	pos   int
	at    tick // of pos
}

// measure measures the words before word i that may be tried with it, and the word.
func (r *ruler) measure(i int) {
	if first := i - reach; r.next < first || r.next == 0 {
		r.next = max(r.next, first)
		r.pos, r.at = r.words[r.next].start, tick{}
	}
	for ; r.next <= i; r.next++ {
		w := &r.words[r.next]
		w.from, w.to = r.tick(w.start), r.tick(w.end)
	}
}

// tick measures a place, at most the length of a word before the last.
func (r *ruler) tick(pos int) tick {
	if pos < r.pos {
		t := ticks(r.text, pos, r.pos)
		return tick{r.at.bytes - t.bytes, r.at.stops - t.stops}
	}
	t := ticks(r.text, r.pos, pos)
	r.pos, r.at = pos, tick{r.at.bytes + t.bytes, r.at.stops + t.stops}
	return r.at
}

// ticks measures what stands between two places.
func ticks(s string, from, to int) (t tick) {
	blank := false
	for i := from; i < to; i++ {
		b := s[i]
		switch gaps[b] {
		case blanks:
			if b == '\n' && strings.HasPrefix(s[i+1:], "\n") {
				t.stops++
			}
			if !blank && (i == 0 || s[i-1] < utf8.RuneSelf) {
				t.bytes++
			}
			blank = true
			continue
		case stop:
			t.bytes++
			if i+1 == len(s) || text.Is(s[i+1], text.Space) || s[i+1] >= utf8.RuneSelf {
				t.stops++
			}
		case beyond:
			if isWideStop(s[i:]) {
				t.stops++
			}
		default:
			t.bytes++
		}
		blank = false
	}
	return t
}

// What a byte is between words.
const (
	other = iota
	blanks
	stop   // ends a sentence
	beyond // ASCII
)

var gaps = func() (t [256]uint8) {
	for i := range t {
		switch b := byte(i); {
		case b >= utf8.RuneSelf:
			t[i] = beyond
		case b == '.' || b == '!' || b == '?' || b == ';':
			t[i] = stop
		case text.Is(b, text.Space):
			t[i] = blanks
		}
	}
	return t
}()

// isWideStop reports whether the text begins with the end of a sentence in another script.
func isWideStop(s string) bool {
	switch s[0] {
	case 0xe3:
		return strings.HasPrefix(s, "。")
	case 0xef:
		return strings.HasPrefix(s, "！") || strings.HasPrefix(s, "？")
	case 0xe0:
		return strings.HasPrefix(s, "।")
	case 0xd8:
		return strings.HasPrefix(s, "؟")
	}
	return false
}

// gap returns how many bytes lie between two words that are measured, and whether a sentence ends
// between them. In a script beyond ASCII the end of one counts if it stands within the limit of the
// first word: there a demand often takes two sentences.
func (r *ruler) gap(left, right, limit int) (n int, ends bool) {
	a, b := &r.words[left], &r.words[right]
	n = int(b.from.bytes - a.to.bytes)
	stops := b.from.stops - a.to.stops
	if stops > 0 && b.start-a.end > 2*limit && n <= limit {
		stops = ticks(r.text, a.end, a.end+2*limit).stops
	}
	if strings.HasPrefix(r.text[a.end:], "\n\n") { // as a line of its own
		stops--
	}
	if b.start > a.end && gaps[r.text[b.start-1]] == stop { // right before a word as well
		stops++
	}
	return n, stops > 0
}
