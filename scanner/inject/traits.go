package inject

import (
	"math/bits"
	"strings"
	"unicode/utf8"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// traits are what the bytes of a text say of the disguises that it may wear.
type traits uint16

const (
	wideBytes traits = 1 << iota // bytes beyond ASCII
	punycode                     // xn--
	escaped                      // percent, HTML and backslash escapes
	coded                        // long runs of letters and digits, as of base64 and hex
	ciphered                     // words in rot13
	mirrored                     // words written backwards
	leetish                      // digits within words
	spacedOut                    // letters that stand apart, words that do not
	marked                       // HTML or Markdown
)

// limits of what is ordinary.
const (
	minCode   = 20 // bytes of a run that may be base64 or hex
	minSingle = 6  // letters that stand alone, one after the other
	minChunks = 6  // words of one length, one after the other
	minApart  = 7  // bytes of a word whose letters stand apart
)

// wideAround is how much of a text is looked at around bytes beyond ASCII for words that have some.
const wideAround = 96

// marks are where a text may wear a disguise.
type marks struct {
	traits  traits
	wide    spans // bytes beyond ASCII
	escapes spans
	runs    spans // of what may be base64, hex or words without spaces
	leet    spans
	apart   spans // letters that stand apart
	octets  spans // words of one length that may be bytes
	rows    spans // words of one length that may be pieces of others
	mixed   int   // words that have letters and digits
}

func (m *marks) reset() {
	*m = marks{wide: m.wide[:0], escapes: m.escapes[:0], runs: m.runs[:0], leet: m.leet[:0], apart: m.apart[:0], octets: m.octets[:0], rows: m.rows[:0]}
}

// inspect finds the marks in a text, whose planes are given.
func (m *marks) inspect(s string, p *planes) {
	all := m.bytes(s, p)
	m.words(s, p)
	m.judge(all, s)
}

// bytes finds the marks that single bytes make, and long runs of code. It returns the kinds of bytes
// that there are.
func (m *marks) bytes(s string, p *planes) (all block) {
	var one, two, four, eight uint64 // of the block before: the last so many bytes are of code
	for n := range len(p.blocks) - 1 {
		b, at := &p.blocks[n], n*blockSize
		for rest := b[wides]; rest != 0; {
			i := bits.TrailingZeros64(rest)
			length := bits.TrailingZeros64(^(rest >> i))
			m.wide.add(at+i, at+i+length, wideAround)
			rest &^= (1<<length - 1) << i
		}
		for rest := b[escapes]; rest != 0; rest &= rest - 1 {
			if i := at + bits.TrailingZeros64(rest); isEscape(s[i:]) {
				m.escapes.add(i, i+1, context)
			}
		}
		was := [...]uint64{one, two, four, eight}
		one = b[letters] | b[digits] | b[codes]
		two = one & (one<<1 | was[0]>>63)
		four = two & (two<<2 | was[1]>>62)
		eight = four & (four<<4 | was[2]>>60)
		sixteen := eight & (eight<<8 | was[3]>>56)
		for rest := sixteen & (four<<16 | was[2]>>48); rest != 0; { // the last 20 are
			i := bits.TrailingZeros64(rest)
			m.run(at+i-minCode+1, at+i+1)
			length := bits.TrailingZeros64(^(rest >> i))
			m.runs[len(m.runs)-1].end += length - 1
			rest &^= (1<<length - 1) << i
		}
		for k, mask := range b {
			all[k] |= mask
		}
	}
	return all
}

// run notes a run of code, or that the last one goes on.
func (m *marks) run(start, end int) {
	if n := len(m.runs); n > 0 && m.runs[n-1].end >= start {
		m.runs[n-1].end = end
		return
	}
	m.runs = append(m.runs, span{start, end})
}

// judge says which traits the text has.
func (m *marks) judge(all block, s string) {
	set := func(trait traits, list spans) {
		if len(list) > 0 {
			m.traits |= trait
		}
	}
	set(wideBytes, m.wide)
	set(escaped, m.escapes)
	set(coded, m.runs)
	set(coded, m.octets)
	set(spacedOut, m.apart)
	set(spacedOut, m.rows)
	if m.mixed > 1 {
		set(leetish, m.leet)
	}
	if all[signs] != 0 && (strings.IndexByte(s, '<') >= 0 || strings.IndexByte(s, '[') >= 0) {
		m.traits |= marked
	}
	if all[codes] != 0 && hasPunycode(s) {
		m.traits |= punycode
	}
}

// oddWord takes a word that has more than letters.
func (m *marks) oddWord(s string, start, end int, kind uint8) {
	if kind&(kDigit|kSymbol) != 0 && kind&kLetter != 0 && end-start > 2 {
		if m.mixed++; isLeet(s[start:end]) {
			m.leet.add(start, end, context)
		}
	}
	if kind&kWide != 0 && end-start > 8 && lettersApart(s[start:end]) > 0 {
		m.apart.add(start, end, context)
	}
}

// row takes the last of many words of one length.
func (m *marks) row(s string, start, end int) {
	n := end - start
	if n < 2 || n > 8 {
		return
	}
	first := start - minChunks*(n+1)
	m.rows.add(first, end, 0)
	if _, ok := octet(s[start:end]); ok {
		m.octets.add(first-4*n, end, 2*n)
	}
}

// isOne reports whether a word is one character.
func isOne(w string) bool {
	_, size := utf8.DecodeRuneInString(w)
	return size == len(w)
}

// isApart reports whether the letters of a word seem to stand apart: not those of escapes, \n\t\t.
func isApart(w string) bool {
	return w[1] == w[3] && w[1] == w[5] && w[1] != '\\' && (text.Is(w[0], text.Letter) || text.Is(w[2], text.Letter) || text.Is(w[4], text.Letter))
}

// hasPunycode reports whether a label in punycode may stand in the text.
func hasPunycode(s string) bool {
	_, ok := nextPunycode(s, 0)
	return ok
}

// nextPunycode returns where the next label in punycode begins.
func nextPunycode(s string, from int) (int, bool) {
	for {
		i := strings.Index(s[from:], "--")
		if i < 0 {
			return 0, false
		}
		if i += from; i >= 2 && text.HasPrefixFold(s[i-2:i], "xn") {
			return i - 2, true
		}
		for from = i; from < len(s) && s[from] == '-'; from++ {
		}
	}
}
