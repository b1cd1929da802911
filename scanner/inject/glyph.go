package inject

import (
	"sync/atomic"
	"unicode"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// glyph is what the scanner asks of a character beyond ASCII.
type glyph struct {
	kind  uint8
	like  byte   // the letter or digit of ASCII that it looks like, 0: none
	plain string // what it is written as in ASCII, see [text.Plain]
}

// Kinds of glyphs.
const (
	isLetter uint8 = 1 << iota
	isMark
	isDigit
	isNumber
	isUnseen
	isPlain  // it has a plain form
	isAccent // it is joined to the letter before
	isLatin
)

// pages are the glyphs of the first planes, made when one of a page is first asked for.
var pages [0x20000 >> 8]atomic.Pointer[[256]glyph]

// glyphOf returns the glyph of a character.
func glyphOf(r rune) *glyph {
	if r >= 0x20000 || r < 0 {
		g := newGlyph(r)
		return &g
	}
	page := pages[r>>8].Load()
	if page == nil {
		page = new([256]glyph)
		for i := range page {
			page[i] = newGlyph(r&^0xff + rune(i))
		}
		pages[r>>8].Store(page)
	}
	return &page[r&0xff]
}

// isWord are the kinds of characters that words consist of.
const isWord = isUnseen | isLetter | isMark | isNumber

// isDull reports whether a text begins with a character of three bytes that is none of those that
// cannot be seen or may be written in ASCII, and neither are the others that begin with the same two
// bytes: most characters of the scripts of East Asia.
func isDull(s string) bool {
	if len(s) < 3 || s[0] < 0xe1 || s[0] > 0xee || s[1]&0xc0 != 0x80 || s[2]&0xc0 != 0x80 {
		return false
	}
	p := &dullness[s[0]&0xf][s[1]&0x3f]
	d := p.Load()
	if d == 0 {
		d = 1
		first := rune(s[0]&0xf)<<12 | rune(s[1]&0x3f)<<6
		for r := first; r < first+64; r++ {
			if g := glyphOf(r); g.kind&(isUnseen|isPlain|isAccent) != 0 || g.like != 0 {
				d = 2
			}
		}
		p.Store(d)
	}
	return d == 1
}

// dullness is by the first two bytes what isDull reports: 1 that they are, 2 that they are not, 0 that
// it has not been found out.
var dullness [16][64]atomic.Uint32

func newGlyph(r rune) (g glyph) {
	set := func(kind uint8, is bool) {
		if is {
			g.kind |= kind
		}
	}
	set(isLetter, unicode.IsLetter(r))
	set(isMark, unicode.IsMark(r))
	set(isDigit, unicode.IsDigit(r))
	set(isNumber, unicode.IsNumber(r))
	set(isUnseen, text.Unseen(r))
	set(isAccent, 0x300 <= r && r <= 0x36f)
	set(isLatin, unicode.Is(unicode.Latin, r))
	if plain, ok := text.Plain(r); ok {
		g.plain = plain
		g.kind |= isPlain
	}
	g.like, _ = text.Alike(r)
	return g
}
