package inject

import (
	"unicode/utf8"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// span is a part of a text.
type span struct{ start, end int }

// context is how much of a text around a disguise is looked at with it, in bytes: more than a threat
// and what confirms it take up, so that one is found of which a part is disguised.
const context = 512

// spans are parts of a text, in their order, which do not meet.
type spans []span

// add adds a part, with what is around it. One that meets the last becomes a part of it.
func (l *spans) add(start, end, around int) {
	start -= around
	end += around
	if n := len(*l); n > 0 && start <= (*l)[n-1].end {
		last := &(*l)[n-1]
		last.start, last.end = min(last.start, start), max(last.end, end)
		return
	}
	*l = append(*l, span{start, end})
}

// covers reports whether a part lies within one of the spans.
func (l spans) covers(p span) bool {
	for _, s := range l {
		if s.start <= p.start && p.end <= s.end {
			return true
		}
		if s.start > p.start {
			break
		}
	}
	return false
}

// in returns the part of a text, made longer so that no word is cut.
func (p span) in(s string) span {
	const far = 64
	ofWord := func(b byte) bool { return b >= utf8.RuneSelf || text.Is(b, text.Letter|text.Digit) }
	p.start, p.end = max(0, p.start), min(len(s), p.end)
	for n := 0; n < far && 0 < p.start && ofWord(s[p.start-1]); n++ {
		p.start--
	}
	for n := 0; n < far && p.end < len(s) && ofWord(s[p.end]); n++ {
		p.end++
	}
	return p
}
