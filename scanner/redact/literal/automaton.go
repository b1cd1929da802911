package literal

import (
	"bytes"
	"slices"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// Automaton looks for all marks at once, in any case: a deterministic automaton over classes of
// bytes, whose [State] goes on from piece to piece. A byte of ordinary text costs two table look-ups.
// Bytes beyond ASCII share eight classes, to keep the table small: where a mark has some, what was found
// is still to be compared.
type Automaton struct {
	class  [256]uint8
	next   []State // state + class -> state; states are multiples of stride
	stride State
	accept State      // states from here on end a mark
	ends   [][]Mark   // by state
	holds  [][]string // by state: the beginnings of tokens that it ends with, the longest first
}

// State is what an [Automaton] knows of the bytes so far. Zero is the beginning of a text.
type State uint32

// Mark is a text to look for.
type Mark struct {
	Text  string // with small letters; Exact ones as they are
	Rule  int    // whose mark it is, as the caller counts
	Exact bool   // case matters: what was found is still to be compared
	Token bool   // it is part of a secret, which follows no letter or digit
}

// trie is the automaton while it is built.
type trie struct {
	child [][]uint16 // by node and class; 0: none
	fail  []uint16
	token [][]string // beginnings of the marks of tokens, as they are written
	ends  [][]Mark
}

// NewAutomaton returns one that looks for the marks. It panics when they have more than 65,536 beginnings.
func NewAutomaton(all []Mark) *Automaton {
	a := &Automaton{stride: 1}
	for _, e := range all {
		for i := range len(e.Text) {
			b := text.Lower(e.Text[i])
			if a.class[b] != 0 {
				continue
			}
			a.class[b] = uint8(a.stride)
			if b >= 0x80 {
				for other := 0x80 | int(b&7); other < 0x100; other += 8 {
					a.class[other] = uint8(a.stride)
				}
			}
			a.stride++
		}
	}
	for b := 'A'; b <= 'Z'; b++ {
		a.class[b] = a.class[text.Lower(byte(b))]
	}
	t := new(trie)
	t.node(int(a.stride))
	for _, e := range all {
		at := uint16(0)
		for i := range len(e.Text) {
			c := a.class[text.Lower(e.Text[i])]
			if t.child[at][c] == 0 {
				t.child[at][c] = t.node(int(a.stride))
			}
			at = t.child[at][c]
			if e.Token && !slices.Contains(t.token[at], e.Text[:i+1]) {
				t.token[at] = append(t.token[at], e.Text[:i+1])
			}
		}
		t.ends[at] = append(t.ends[at], e)
	}
	a.compile(t, t.link())
	return a
}

// Expand returns the texts of a pattern, in which [abc] stands for any one of the bytes.
func Expand(mark string) []string {
	open := bytes.IndexByte([]byte(mark), '[')
	if open < 0 {
		return []string{mark}
	}
	length := bytes.IndexByte([]byte(mark[open:]), ']')
	var all []string
	for _, rest := range Expand(mark[open+length+1:]) {
		for i := range length - 1 {
			all = append(all, mark[:open]+mark[open+1+i:open+2+i]+rest)
		}
	}
	return all
}

// node adds a node and returns its number.
func (t *trie) node(classes int) uint16 {
	t.child = append(t.child, make([]uint16, classes))
	t.fail = append(t.fail, 0)
	t.token = append(t.token, nil)
	t.ends = append(t.ends, nil)
	return uint16(len(t.child) - 1)
}

// link makes every node know where to go on with every class, and returns the nodes, the
// shallow ones first.
func (t *trie) link() []uint16 {
	order := []uint16{0}
	for i := 0; i < len(order); i++ {
		at := order[i]
		for c, to := range t.child[at] {
			switch {
			case to == 0:
				t.child[at][c] = t.child[t.fail[at]][c]
			case at != 0:
				t.fail[to] = t.child[t.fail[at]][c]
				fallthrough
			default:
				order = append(order, to)
			}
		}
		t.ends[at] = append(t.ends[at], t.ends[t.fail[at]]...)
	}
	return order
}

// compile numbers the states, those that end a mark last, and fills the table.
func (a *Automaton) compile(t *trie, order []uint16) {
	if len(order) > 1<<16 {
		panic("literal: there are too many marks")
	}
	a.next = make([]State, len(order)*int(a.stride))
	state := make([]State, len(order))
	n := State(0)
	for _, accepting := range []bool{false, true} {
		if accepting {
			a.accept = n * a.stride
		}
		for _, at := range order {
			if len(t.ends[at]) > 0 == accepting {
				state[at] = n
				n++
			}
		}
	}
	a.ends, a.holds = make([][]Mark, n), make([][]string, n)
	for _, at := range order {
		s := state[at]
		a.ends[s] = t.ends[at]
		for f := at; f != 0; f = t.fail[f] {
			a.holds[s] = append(a.holds[s], t.token[f]...)
		}
		for c, to := range t.child[at] {
			a.next[s*a.stride+State(c)] = state[to] * a.stride
		}
	}
}

// Find looks for the end of a mark in p, going on from the state of the bytes before. It
// returns the new state, the number of bytes looked at, and whether a mark ends there.
func (a *Automaton) Find(state State, p []byte) (next State, n int, found bool) {
	table, accept := a.next, a.accept
	for i, b := range p {
		if state = table[state+State(a.class[b])]; state >= accept {
			return state, i + 1, true
		}
	}
	return state, len(p), false
}

// Step returns the state after one more byte.
func (a *Automaton) Step(state State, b byte) State { return a.next[state+State(a.class[b])] }

// Accepts reports whether a mark ends in the state.
func (a *Automaton) Accepts(state State) bool { return state >= a.accept }

// Ends returns the marks that end in a state, for a caller that changes none of them.
func (a *Automaton) Ends(state State) []Mark { return a.ends[state/a.stride] }

// Holds reports whether a token may have begun before the state.
func (a *Automaton) Holds(state State) bool { return len(a.holds[state/a.stride]) > 0 }

// May reports whether one of the marks that end in the state may be what it seems, as far as
// the text p tells that ends there: the SK in "disks" is not.
func (a *Automaton) May(state State, p []byte) bool {
	return slices.ContainsFunc(a.ends[state/a.stride], func(m Mark) bool {
		if len(m.Text)+MaxApart > len(p) {
			return true
		}
		return (!m.Exact || bytes.HasSuffix(p, []byte(m.Text))) && (!m.Token || Apart(p, len(m.Text)))
	})
}

// MayHave reports whether p has a mark that may be what it seems.
func (a *Automaton) MayHave(p []byte) bool {
	for state, i := State(0), 0; i < len(p); {
		next, n, found := a.Find(state, p[i:])
		if state, i = next, i+n; found && a.May(state, p[:i]) {
			return true
		}
	}
	return false
}

// Contains reports whether p has a mark.
func (a *Automaton) Contains(p []byte) bool {
	_, _, found := a.Find(0, p)
	return found
}

// Held returns how many of the last bytes of p may be the beginning of a token.
func (a *Automaton) Held(state State, p []byte) int {
	for _, token := range a.holds[state/a.stride] {
		n := len(token)
		if whole := n > len(p); whole || string(p[len(p)-n:]) == token && Apart(p, n) {
			return min(n, len(p))
		}
	}
	return 0
}

// Token reports whether a token may begin in p.
func (a *Automaton) Token(p []byte) bool {
	for state, at := State(0), 0; ; {
		next, n, found := a.Find(state, p[at:])
		if state, at = next, at+n; !found {
			return false
		}
		if slices.ContainsFunc(a.Ends(state), func(m Mark) bool { return m.Token }) {
			return true
		}
	}
}

// Clear returns how many bytes of p cannot be part of a mark, going on from the state of the
// bytes before: up to the end of the first mark, or to a token that ends there.
func (a *Automaton) Clear(state State, p []byte) int {
	next, n, found := a.Find(state, p)
	if !found {
		return max(0, n-a.Held(next, p))
	}
	for _, m := range a.Ends(next) {
		if m.Token {
			n = min(n, max(0, n-len(m.Text)))
		}
	}
	return n
}

// MaxApart is how many bytes before a token tell whether it may begin there.
const MaxApart = 4

// Apart reports whether a token may begin before the last n bytes: not inside of a word, nor
// after an apostrophe in one.
func Apart(p []byte, n int) bool {
	p = p[:len(p)-n]
	if rest, ok := bytes.CutSuffix(p, []byte("\u2019")); ok {
		return !endsWith(rest, 0, text.Letter)
	}
	if rest, ok := bytes.CutSuffix(p, []byte("'")); ok {
		return !endsWith(rest, 0, text.Letter) || !endsWith(rest, 1, text.Letter) // b'…' is no word
	}
	return !endsWith(p, 0, text.Letter|text.Digit)
}

// endsWith reports whether a byte of the class comes before the last n bytes.
func endsWith(p []byte, n int, class text.Class) bool {
	i := len(p) - n - 1
	return i >= 0 && text.Is(p[i], class)
}
