package model

import (
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// The classes of what stands between two words. White space, commas and hyphens have none: they are
// no token.
const (
	gapSentence byte = 1 << iota // the end of a sentence or paragraph
	gapColon
	gapQuote
	gapBracket
	gapMark // markup and operators
)

// The other kinds of characters.
const (
	isBlank  byte = 0
	isOther  byte = 0xfa // it takes a closer look
	isLine   byte = 0xfb // the end of a line
	isJoint  byte = 0xfc // an apostrophe, which does not end a word
	isDigit  byte = 0xfd
	isLetter byte = 0xfe
	isSign   byte = 0xff // a word by itself, in scripts without spaces
)

// kinds says of what kind each character of ASCII is.
var kinds = func() (t [utf8.RuneSelf]byte) {
	for b := range byte(utf8.RuneSelf) {
		switch {
		case text.Is(b, text.Letter):
			t[b] = isLetter
		case text.Is(b, text.Digit):
			t[b] = isDigit
		}
	}
	for _, of := range []struct {
		kind  byte
		bytes string
	}{
		{isLine, "\n"},
		{isJoint, "'"},
		{gapSentence, ".!?;"},
		{gapColon, ":"},
		{gapQuote, "\"`"},
		{gapBracket, "()[]{}"},
		{gapMark, "<>|=/\\@#$%^&*~+"},
	} {
		for _, b := range []byte(of.bytes) {
			t[b] = of.kind
		}
	}
	return t
}()

// kindOf says of what kind a character beyond ASCII is that cannot be written in ASCII.
func kindOf(r rune) byte {
	switch {
	case 0xac00 <= r && r < 0xd7b0:
		return isLetter
	case 0x3041 <= r && r < 0xa000, 0xf900 <= r && r < 0xfb00, 0x20000 <= r && r < 0x32000:
		if unicode.IsLetter(r) {
			return isSign
		}
		return isBlank
	case r == '。' || r == '…' || r == '؟' || r == '।':
		return gapSentence
	case r == '«' || r == '»' || '‘' <= r && r <= '„' || '「' <= r && r <= '』':
		return gapQuote
	case unicode.IsLetter(r) || unicode.Is(unicode.M, r):
		return isLetter
	}
	return isBlank
}

// inTable is the first character that is not in the table of simple ones.
const inTable = 0x10000

// table says of what kind characters are and what their lower case is.
type table struct {
	kinds [inTable]byte
	lower [inTable]uint16
}

// simple is the table of the characters that can be seen and cannot be written in ASCII. The others are
// isOther.
var simple = sync.OnceValue(func() *table {
	t := new(table)
	for c := range rune(inTable) {
		_, isPlain := plain(c)
		lower := unicode.ToLower(c)
		if c < utf8.RuneSelf || isPlain || text.Unseen(c) || 0x300 <= c && c <= 0x36f || lower >= inTable {
			t.kinds[c] = isOther
			continue
		}
		t.kinds[c], t.lower[c] = kindOf(c), uint16(lower)
	}
	return t
})

// plain is text.Plain without an allocation.
func plain(r rune) (string, bool) {
	switch {
	case r < 0x250:
		return text.Plain(r)
	case r < 0x1d00, 0x3041 <= r && r < 0xf900, r >= 0x1f200:
		return "", false
	}
	s, ok := rarelyPlain()[r]
	return s, ok
}

// rarelyPlain are the characters that are seldom used and can be written in ASCII.
var rarelyPlain = sync.OnceValue(func() map[rune]string {
	t := make(map[rune]string)
	for _, of := range [][2]rune{{0x1d00, 0x3041}, {0xf900, 0xfff0}, {0x1d400, 0x1d800}, {0x1f100, 0x1f200}} {
		for r := of[0]; r < of[1]; r++ {
			if s, ok := text.Plain(r); ok {
				t[r] = s
			}
		}
	}
	return t
})
