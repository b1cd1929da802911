package inject

import (
	"unicode"
	"unicode/utf8"

	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/internal/text"
)

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
	if out, ok := text.Plain(r); ok {
		return []byte(out), true
	}
	if b, ok := text.Alike(r); fold && ok {
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
		if _, ok := text.Plain(r); ok {
			plain = true
		} else if _, ok := text.Alike(r); !ok {
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
