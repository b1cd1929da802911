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
const kOther = kMarkup | kEscape

// limits of what is ordinary.
const (
	minCode   = 20 // bytes of a run that may be base64 or hex
	minSingle = 6  // letters that stand alone, one after the other
	minChunks = 6  // words of one length, one after the other
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

	singles, chunks int  // in a row
	length          int  // of the word before
	first           int  // where the row of one length begins
	leets           int  // how many
	lastLeet        span // the first of them
}

func (m *marks) reset() {
	*m = marks{wide: m.wide[:0], escapes: m.escapes[:0], runs: m.runs[:0], leet: m.leet[:0], apart: m.apart[:0], octets: m.octets[:0]}
}

// inspect looks at each byte of a text once.
func (m *marks) inspect(s string) {
	var all, word uint8
	start, run := 0, 0
	for i := 0; i < len(s); i++ {
		k := kinds[s[i]]
		if k < kSpace {
			word |= k
			continue
		}
		if i-run >= minCode {
			m.runs = append(m.runs, span{run, i})
		}
		run = i + 1
		switch k {
		case kSpace:
			if all |= word; i > start {
				m.word(s, start, i, word)
			}
			word, start = 0, i+1
		case kWide:
			word |= k
			m.wide.add(i, i+1, wideAround)
		case kEscape:
			if isEscape(s[i:]) {
				m.escapes.add(i, i+1, context)
			}
		case kOther:
		default:
			word |= k
		}
	}
	if all |= word; len(s) > start {
		m.word(s, start, len(s), word)
	}
	if len(s)-run >= minCode {
		m.runs = append(m.runs, span{run, len(s)})
	}
	if all&kMarkup != 0 {
		m.traits |= marked
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
	set(leetish, m.leet)
	set(spacedOut, m.apart)
	if all&kCode != 0 && hasPunycode(s) {
		m.traits |= punycode
	}
}

// word takes a word and what kinds of bytes it has.
func (m *marks) word(s string, start, end int, kind uint8) {
	n := end - start
	if n != m.length || n < 2 || n > 8 {
		m.chunks, m.length, m.first = 0, n, start
	} else if m.chunks++; m.chunks >= minChunks {
		m.apart.add(m.first, end, context)
		if _, ok := octet(s[start:end]); ok {
			m.octets.add(m.first, end, 2*n)
		}
	}
	if n == 1 || kind&kWide != 0 && n < 5 && utf8.RuneCountInString(s[start:end]) == 1 {
		if m.singles++; m.singles >= minSingle {
			m.apart.add(start-2*minSingle, end, context)
		}
		return
	}
	m.singles = 0
	if n >= 7 && isApart(s[start:end], kind) {
		m.apart.add(start, end, context)
	}
	if kind&(kDigit|kSymbol) != 0 && kind&kLetter != 0 && n > 2 {
		switch m.leets++; m.leets {
		case 1:
			m.lastLeet = span{start, end}
		case 2:
			m.leet.add(m.lastLeet.start, m.lastLeet.end, context)
			fallthrough
		default:
			m.leet.add(start, end, context)
		}
	}
}

// isApart reports whether the letters of a word seem to stand apart.
func isApart(w string, kind uint8) bool {
	if w[1] == w[3] && w[1] == w[5] && !text.Is(w[1], text.Letter|text.Digit) && (text.Is(w[0], text.Letter) || text.Is(w[2], text.Letter) || text.Is(w[4], text.Letter)) {
		return true
	}
	return kind&kWide != 0 && len(w) > 8 && lettersApart(w) > 0
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
