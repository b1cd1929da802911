package inject

import (
	"slices"
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// pattern is a word or phrase of the lexicon, as an automaton looks for it. In its text a space
// stands for any run of white space, hyphens and underscores.
type pattern struct {
	text      string
	means     numbers // concepts
	completes numbers // threats that it can be the last word of
	serves    arms    // threats that it can be a word of, by slot
	stem      bool    // the word may go on: "instruct" in "instructions"
	free      bool    // no word boundary is asked for, as in scripts that write without spaces
}

// dictionary is an automaton (Aho and Corasick, CACM 18/6, 1975) that looks for all its patterns at
// once, in any case and without allocation. Its state is a number, which can be carried from one
// piece of a text to the next.
//
// States near the root, where ordinary text stays, have a row in a table: one look-up a byte. The
// others are found by their failure links, which keeps the automaton small.
type dictionary struct {
	patterns []pattern
	bounded  bool // patterns begin where a word does

	class [256]uint8
	word  [256]bool // by class: of a letter or digit
	blank uint8     // class of what may stand between words

	table  []uint32 // row + class -> state
	limit  uint32   // states below are rows, those from here on limit + node
	states []uint32 // by node: its row if nothing ends there, else limit + node
	start  uint32
	stride uint32

	// The tree, by node in the order of depth: the children of a node stand side by side.
	child []uint32 // first child; those of the node end where those of the next begin
	label []uint8  // class that leads to the node
	fail  []uint32
	ends  [][]uint16 // patterns that end there, the longest first
	own   []uint8    // how many of them begin at the root
}

// maxTable bounds the table, in states: 4 MiB.
const maxTable = 1 << 20

// frequent are the bytes that text is mostly made of; they get the first classes, so that the
// parts of a row that matter lie close together.
const frequent = " etaoinshrdlucmfwypvbgkjqxz"

// newDictionary builds the automaton of the patterns, the longest of which come first.
func newDictionary(patterns []pattern, fold folding, bounded bool) *dictionary {
	l := &dictionary{patterns: patterns, bounded: bounded}
	for i := range l.patterns {
		l.patterns[i].completes, l.patterns[i].serves = thePlans().completedBy(&l.patterns[i].means)
	}
	l.classify(fold)
	l.grow()
	l.link()
	l.tabulate()
	return l
}

// classify gives each byte that patterns have a class of its own; 0 is of all others.
func (l *dictionary) classify(fold folding) {
	var used [256]bool
	for b := range 128 {
		if text.Is(byte(b), text.Letter|text.Digit|text.Blank) {
			used[fold(byte(b))] = true
		}
	}
	for _, p := range l.patterns {
		for i := range len(p.text) {
			used[fold(p.text[i])] = true
		}
	}
	var classOf [256]uint8
	give := func(b byte) {
		if used[b] && classOf[b] == 0 {
			l.stride++
			classOf[b] = uint8(l.stride)
		}
	}
	for i := range len(frequent) {
		give(frequent[i])
	}
	for b := range 256 {
		give(byte(b))
	}
	l.stride++
	for b := range 256 {
		l.class[b] = classOf[fold(byte(b))]
	}
	for b := range 128 {
		if text.Is(byte(b), text.Letter|text.Digit) {
			l.word[l.class[b]] = true
		}
	}
	l.blank = l.class[' ']
}

// grow makes the tree, level by level, of the patterns in the order of their classes. Node 0 is
// inside of a word; node 1, of a bounded automaton, is where a word may begin.
func (l *dictionary) grow() {
	type spelling struct {
		classes string
		pattern uint16
	}
	list := make([]spelling, len(l.patterns))
	for i, p := range l.patterns {
		classes := make([]byte, 0, len(p.text)+1)
		if l.bounded && l.word[l.class[p.text[0]]] {
			classes = append(classes, l.blank)
		}
		for j := range len(p.text) {
			classes = append(classes, l.class[p.text[j]])
		}
		list[i] = spelling{string(classes), uint16(i)}
	}
	slices.SortStableFunc(list, func(a, b spelling) int { return strings.Compare(a.classes, b.classes) })
	type branch struct{ from, to, depth int } // of the list
	l.label = []uint8{0}
	for queue := []branch{{0, len(list), 0}}; len(queue) > 0; queue = queue[1:] {
		b := queue[0]
		l.child = append(l.child, uint32(len(l.label)))
		var ends []uint16
		for ; b.from < b.to && len(list[b.from].classes) == b.depth; b.from++ {
			ends = append(ends, list[b.from].pattern)
		}
		l.ends = append(l.ends, ends)
		for b.from < b.to {
			class, next := list[b.from].classes[b.depth], b.from
			for next < b.to && list[next].classes[b.depth] == class {
				next++
			}
			l.label = append(l.label, class)
			queue = append(queue, branch{b.from, next, b.depth + 1})
			b.from = next
		}
	}
	l.child = append(l.child, uint32(len(l.label)))
}

// link finds the failure link of each node: the longest suffix of what led there that is in the
// tree too. The patterns that end there end at the node as well.
func (l *dictionary) link() {
	l.fail = make([]uint32, len(l.label))
	l.own = make([]uint8, len(l.label))
	for n := range uint32(len(l.label)) {
		for c := l.child[n]; c < l.child[n+1]; c++ {
			l.own[c] = uint8(len(l.ends[c]))
			switch {
			case n > 0:
				l.fail[c] = l.after(l.fail[n], l.label[c])
			case l.bounded && c > 1:
				l.fail[c] = 1 // what is of no word may stand before one
			}
			l.ends[c] = append(l.ends[c], l.ends[l.fail[c]]...)
		}
	}
}

// after returns the node to which a class leads.
func (l *dictionary) after(n uint32, class uint8) uint32 {
	for {
		for c := l.child[n]; c < l.child[n+1]; c++ {
			if l.label[c] == class {
				return c
			}
		}
		switch {
		case class == l.blank && n > 0 && l.label[n] == l.blank:
			return n // white space goes on
		case n > 0:
			n = l.fail[n]
		case l.bounded && !l.word[class]:
			return 1
		default:
			return 0
		}
	}
}

// tabulate makes the rows of the nodes near the root, in their order: a row is that of the node's failure
// link, which comes before it, but for the node's own children and for white space that goes on. See after.
func (l *dictionary) tabulate() {
	near := min(uint32(len(l.label)), maxTable/l.stride)
	l.limit = near * l.stride
	l.states = make([]uint32, len(l.label))
	for n := range uint32(len(l.label)) {
		if l.states[n] = l.limit + n; n < near && len(l.ends[n]) == 0 {
			l.states[n] = n * l.stride
		}
	}
	l.table = make([]uint32, l.limit)
	for c := range l.stride {
		l.table[c] = l.states[l.after(0, uint8(c))]
	}
	for n := uint32(1); n < near; n++ {
		row := l.table[n*l.stride : (n+1)*l.stride]
		copy(row, l.table[l.fail[n]*l.stride:])
		if l.label[n] == l.blank {
			row[l.blank] = l.states[n]
		}
		for c := l.child[n]; c < l.child[n+1]; c++ {
			row[l.label[c]] = l.states[c]
		}
	}
	if l.bounded {
		l.start = l.states[1]
	}
}

// inWord tells which bytes are of words.
var inWord = func() (t [256]bool) {
	for b := range t {
		t[b] = text.Is(byte(b), text.Letter|text.Digit)
	}
	return t
}()

// find looks for the end of a pattern in p, going on from the state of the bytes before. It
// returns the new state, the number of bytes looked at, and the patterns that end there, none
// when p has no more of them.
func (l *dictionary) find(state uint32, p string) (next uint32, n int, ends []uint16) {
	table, class, limit := l.table, &l.class, l.limit
	for i := 0; i < len(p); {
		switch node := state - limit; {
		case state < limit:
		case node*l.stride < limit:
			state = node * l.stride
		default:
			state = l.states[l.after(node, class[p[i]])]
			if i++; state < limit {
				continue
			}
			if ends := l.ends[state-limit]; len(ends) > 0 {
				return state, i, ends
			}
			continue
		}
		for i < len(p) {
			state = table[state+uint32(class[p[i]])]
			if i++; state >= limit {
				break
			}
			if state == 0 && l.bounded { // nothing begins before the word ends
				for i < len(p) && inWord[p[i]] {
					i++
				}
			}
		}
		if state < limit {
			break
		}
		if ends := l.ends[state-limit]; len(ends) > 0 {
			return state, i, ends
		}
	}
	return state, len(p), nil
}

// begins returns where in the text the pattern that ends at end begins. White space within may
// be longer than in the pattern.
func (p *pattern) begins(text string, end int) int {
	i := end
	for j := len(p.text) - 1; j >= 0; j-- {
		if p.text[j] != ' ' {
			i--
			continue
		}
		for i > 0 && foldCase(text[i-1]) == ' ' {
			i--
		}
	}
	return max(i, 0)
}

// sortPatterns puts long ones first, which is the order of ends.
func sortPatterns(list []pattern) {
	slices.SortStableFunc(list, func(a, b pattern) int { return len(b.text) - len(a.text) })
}
