package inject

import (
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// matches reports whether a text has a match. It is read in lower case, or however it is folded,
// and each run of white space as one.
func (e *expression) matches(s string) bool {
	verdict, _ := e.run(s, e.begin(0))
	if verdict == tooManyStates {
		return e.slow().MatchString(e.folded(s))
	}
	return verdict == aMatch
}

// pause is where a search for a match may go on, once there is more text.
type pause struct {
	pos   int
	state uint32
}

// begin returns where a search begins that begins at a place of a text.
func (e *expression) begin(pos int) pause { return pause{pos, noStates * e.stride} }

// verdict is what a search comes to.
type verdict int

const (
	noMatch verdict = iota
	aMatch
	tooManyStates // to tell
)

// run looks for a match up to the end of a text, and returns where to go on when there is none.
func (e *expression) run(s string, from pause) (verdict, pause) {
	table, state := *e.table.Load(), from.state
	var at, special pause // at the end, and before the last of what may go on behind an end
	behind := -1          // that
	for i := from.pos; i <= len(s); {
		class := e.end
		if i < len(s) {
			class = e.ascii[s[i]]
		} else if at = (pause{i, state}); behind == i {
			at = special
		}
		if i++; class >= notByItself {
			var ok bool
			special = pause{i - 1, state}
			class, i, ok = e.read(s, i-1)
			if behind = i; !ok {
				continue
			}
		}
		next := atomic.LoadUint32(&table[state+uint32(class)])
		if next <= matched {
			if next == toMake {
				next = e.makeStep(state, class)
				table = *e.table.Load()
			}
			switch next {
			case matched:
				return aMatch, pause{}
			case toMake:
				return tooManyStates, pause{}
			}
		}
		state = next
	}
	return noMatch, at
}

// read reads what stands at i and is more than a byte, or may count as nothing. It returns the class
// and where to go on.
func (e *expression) read(s string, i int) (class uint8, next int, ok bool) {
	b := s[i]
	if b >= utf8.RuneSelf {
		r, size := lowerRune(s[i:])
		return e.classOf(r), i + size, true
	}
	if text.Is(b, text.Space) {
		b, size := blankAt(s[i:])
		return e.blanks[b], i + size, b != ' ' || !e.joined
	}
	return 0, i + 1, false // a byte that is folded to a space
}

// folded returns what matches reads.
func (e *expression) folded(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		switch {
		case s[i] >= utf8.RuneSelf:
			r, size := lowerRune(s[i:])
			out = utf8.AppendRune(out, r)
			i += size
		case text.Is(s[i], text.Space):
			b, size := blankAt(s[i:])
			if i += size; b != ' ' || !e.joined {
				out = append(out, b)
			}
		default:
			if b := e.fold(s[i]); b != ' ' || !e.joined {
				out = append(out, b)
			}
			i++
		}
	}
	return string(out)
}

// lowerRune returns the first character in lower case, if that is as long, and its length.
func lowerRune(s string) (r rune, size int) {
	r, size = utf8.DecodeRuneInString(s)
	if lower := unicode.ToLower(r); utf8.RuneLen(lower) == size {
		r = lower
	}
	return r, size
}

// blankAt returns what white space counts as, and its length.
func blankAt(s string) (b byte, size int) {
	b = s[0]
	for size = 1; size < len(s) && text.Is(s[size], text.Space); size++ {
		if s[size] == '\n' {
			b = '\n'
		}
	}
	return b, size
}
