package inject

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/internal/text"
)

// plainOf returns what a character beyond ASCII is written as in ASCII: decomposed, without
// accents, and blank for the white spaces.
func plainOf(r rune) (string, bool) {
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

// decomposed returns the same as plainOf.
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

// alike is the table of lookalikes the other way round.
var alike = sync.OnceValue(func() map[rune]byte {
	t := make(map[rune]byte)
	for b, list := range lookalikes {
		for _, r := range list {
			if _, ok := t[r]; !ok || b > '9' {
				t[r] = text.Lower(b)
			}
		}
	}
	return t
})

// canonical writes a view with all that is not ASCII and can be read as ASCII in ASCII, and
// without what cannot be seen. Letters of other alphabets count as the Latin ones that they look
// like in words that have Latin letters as well, and in a text of mostly Latin letters in words
// that have no others.
func canonical(v *view) (view, bool) {
	d, changed := newDraft(v, len(v.text)), false
	mostly := mostlyLatin(v.text)
	for i := 0; i < len(v.text); {
		if v.text[i] < utf8.RuneSelf && !text.Is(v.text[i], text.Letter|text.Digit) {
			d.write(i, v.text[i])
			i++
			continue
		}
		end, plain, foldable := wordAt(v.text, i)
		fold := foldable && (plain || mostly)
		for j := i; j < end; {
			if v.text[j] < utf8.RuneSelf {
				d.write(j, v.text[j])
				j++
				continue
			}
			r, size := utf8.DecodeRuneInString(v.text[j:])
			if out, ok := canonicalRune(r, fold, plain); ok {
				d.write(j, out...)
				changed = true
			} else {
				d.write(j, []byte(v.text[j:j+size])...)
			}
			j += size
		}
		i = end
	}
	if !changed {
		return view{}, false
	}
	return d.view(scanner.ViewFolded, len(v.text), 0), true
}

// canonicalRune returns what the character becomes, and whether it changes.
func canonicalRune(r rune, fold, plain bool) ([]byte, bool) {
	switch {
	case 0xe0020 <= r && r <= 0xe007e:
		return []byte{byte(r - 0xe0000)}, true
	case r == 0x202f:
		return []byte{' '}, true
	case text.Unseen(r):
		return nil, true
	case 0x300 <= r && r <= 0x36f:
		return nil, plain
	}
	if out, ok := plainOf(r); ok {
		return []byte(out), true
	}
	if b, ok := alike()[r]; fold && ok {
		return []byte{b}, true
	}
	return nil, false
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
		if !text.Unseen(r) && !unicode.In(r, unicode.L, unicode.M, unicode.N) {
			if end == i {
				end += size
			}
			break
		}
		end += size
		if !unicode.IsLetter(r) {
			continue
		}
		if _, ok := plainOf(r); ok {
			plain = true
		} else if _, ok := alike()[r]; !ok {
			foldable = false
		}
	}
	return end, plain, foldable
}

// mostlyLatin reports whether more than half of the letters are Latin.
func mostlyLatin(text string) bool {
	n, all := 0, 0
	for _, r := range text {
		if unicode.IsLetter(r) {
			if all++; r < utf8.RuneSelf || unicode.Is(unicode.Latin, r) {
				n++
			}
		}
	}
	return 2*n > all
}
