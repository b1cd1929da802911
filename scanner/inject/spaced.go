package inject

import (
	"slices"
	"unicode/utf8"

	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/internal/text"
)

// unspace looks at a part with letters that stand apart put together: "i g n o r e", "i-g-n-o-r-e",
// and words cut into pieces of one length. Two blanks between letters are a gap between words;
// where there are none, the long word that results is looked at once more as words that are not
// set apart.
func (s *scan) unspace(v *view, p span) {
	d, l := s.draft(v, p), s.level(v.depth)
	l.pieces = piecesOf(l.pieces[:0], v.text, p)
	joins(l.pieces)
	for _, piece := range l.pieces {
		if piece.blanks > 0 && !piece.joined {
			d.standFor(piece.start - 1)
			d.text = append(d.text, ' ')
		}
		word := v.text[piece.start:piece.end]
		step := lettersApart(word)
		if step == 0 {
			d.copy(v.text, piece.start, piece.end)
			continue
		}
		for j := 0; j < len(word); {
			size := sizeOf(word[j:])
			d.copy(v.text, piece.start+j, piece.start+j+size)
			if j += size; j < len(word) {
				j += step
			}
		}
	}
	u := d.view(scanner.ViewSpaced, v, p, spacedOut)
	u.leet = true
	s.look(u)
	s.join(u)
}

// tryRow looks whether words of one length are pieces of a word of the lexicon. If so they stand
// apart.
func (s *scan) tryRow(v *view, p span) {
	d := s.draft(v, p)
	for i := p.start; i < p.end; i++ {
		if b := v.text[i]; !text.Is(b, text.Space) {
			d.text = append(d.text, b)
		}
	}
	l := s.level(v.depth + 1)
	l.words = joinedWords().hits(l.words[:0], d.string())
	n := 0 // the length of one
	for i := p.end; i > p.start && !text.Is(v.text[i-1], text.Space); i-- {
		n++
	}
	if slices.ContainsFunc(l.words, func(w hit) bool { return w.end-w.start > n }) {
		s.level(v.depth).pieced.add(p.start, p.end, context)
	}
}

// piece is what stands between white space.
type piece struct {
	start, end int
	length     int // in characters
	blanks     int // before it
	joined     bool
}

// piecesOf appends the pieces of a part of a text.
func piecesOf(list []piece, s string, part span) []piece {
	for i := part.start; i < part.end; {
		p := piece{start: i}
		for p.start < part.end && text.Is(s[p.start], text.Space) {
			p.start++
		}
		p.blanks = p.start - i
		for i = p.start; i < part.end && !text.Is(s[i], text.Space); i++ {
		}
		p.end, p.length = i, utf8.RuneCountInString(s[p.start:i])
		list = append(list, p)
	}
	return list
}

// joins marks the pieces that go on with the word of the piece before: letters that stand alone,
// and pieces of one length of which there are many in a row, with the rest at their end.
func joins(list []piece) {
	for i := 0; i < len(list); {
		j := i + 1
		for j < len(list) && list[j].length == list[i].length {
			j++
		}
		n := list[i].length
		if single := n == 1 && j-i >= 3; single || n <= 8 && j-i >= minChunks {
			if !single && j < len(list) && list[j].length < n {
				j++
			}
			least := list[i+1].blanks
			for k := i + 1; k < j; k++ {
				least = min(least, list[k].blanks)
			}
			for k := i + 1; k < j; k++ {
				list[k].joined = list[k].blanks == least
			}
		}
		i = j
	}
}

// sizeOf returns the size of the first character of s, in bytes.
func sizeOf(s string) int {
	_, size := utf8.DecodeRuneInString(s)
	return size
}

// lettersApart reports whether all letters of a word stand apart, with the same byte between each two,
// and returns how long what is between them is, 0 when they do not.
func lettersApart(word string) int {
	if len(word) < 3 {
		return 0
	}
	at := sizeOf(word)
	if at < 1 || at >= len(word) || text.Is(word[at], text.Letter|text.Digit) || word[at] >= utf8.RuneSelf {
		return 0
	}
	between := word[at]
	for i := at; i < len(word); {
		if word[i] != between {
			return 0
		}
		i++
		if i < len(word) {
			i += sizeOf(word[i:])
		}
	}
	return 1
}
