package inject

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// How far a confirmation sees, in bytes, where a run of white space counts as one.
const (
	seesBefore = 100
	seesAfter  = 200
)

// surroundings is the part of a text around the words that were looked at last, prepared for
// looking for literals in it.
type surroundings struct {
	text       string
	start, end int    // of the part; none is prepared when end is 0
	lower      []byte // the part in lower case
	tight      bool   // no white space follows other white space in it
	trigrams   [64]uint64
}

// of makes s the surroundings of nothing yet in a text.
func (s *surroundings) of(text string) { s.text, s.end = text, 0 }

// window returns how far a confirmation sees around the bytes from start to end, and prepares
// that part.
func (s *surroundings) window(start, end int) (from, to int) {
	from, to = max(0, start-seesBefore), min(len(s.text), end+seesAfter)
	if s.prepare(from, to); s.tight {
		return from, to
	}
	blank := func(i int) bool { return text.Is(s.text[i], text.Space) }
	for n := 0; start > 0 && n < seesBefore; start-- {
		if !blank(start-1) || !blank(start) {
			n++
		}
	}
	for n := 0; end < len(s.text) && n < seesAfter; end++ {
		if !blank(end) || !blank(end-1) {
			n++
		}
	}
	s.prepare(start, end)
	return start, end
}

// open reports whether more text could be seen from its end on.
func (s *surroundings) open(end int) bool {
	_, to := s.window(end, end)
	return to == len(s.text)
}

// ahead is how much of a text is prepared at once, for the words that follow.
const ahead = 1024

// prepare prepares the part from start to end, and some more.
func (s *surroundings) prepare(start, end int) {
	if s.end > 0 && s.start <= start && end <= s.end {
		return
	}
	s.start, s.end = start, min(len(s.text), end+ahead)
	s.lower = appendLower(s.lower[:0], s.text[s.start:s.end])
	s.trigrams, s.tight = [64]uint64{}, true
	gram, blank := uint32(0), false
	for _, b := range s.lower {
		was := blank
		blank = text.Is(b, text.Space)
		s.tight = s.tight && (!was || !blank)
		gram = gram<<8 | uint32(b)
		h := trigram(gram)
		s.trigrams[h>>6] |= 1 << (h & 63)
	}
}

// appendLower appends the text in lower case, each byte in its place.
func appendLower(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		if b := s[i]; b < utf8.RuneSelf {
			dst = append(dst, text.Lower(b))
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r = unicode.ToLower(r); utf8.RuneLen(r) == size {
			dst = utf8.AppendRune(dst, r)
		} else {
			dst = append(dst, s[i:i+size]...)
		}
		i += size
	}
	return dst
}

// has reports whether a literal stands between from and to, which are prepared.
func (s *surroundings) has(l *literal, from, to int) bool {
	for _, h := range l.trigrams {
		if s.trigrams[h>>6]>>(h&63)&1 == 0 {
			return false
		}
	}
	return bytes.Contains(s.part(from, to), l.text)
}

// part returns what stands between from and to, which are prepared, in lower case.
func (s *surroundings) part(from, to int) []byte { return s.lower[from-s.start : to-s.start] }

// literal is a text in lower case that is looked for, with some of its trigrams.
type literal struct {
	text     []byte
	trigrams []uint32
}

func newLiteral(text string) *literal {
	l := &literal{text: []byte(text)}
	for i := 0; i+3 <= len(text); i++ {
		l.trigrams = append(l.trigrams, trigram(uint32(text[i])<<16|uint32(text[i+1])<<8|uint32(text[i+2])))
	}
	return l
}

// trigram returns the place of the last three bytes of g in a filter of 4096 bits.
func trigram(g uint32) uint32 { return (g & 0xffffff) * 0x9e3779b1 >> (32 - 12) }
