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
