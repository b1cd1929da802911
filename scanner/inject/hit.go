package inject

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// hit is a word of the lexicon in a text.
type hit struct {
	*pattern
	start, end int
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
			list = append(list, hit{p, start, pos})
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

// gap returns how far apart two words are: the bytes between, where a run of white space counts
// as one and a character beyond ASCII as one and a half. It is more than limit when there are
// more, and whole tells that a sentence ends between them.
func gap(s string, limit int) (n int, whole bool) {
	blank, halves := false, 0
	for i := 0; i < len(s) && halves <= 2*limit; i++ {
		b := s[i]
		switch {
		case text.Is(b, text.Space):
			if b == '\n' && i > 0 && strings.HasPrefix(s[i+1:], "\n") {
				whole = true
			}
			if !blank {
				halves += 2
			}
			blank = true
			continue
		case b == '.' || b == '!' || b == '?' || b == ';':
			whole = whole || i+1 == len(s) || text.Is(s[i+1], text.Space) || s[i+1] >= utf8.RuneSelf
		case b == 0xe3 && strings.HasPrefix(s[i:], "。"), b == 0xef && (strings.HasPrefix(s[i:], "！") || strings.HasPrefix(s[i:], "？")),
			b == 0xe0 && strings.HasPrefix(s[i:], "।"), b == 0xd8 && strings.HasPrefix(s[i:], "؟"):
			whole = true
		}
		blank = false
		if halves += 2; b >= utf8.RuneSelf {
			halves--
		}
	}
	return halves / 2, whole
}
