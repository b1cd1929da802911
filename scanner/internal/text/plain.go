package text

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Plain returns what a character beyond ASCII is written as in ASCII: decomposed, without
// accents, and blank for the white spaces. It allocates for what is rare.
func Plain(r rune) (string, bool) {
	if r < lastLatin {
		p := plainLatin()[r]
		return p, p != ""
	}
	return decomposed(r)
}

// lastLatin is the character after the last with an accent that is common.
const lastLatin = 0x250

// plainLatin is what decomposed says of Latin characters, which most texts beyond ASCII consist of.
var plainLatin = sync.OnceValue(func() *[lastLatin]string {
	t := new([lastLatin]string)
	for r := rune(utf8.RuneSelf); r < lastLatin; r++ {
		t[r], _ = decomposed(r)
	}
	return t
})

// decomposed returns the same as Plain.
func decomposed(r rune) (string, bool) {
	switch {
	case 0x370 <= r && r < 0x1d00, 0x3041 <= r && r < 0xa000, 0xac00 <= r && r < 0xd7b0:
		return "", false // other alphabets, in which nothing is Latin
	case unicode.IsSpace(r) || r == 0x202f || r == 0x2800 || r == 0x3000:
		return " ", true
	case r == '‘' || r == '’':
		return "'", true
	case r == 'ß' || r == 'ø' || r == 'đ' || r == 'ł' || r == 'ı':
		return map[rune]string{'ß': "ss", 'ø': "o", 'đ': "d", 'ł': "l", 'ı': "i"}[r], true
	}
	var buf [utf8.UTFMax]byte
	form := norm.NFKD.Properties(buf[:utf8.EncodeRune(buf[:], r)]).Decomposition()
	if len(form) == 0 {
		return enclosed(r)
	}
	var b strings.Builder
	for _, c := range string(norm.NFKD.Bytes(buf[:utf8.EncodeRune(buf[:], r)])) {
		switch {
		case c < utf8.RuneSelf:
			b.WriteRune(c)
		case !unicode.Is(unicode.Mn, c):
			return "", false
		}
	}
	return b.String(), b.Len() > 0
}

// enclosed returns the letter in a square, a black circle or a flag's half.
func enclosed(r rune) (string, bool) {
	for _, first := range [...]rune{0x1f130, 0x1f150, 0x1f170, 0x1f1e6} {
		if r >= first && r < first+26 {
			return string('a' + r - first), true
		}
	}
	return "", false
}

// Alike returns the lower-case letter or the digit of ASCII that a character of another alphabet
// looks like.
func Alike(r rune) (byte, bool) {
	b, ok := alike()[r]
	return b, ok
}

// alike is the table of lookalikes the other way round.
var alike = sync.OnceValue(func() map[rune]byte {
	t := make(map[rune]byte)
	for b, list := range lookalikes {
		for _, r := range list {
			if _, ok := t[r]; !ok || b > '9' {
				t[r] = Lower(b)
			}
		}
	}
	return t
})
