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

// isDull reports whether a character can be seen and is not written in ASCII in any way.
func (g *glyph) isDull() bool {
	return g.kind&(isUnseen|isPlain|isAccent) == 0 && g.like == 0
}

// dull returns how long the characters are that a text begins with and that are dull, as far as two bytes
// of each tell: most characters of the scripts of East Asia.
func dull(s string) (n int) {
	for n+3 <= len(s) && s[n]&0xf0 == 0xe0 && s[n+1]&0xc0 == 0x80 && s[n+2]&0xc0 == 0x80 {
		p := &dullness[s[n]&0xf][s[n+1]&0x3f]
		if p.Load() == 0 {
			p.Store(newDullness(rune(s[n]&0xf)<<12 | rune(s[n+1]&0x3f)<<6))
		}
		if p.Load() != allDull {
			break
		}
		n += 3
	}
	return n
}

// What is known of the characters that begin with the same two bytes, if it is not 0.
const (
	allDull = iota + 1
	notAllDull
)

func newDullness(first rune) uint32 {
	for r := first; r < first+64; r++ {
		if r < 0x800 || 0xd800 <= r && r < 0xe000 || !glyphOf(r).isDull() { // not written so, or not dull
			return notAllDull
		}
	}
	return allDull
}

// dullness is by the four bits of the first byte that tell, and the six of the second.
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
