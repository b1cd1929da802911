package scanner

import "unicode/utf8"

// folded is a text in lower case, without invisible characters and with each run of white
// space as one space, so that neither hides a phrase.
type folded struct {
	text []byte
	from []int32 // place in the original text of each byte
}

// newFolded folds a text.
func newFolded(text string) folded {
	f := folded{text: make([]byte, 0, len(text)), from: make([]int32, 0, len(text))}
	after := false
	for i := 0; i < len(text); {
		b, size := text[i], 1
		switch {
		case is(b, space):
			if !after {
				f.text, f.from = append(f.text, ' '), append(f.from, int32(i))
			}
			after = true
			i++
			continue
		case b < utf8.RuneSelf:
			f.text, f.from = append(f.text, lower(b)), append(f.from, int32(i))
		default:
			var r rune
			if r, size = utf8.DecodeRuneInString(text[i:]); invisible(r) {
				i += size
				continue
			}
			for j := range size {
				f.text, f.from = append(f.text, text[i+j]), append(f.from, int32(i))
			}
		}
		after = false
		i += size
	}
	return f
}

// original returns the place in the original text of the bytes from start to end.
func (f *folded) original(start, end, length int) (int, int) {
	if end == len(f.text) {
		return int(f.from[start]), length
	}
	return int(f.from[start]), int(f.from[end])
}
