package inject

import (
	"unicode"
	"unicode/utf8"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// hit is a word of the lexicon in a text.
type hit struct {
	*pattern
	start, end int

	// Once the word is measured:
	from, to      int32 // where it stands, see [ruler]
	before, after int32 // what a confirmation sees, plus one; 0: not asked for yet
}

// hits appends the words that the automaton finds in text.
func (l *dictionary) hits(list []hit, text string) []hit {
	list, _ = l.read(list, text, l.start, 0, len(text))
	return list
}

// read appends the words that end between two places of the text, going on from the state at the
// first, and returns the state at the second.
func (l *dictionary) read(list []hit, text string, state uint32, from, to int) ([]hit, uint32) {
	for pos := from; pos < to; {
		next, n, ends := l.find(state, text[pos:to])
		state, pos = next, pos+n
		for _, i := range ends {
			p := &l.patterns[i]
			if !p.stem && !p.free && pos < len(text) && goesOn(text[pos-1], text[pos:]) {
				continue
			}
			start := p.begins(text, pos)
			if !l.bounded && !p.free && insideWord(text[:start], text[start:]) {
				continue
			}
			list = append(list, hit{pattern: p, start: start, end: pos})
		}
	}
	return list, state
}

// goesOn reports whether a word whose last byte is last goes on with the rest.
func goesOn(last byte, rest string) bool {
	if rest[0] < utf8.RuneSelf {
		return text.Is(rest[0], text.Letter|text.Digit) && (last >= utf8.RuneSelf || text.Is(last, text.Letter|text.Digit))
	}
	if !text.Is(last, text.Letter) && last < utf8.RuneSelf {
		return false
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return unicode.IsLetter(r) && !joining(rest)
}

// insideWord reports whether a word goes on from before to rest.
func insideWord(before, rest string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(rest)
	return len(before) > 0 && unicode.IsLetter(r) && unicode.IsLetter(first) && !joining(string(r))
}
