package inject

import (
	"sync"
	"unicode/utf8"

	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/internal/text"
)

// foldAll looks at the parts of a view around bytes beyond ASCII, with all that can be read as ASCII
// in ASCII and without what cannot be seen. Letters of other alphabets count as the Latin ones that
// they look like in words that have Latin letters as well, and in a text of mostly Latin letters in
// words that have no others.
func (s *scan) foldAll(v *view, l *level) {
	mostly := sync.OnceValue(func() bool { return mostlyLatin(v.text) })
	var all spans
	for _, p := range l.marks.wide {
		all.add(p.start, p.end, context-wideAround)
	}
	for _, p := range all {
		if p = p.in(v.text); s.known(v, p.end) {
			continue
		}
		d := s.draft(v, p)
		if d.fold(v.text, &l.bench.planes, p, mostly) {
			l.plain = append(l.plain, p)
			s.look(d.view(scanner.ViewFolded, v, p, 0))
		}
	}
}

// fold writes a part of a text, whose planes are given. It reports whether anything changed.
func (d *draft) fold(s string, bytes *planes, p span, mostly func() bool) bool {
	done := p.start // what stands before has been written
	last := p.start // the end of the last word that was looked at
	for i := bytes.next(wides, p.start); i < p.end; i = bytes.next(wides, i) {
		if i += dull(s[i:p.end]); i >= p.end || s[i] < utf8.RuneSelf {
			continue
		}
		if r, size := utf8.DecodeRuneInString(s[i:p.end]); glyphOf(r).isDull() {
			i += size
			continue
		}
		end, plain, foldable := wordAt(s[:p.end], beginOfWord(s, last, i))
		if end <= i { // a character that is of no word stands behind one
			end, plain, foldable = wordAt(s[:p.end], i)
		}
		for j := i; j < end; {
			if s[j] < utf8.RuneSelf {
				j++
				continue
			}
			r, size := utf8.DecodeRuneInString(s[j:])
			g := glyphOf(r)
			like := g.like != 0 && foldable && (plain || mostly())
			if g.kind&(isUnseen|isPlain|isAccent) == 0 && !like {
				j += size
				continue
			}
			if g.kind&isAccent != 0 && !plain {
				j += size
				continue
			}
			d.copy(s, done, j)
			d.standFor(j)
			d.text = g.appendPlain(d.text, r)
			j += size
			done = j
		}
		i, last = end, end
	}
	if done == p.start {
		return false
	}
	d.copy(s, done, p.end)
	return true
}

// appendPlain appends what the character becomes.
func (g *glyph) appendPlain(out []byte, r rune) []byte {
	switch {
	case 0xe0020 <= r && r <= 0xe007e:
		return append(out, byte(r-0xe0000))
	case r == 0x202f:
		return append(out, ' ')
	case g.kind&(isUnseen|isAccent) != 0:
		return out
	case g.kind&isPlain != 0:
		return append(out, g.plain...)
	}
	return append(out, g.like)
}

// beginOfWord returns where the word begins that a character belongs to, not before from.
func beginOfWord(s string, from, i int) int {
	for i > from {
		r, size := utf8.DecodeLastRuneInString(s[from:i])
		if r < utf8.RuneSelf && !inWord[byte(r)] || r >= utf8.RuneSelf && glyphOf(r).kind&isWord == 0 {
			break
		}
		i -= size
	}
	return i
}

// wordAt returns where the word at byte i ends, whether it has letters of ASCII or of its
// variants, and whether all others look like some.
func wordAt(s string, i int) (end int, plain, foldable bool) {
	foldable = true
	for end = i; end < len(s); {
		if b := s[end]; b < utf8.RuneSelf {
			if !text.Is(b, text.Letter|text.Digit) {
				break
			}
			plain = plain || text.Is(b, text.Letter)
			end++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[end:])
		g := glyphOf(r)
		if g.kind&isWord == 0 {
			if end == i {
				end += size
			}
			break
		}
		end += size
		switch {
		case g.kind&isLetter == 0:
		case g.kind&isPlain != 0:
			plain = true
		case g.like == 0:
			foldable = false
		}
	}
	return end, plain, foldable
}

// mostlyLatin reports whether more than half of the letters are Latin.
func mostlyLatin(s string) bool {
	n, all := 0, 0
	for i := 0; i < len(s); {
		if b := s[i]; b < utf8.RuneSelf {
			if i++; text.Is(b, text.Letter) {
				all++
				n++
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		if g := glyphOf(r); g.kind&isLetter != 0 {
			if all++; g.kind&isLatin != 0 {
				n++
			}
		}
	}
	return 2*n > all
}
