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

// kinds of bytes for inspect.
const (
	kSpace uint8 = 1 << iota
	kLetter
	kDigit
	kCode   // of base64, beside letters and digits
	kSymbol // stands for a letter in leet
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

// limits of what is ordinary.
const (
	minCode   = 20 // bytes of a run that may be base64 or hex
	minSingle = 6  // letters that stand alone, one after the other
	minChunks = 6  // words of one length, one after the other
)

// inspect looks at each byte once and tells the traits of a text.
func inspect(text string) traits {
	var c counter
	var all, word uint8
	start, run := 0, 0
	for i := range len(text) {
		k := kinds[text[i]]
		if k&(kLetter|kDigit|kCode) != 0 {
			word |= k
			continue
		}
		if i-run >= minCode {
			c.marks |= coded
		}
		run = i + 1
		if k != kSpace {
			word |= k
			continue
		}
		if all |= word; i > start {
			c.word(text[start:i], word)
		}
		word, start = 0, i+1
	}
	if all |= word; len(text) > start {
		c.word(text[start:], word)
	}
	if len(text)-run >= minCode {
		c.marks |= coded
	}
	if all&kWide != 0 {
		c.marks |= wideBytes
	}
	if all&kEscape != 0 {
		c.marks |= escaped
	}
	if all&kMarkup != 0 {
		c.marks |= marked
	}
	if all&kCode != 0 && strings.Contains(text, "--") {
		c.marks |= punycode
	}
	return c.marks
}

// counter counts words that are not as words are.
type counter struct {
	marks           traits
	singles, chunks int // in a row
	leet            int
	length          int // of the word before
}

// word takes a word and what kinds of bytes it has.
func (c *counter) word(w string, kind uint8) {
	n := len(w)
	if n == 1 || kind&kWide != 0 && n < 5 && utf8.RuneCountInString(w) == 1 {
		if c.singles++; c.singles >= minSingle {
			c.marks |= spacedOut
		}
	} else {
		c.singles = 0
	}
	if kind&kWide != 0 && n > 8 && lettersApart(w) > 0 {
		c.marks |= spacedOut
	}
	if n >= 7 && w[1] == w[3] && w[1] == w[5] && !text.Is(w[1], text.Letter|text.Digit) && (text.Is(w[0], text.Letter) || text.Is(w[2], text.Letter) || text.Is(w[4], text.Letter)) {
		c.marks |= spacedOut
	}
	if c.chunks++; n != c.length || n < 2 || n > 8 {
		c.chunks = 0
	}
	if c.length = n; c.chunks >= minChunks {
		c.marks |= coded | spacedOut
	}
	if kind&(kDigit|kSymbol) != 0 && kind&kLetter != 0 && n > 2 {
		if c.leet++; c.leet > 1 {
			c.marks |= leetish
		}
	}
}
