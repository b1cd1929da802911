package inject

import (
	"math/bits"
	"strings"
	"unicode/utf8"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// ruler measures where the words of a text stand. A distance is counted in bytes, where a run of white
// space counts as one. Bytes beyond ASCII and the white space behind them do not count: in languages that
// are written with them words belong together as far as a sentence goes.
type ruler struct {
	*layout
	text  string
	words []hit
	next  int // the first word that is not measured
}

// layout is what is known of the bytes of a text. Its memory is that of the next text as well.
type layout struct {
	planes  planes
	base    int     // where in the text the planes begin
	charted bool    // there are planes of the text
	counts  []int32 // by block: the bytes that count before it; none until they are asked for
}

// begin begins the layout of another text.
func (l *layout) begin() { l.base, l.charted, l.counts = 0, false, l.counts[:0] }

// chart makes the planes of a text from a place on.
func (l *layout) chart(s string, from int) {
	l.planes.chart(s[from:])
	l.base, l.charted, l.counts = from, true, l.counts[:0]
}

// measure measures the words before word i that may be tried with it, and the word.
func (r *ruler) measure(i int) {
	if first := i - reach; r.next < first || r.next == 0 {
		r.next = max(r.next, first)
	}
	if !r.charted {
		r.chart(r.text, before(r.text, r.words[r.next].start))
	}
	if len(r.counts) == 0 {
		r.counts = r.planes.count(r.counts)
	}
	for ; r.next <= i; r.next++ {
		w := &r.words[r.next]
		w.from, w.to = r.place(w.start), r.place(w.end)
		w.before, w.after = 0, 0
	}
}

// place returns how many bytes count before a place.
func (r *ruler) place(i int) int32 {
	i -= r.base
	n := i / blockSize
	return r.counts[n] + int32(bits.OnesCount64(r.planes.counted(n)&(1<<(uint(i)%blockSize)-1)))
}

// counted returns the mask of the bytes of a block that count.
func (p *planes) counted(n int) uint64 {
	before := uint64(0)
	if n > 0 {
		before = (p.blocks[n-1][spaces] | p.blocks[n-1][wides]) >> 63
	}
	b := &p.blocks[n]
	return ^(b[wides] | b[spaces]&((b[spaces]|b[wides])<<1|before))
}

// count appends, for each block, how many bytes count before it.
func (p *planes) count(list []int32) []int32 {
	all := int32(0)
	for n := range p.blocks {
		list = append(list, all)
		all += int32(bits.OnesCount64(p.counted(n)))
	}
	return list
}

// seesFrom returns the place from which a confirmation sees the text of a threat that begins with a word.
func (r *ruler) seesFrom(w *hit) int {
	if w.before > 0 {
		return int(w.before) - 1
	}
	start, left := w.start-r.base, seesBefore
	for n := start / blockSize; n >= 0; n-- {
		blank := r.planes.blocks[n][spaces]
		ones := ^(blank & (blank>>1 | r.planes.blocks[n+1][spaces]<<63)) // the last blank of a run counts
		if at := start - n*blockSize; at < blockSize {
			ones &= 1<<at - 1
		}
		all := bits.OnesCount64(ones)
		if left > all {
			left -= all
			continue
		}
		start = n*blockSize + nth(ones, all-left)
		w.before = int32(r.base+start) + 1
		return r.base + start
	}
	w.before = int32(r.base) + 1
	return r.base
}

// seesTo returns the place up to which a confirmation sees the text of a threat that ends with a word.
func (r *ruler) seesTo(w *hit) int {
	if w.after > 0 {
		return int(w.after) - 1
	}
	end, left := w.end-r.base, seesAfter
	before := uint64(0) // a word ends there
	for n := end / blockSize; n*blockSize < r.planes.size; n++ {
		blank := r.planes.blocks[n][spaces]
		ones := ^(blank & (blank<<1 | before)) // the first blank of a run counts
		before = blank >> 63
		if at := end - n*blockSize; at > 0 {
			ones = ones >> at << at
		}
		if all := bits.OnesCount64(ones); all < left {
			left -= all
			continue
		}
		end = min(n*blockSize+nth(ones, left-1)+1, r.planes.size)
		w.after = int32(r.base+end) + 1
		return r.base + end
	}
	w.after = int32(len(r.text)) + 1
	return len(r.text)
}

// nth returns the place of a bit that is set, the n-th from 0 on.
func nth(mask uint64, n int) int {
	for range n {
		mask &= mask - 1
	}
	return bits.TrailingZeros64(mask)
}

// stops returns how many sentences end between two places.
func (r *ruler) stops(from, to int) (n int) {
	from, to = from-r.base, to-r.base
	s := r.text[r.base:]
	for i := from; i < to; {
		rest := r.planes.ends(i)
		if left := to - i; left < blockSize {
			rest &= 1<<left - 1
		}
		for ; rest != 0; rest &= rest - 1 {
			if endsSentence(s, i+bits.TrailingZeros64(rest)) {
				n++
			}
		}
		i += blockSize
	}
	return n
}

// ends returns the mask of the bytes, of the 64 from i on, that may end a sentence.
func (p *planes) ends(i int) uint64 {
	blank := p.at(spaces, i)
	return p.at(signs, i) | p.at(wides, i) | blank&(blank>>1|1<<63)
}

// endsSentence reports whether a sentence ends with the byte at i.
func endsSentence(s string, i int) bool {
	switch gaps[s[i]] {
	case blanks:
		return strings.HasPrefix(s[i:], "\n\n")
	case stop:
		return i+1 == len(s) || text.Is(s[i+1], text.Space) || s[i+1] >= utf8.RuneSelf
	case beyond:
		return isWideStop(s[i:])
	}
	return false
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

// gap returns how many bytes lie between two words that are measured, and, if these are not more than a
// limit, whether a sentence ends between them. In a script beyond ASCII the end of one counts if it stands within the limit of the
// first word: there a demand often takes two sentences.
func (r *ruler) gap(left, right, limit int) (n int, ends bool) {
	a, b := &r.words[left], &r.words[right]
	if n = int(b.from - a.to); n > limit {
		return n, false
	}
	stops := r.stops(a.end, min(b.start, a.end+2*limit))
	if strings.HasPrefix(r.text[a.end:], "\n\n") { // as a line of its own
		stops--
	}
	if b.start > a.end && gaps[r.text[b.start-1]] == stop { // right before a word as well
		stops++
	}
	return n, stops > 0
}
