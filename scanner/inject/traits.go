package inject

import (
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

// kinds of bytes for inspect. The first three are of codes; what is not ends a run of them.
const (
	kLetter uint8 = 1 << iota
	kDigit
	kCode  // of base64, beside letters and digits
	kSpace // the first of those that end a run
	kSymbol
	kWide
	kEscape
	kMarkup
)

var kinds = func() (t [256]uint8) {
	for b := range 256 {
		c := byte(b)
		switch {
		case b >= 0x80:
			t[b] = kWide
		case text.Is(c, text.Space):
			t[b] = kSpace
		case text.Is(c, text.Letter):
			t[b] = kLetter
		case text.Is(c, text.Digit):
			t[b] = kDigit
		default:
			t[b] = kOther
		}
	}
	for b, kind := range map[byte]uint8{
		'+': kCode, '/': kCode, '=': kCode, '-': kCode, '_': kCode, '@': kSymbol, '$': kSymbol, '!': kSymbol, '|': kSymbol,
		'%': kEscape, '&': kEscape, '\\': kEscape, '<': kMarkup, '[': kMarkup,
	} {
		t[b] = kind
	}
	return t
}()

// kOther ends a run and means nothing else.
const kOther = kSpace | kEscape

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

// inspect looks at each byte of a text once. It is the second most of the work of a scan, behind the
// search for words; so what is rare is found in functions of its own, and what depends on a word's
// length is counted without a branch.
func (m *marks) inspect(s string) {
	var all, word uint8
	start, run := 0, 0
	length, chunks, singles := 0, 0, 0 // of the word before; words of one length, and letters, in a row
	for i := 0; ; i++ {
		k := kSpace
		for i < len(s) {
			if k = kinds[s[i]]; k >= kSpace {
				break
			}
			word |= k
			i++
		}
		if i-run >= minCode {
			m.runs = append(m.runs, span{run, i})
		}
		run = i + 1
		if k != kSpace && i < len(s) {
			if word |= k; k == kWide {
				m.wide.add(i, i+1, wideAround)
			} else if k == kEscape && isEscape(s[i:]) {
				m.escapes.add(i, i+1, context)
			}
			continue
		}
		if n := i - start; n > 0 {
			if all |= word; word&(kWide|kDigit|kSymbol) != 0 {
				m.oddWord(s, start, i, word)
			}
			same, one := 0, 0
			if n == length {
				same = 1
			}
			if n == 1 || word&kWide != 0 && isOne(s[start:i]) {
				one = 1
			}
			length, chunks, singles = n, (chunks+1)*same, (singles+1)*one
			if chunks >= minChunks {
				m.row(s, start, i)
			}
			if singles >= minSingle {
				m.apart.add(start-2*minSingle, i, context)
			}
			if n >= minApart && kinds[s[start+1]]&(kLetter|kDigit) == 0 && isApart(s[start:i]) {
				m.apart.add(start, i, context)
			}
		}
		word, start = 0, i+1
		if i >= len(s) {
			break
		}
	}
	m.judge(all, s)
}

// judge says which traits the text has.
func (m *marks) judge(all uint8, s string) {
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
	if all&kMarkup != 0 {
		m.traits |= marked
	}
	if all&kCode != 0 && hasPunycode(s) {
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
