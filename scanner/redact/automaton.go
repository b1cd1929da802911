package redact

import (
	"bytes"
	"slices"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// automaton looks for the marks of all rules at once, in any case: a deterministic automaton
// over classes of bytes, whose state is a number that goes on from piece to piece. A byte of
// ordinary text costs two table look-ups. What stands before a mark, and what follows it, is
// looked at only where one was seen.
type automaton struct {
	class  [256]uint8
	next   *[1 << 16]uint16 // state + class -> state; states are multiples of stride
	stride uint16
	accept uint16     // states from here on end a mark
	ends   [][]ending // by state
	holds  [][]string // by state: the beginnings of tokens that it ends with, the longest first
}

// ending is a mark that ends.
type ending struct {
	rule *rule
	mark string
}

// trie is the automaton while it is built.
type trie struct {
	child [][]uint16 // by node and class; 0: none
	fail  []uint16
	token [][]string // beginnings of the marks of tokens, as they are written
	ends  [][]ending
}

func newAutomaton(rules []rule) *automaton {
	a := &automaton{next: new([1 << 16]uint16), stride: 1}
	var all []ending
	for i := range rules {
		for _, m := range rules[i].marks {
			for _, text := range expand(m) {
				all = append(all, ending{&rules[i], text})
			}
		}
	}
	for _, e := range all {
		for i := range len(e.mark) {
			if b := text.Lower(e.mark[i]); a.class[b] == 0 {
				a.class[b] = uint8(a.stride)
				a.stride++
			}
		}
	}
	for b := 'A'; b <= 'Z'; b++ {
		a.class[b] = a.class[text.Lower(byte(b))]
	}
	t := new(trie)
	t.node(int(a.stride))
	for _, e := range all {
		at := uint16(0)
		for i := range len(e.mark) {
			c := a.class[text.Lower(e.mark[i])]
			if t.child[at][c] == 0 {
				t.child[at][c] = t.node(int(a.stride))
			}
			at = t.child[at][c]
			if e.rule.token && !slices.Contains(t.token[at], e.mark[:i+1]) {
				t.token[at] = append(t.token[at], e.mark[:i+1])
			}
		}
		t.ends[at] = append(t.ends[at], e)
	}
	a.compile(t, t.link())
	return a
}

// expand returns the texts of a mark, in which [abc] stands for any one of the bytes.
func expand(mark string) []string {
	open := bytes.IndexByte([]byte(mark), '[')
	if open < 0 {
		return []string{mark}
	}
	length := bytes.IndexByte([]byte(mark[open:]), ']')
	var all []string
	for _, rest := range expand(mark[open+length+1:]) {
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
func (a *automaton) compile(t *trie, order []uint16) {
	if len(order)*int(a.stride) > len(a.next) {
		panic("redact: the marks need a larger automaton")
	}
	state := make([]uint16, len(order))
	n := uint16(0)
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
	a.ends, a.holds = make([][]ending, n), make([][]string, n)
	for _, at := range order {
		s := state[at]
		a.ends[s] = t.ends[at]
		for f := at; f != 0; f = t.fail[f] {
			a.holds[s] = append(a.holds[s], t.token[f]...)
		}
		for c, to := range t.child[at] {
			a.next[s*a.stride+uint16(c)] = state[to] * a.stride
		}
	}
}

// find looks for the end of a mark in p, going on from the state of the bytes before. It
// returns the new state, the number of bytes looked at, and whether a mark ends there.
func (a *automaton) find(state uint16, p []byte) (next uint16, n int, found bool) {
	table, accept := a.next, a.accept
	for i, b := range p {
		if state = table[state+uint16(a.class[b])]; state >= accept {
			return state, i + 1, true
		}
	}
	return state, len(p), false
}

// ending reports whether one of the marks that end in the state may be what it seems, as far as
// the text p tells that ends there: the SK in "disks" is not.
func (a *automaton) ending(state uint16, p []byte) bool {
	return slices.ContainsFunc(a.ends[state/a.stride], func(m ending) bool {
		if len(m.mark)+maxApart > len(p) {
			return true
		}
		return (!m.rule.exact || bytes.HasSuffix(p, []byte(m.mark))) && (!m.rule.token || apart(p, len(m.mark)))
	})
}

// contains reports whether p has a mark.
func (a *automaton) contains(p []byte) bool {
	_, _, found := a.find(0, p)
	return found
}

// held returns how many of the last bytes of p may be the beginning of a token.
func (a *automaton) held(state uint16, p []byte) int {
	for _, token := range a.holds[state/a.stride] {
		n := len(token)
		if whole := n > len(p); whole || string(p[len(p)-n:]) == token && apart(p, n) {
			return min(n, len(p))
		}
	}
	return 0
}

// token reports whether a token may begin in p.
func (a *automaton) token(p []byte) bool {
	for state, at := uint16(0), 0; ; {
		next, n, found := a.find(state, p[at:])
		if state, at = next, at+n; !found {
			return false
		}
		for _, m := range a.ends[state/a.stride] {
			if m.rule.token {
				return true
			}
		}
	}
}

// clear returns how many bytes of p no rule can find a secret in, going on from the state of
// the bytes before.
func (a *automaton) clear(state uint16, p []byte) int {
	next, n, found := a.find(state, p)
	if !found {
		return max(0, n-a.held(next, p))
	}
	for _, m := range a.ends[next/a.stride] {
		if m.rule.token {
			n = min(n, max(0, n-len(m.mark)))
		}
	}
	return n
}

// maxApart is how many bytes before a token tell whether it may begin there.
const maxApart = 4

// apart reports whether a token may begin before the last n bytes: not inside of a word, nor
// after an apostrophe in one.
func apart(p []byte, n int) bool {
	p = p[:len(p)-n]
	if rest, ok := bytes.CutSuffix(p, []byte("\u2019")); ok {
		return !follows(rest, 0, letter)
	}
	if rest, ok := bytes.CutSuffix(p, []byte("'")); ok {
		return !follows(rest, 0, letter) || !follows(rest, 1, letter) // b'…' is no word
	}
	return !follows(p, 0, letter|digit)
}
