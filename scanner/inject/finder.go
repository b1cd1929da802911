package inject

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"sync"
)

// finder looks for the words of a bounded dictionary in a whole text. It finds what the automaton
// finds, in the same order. But it goes from word to word: the first bytes of most words of a text tell
// that nothing begins there, and the bytes behind them are not looked at.
type finder struct {
	*dictionary
	words   keySet     // the first eight bytes of the first word of a pattern, or all if it is shorter
	phrases keySet     // the same, and the first two of the next word: of those that go on behind white space
	stems   keySet     // the first six of a word that may go on
	short   keySet     // the first four of one with fewer letters than that
	pairs   keySet     // the first two of what begins with no letter or digit
	blanks  [256]uint8 // 1: stands between words
	jumps   jumpTable
	nodes   []branch
	rows    []uint16 // of nodes with many children: by class the child
}

// branch is a node of the tree of patterns.
type branch struct {
	child uint16 // the first; those of the node end where those of the next one begin
	row   uint16 // in rows; 0: it has none
	label uint8  // class that leads to the node
	own   uint8  // how many patterns end there; others are only the end of what led there
}

// manyChildren is how many children a node with a row has.
const manyChildren = 2

// plainFinder looks for the words in ASCII.
var plainFinder = sync.OnceValue(func() *finder { return newFinder(plainWords()) })

func newFinder(d *dictionary) *finder {
	f := &finder{dictionary: d}
	for b, class := range d.class {
		if class == d.blank {
			f.blanks[b] = 1
		}
	}
	f.branch(d)
	for _, p := range d.patterns {
		f.learn(p)
	}
	return f
}

// learn notes by what a pattern is told.
func (f *finder) learn(p pattern) {
	rest := strings.TrimLeftFunc(p.text, func(r rune) bool { return inWord[byte(r)] })
	first := p.text[:len(p.text)-len(rest)]
	switch n := len(first); {
	case n == 0:
		if strings.IndexByte(opening, p.text[0]) < 0 {
			panic(fmt.Sprintf("inject: %q begins with what begins no word", p.text))
		}
		for b := range 256 {
			if foldCase(byte(b)) == foldCase(p.text[1]) {
				f.pairs.add(keyOf(string([]byte{p.text[0], byte(b)}), 2))
			}
		}
		return
	case rest == "" && p.stem && n >= stemKey:
		f.stems.add(keyOf(first, stemKey))
	case rest == "" && p.stem && n >= shortKey:
		f.short.add(keyOf(first, shortKey))
	case rest == "" && p.stem:
		panic(fmt.Sprintf("inject: %q is too short to go on", p.text))
	case rest != "" && rest[0] == ' ':
		f.addPhrase(keyOf(first, wordKey), rest[1:])
	default:
		f.words.add(keyOf(first, wordKey))
	}
	node := uint16(1)
	for i := range min(len(first), wordKey) {
		node = f.step(node, f.class[first[i]])
	}
	f.jumps.add(keyOf(first, wordKey), node)
}

// branch makes the nodes and their rows.
func (f *finder) branch(d *dictionary) {
	if len(d.label) > math.MaxUint16 {
		panic("inject: there are more words than a finder has room for")
	}
	f.rows = make([]uint16, d.stride) // the row of those that have none
	for n := range d.label {
		b := branch{child: uint16(d.child[n]), label: d.label[n], own: d.own[n]}
		if children := d.child[n+1] - d.child[n]; children > manyChildren {
			b.row = uint16(uint32(len(f.rows)) / d.stride)
			row := make([]uint16, d.stride)
			for c := d.child[n]; c < d.child[n+1]; c++ {
				row[d.label[c]] = uint16(c)
			}
			f.rows = append(f.rows, row...)
		}
		f.nodes = append(f.nodes, b)
	}
	f.nodes = append(f.nodes, branch{child: uint16(len(d.label))})
}

// addPhrase adds a phrase whose first word has a key, and what stands behind it.
func (f *finder) addPhrase(key uint64, rest string) {
	for b := range 256 {
		if len(rest) == 1 || foldCase(byte(b)) == foldCase(rest[1]) {
			f.phrases.add(phraseKey(key, rest[0], byte(b)))
		}
	}
}

// phrase returns 1 if a phrase may go on behind its first word, which ends at i.
func (f *finder) phrase(key uint64, s string, i int) uint64 {
	if i+2 < len(s) && f.blanks[s[i+1]] == 0 { // one blank, as usual
		return uint64(f.blanks[s[i]]) & f.phrases.has(phraseKey(key, s[i+1], s[i+2]))
	}
	if i >= len(s) || f.blanks[s[i]] == 0 {
		return 0
	}
	for ; i < len(s) && f.blanks[s[i]] != 0; i++ {
	}
	switch len(s) - i {
	case 0:
		return 0
	case 1:
		return f.phrases.has(phraseKey(key, s[i], 0))
	}
	return f.phrases.has(phraseKey(key, s[i], s[i+1]))
}

// hits appends the words in a text, whose planes are given, in the order of their ends.
func (f *finder) hits(list []hit, s string, p *planes) []hit {
	before := uint64(0)
	for n := range len(p.blocks) - 1 {
		b, next := &p.blocks[n], &p.blocks[n+1]
		word, further := b[letters]|b[digits], next[letters]|next[digits]
		for m := word &^ (word<<1 | before); m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m)
			length := bits.TrailingZeros64(^(word>>i | further<<1<<(63-i)))
			at := n*blockSize + i
			var key uint64
			if at+wordKey <= len(s) {
				q := s[at : at+wordKey]
				key = lower | uint64(q[0]) | uint64(q[1])<<8 | uint64(q[2])<<16 | uint64(q[3])<<24 | uint64(q[4])<<32 | uint64(q[5])<<40 | uint64(q[6])<<48 | uint64(q[7])<<56
			} else {
				key = keyOf(s[at:], wordKey)
			}
			key &= firstBytes[length]
			stem := f.stems.has(key&firstBytes[stemKey]) | f.short.has(key&firstBytes[shortKey])
			if stem|f.words.has(key)|f.phrase(key, s, at+length) == 0 {
				continue
			}
			if stem != 0 {
				list = f.walk(list, s, at, at, 1)
			} else if node := f.jumps.find(key); node > 0 {
				list = f.walk(list, s, at, at+min(length, wordKey), node)
			}
		}
		before = word >> 63
		for m := b[signs]; m != 0; m &= m - 1 {
			if i := n*blockSize + bits.TrailingZeros64(m); f.pairs.has(keyOf(s[i:], 2)) != 0 {
				list = f.walk(list, s, i, i, 0)
			}
		}
	}
	return list
}

// walk appends the patterns that begin at start, where what stands there up to i leads to a node of the
// tree and no other pattern ends before.
func (f *finder) walk(list []hit, s string, start, i int, n uint16) []hit {
	for {
		if f.nodes[n].own > 0 {
			for _, e := range f.ends[n][:f.nodes[n].own] {
				if p := &f.patterns[e]; p.stem || p.free || i == len(s) || !goesOn(s[i-1], s[i:]) {
					list = insert(list, hit{pattern: p, start: start, end: i})
				}
			}
		}
		next := uint16(0)
		for ; i < len(s) && next == 0; i++ {
			class := f.class[s[i]]
			if next = f.step(n, class); next == 0 && (class != f.blank || f.nodes[n].label != f.blank) { // white space goes on
				return list
			}
		}
		if next == 0 {
			return list
		}
		n = next
	}
}

// step returns the child of a node to which a class leads, 0 if there is none.
func (f *finder) step(n uint16, class uint8) uint16 {
	if b := &f.nodes[n]; b.row > 0 {
		return f.rows[uint32(b.row)*f.stride+uint32(class)]
	}
	for c := f.nodes[n].child; c < f.nodes[n+1].child; c++ {
		if f.nodes[c].label == class {
			return c
		}
	}
	return 0
}

// insert adds a word to others in the order of their ends, and of the same end the longest first.
func insert(list []hit, h hit) []hit {
	list = append(list, h)
	i := len(list) - 1
	for ; i > 0 && (list[i-1].end > h.end || list[i-1].end == h.end && list[i-1].start > h.start); i-- {
		list[i] = list[i-1]
	}
	list[i] = h
	return list
}

// jumpTable leads from the first bytes of a word to their node: open addressing.
type jumpTable struct {
	keys  [1 << 13]uint64 // 0: nothing
	nodes [1 << 13]uint16
}

func (t *jumpTable) add(key uint64, node uint16) {
	i := hashed64(key) % uint64(len(t.keys))
	for ; t.keys[i] != 0 && t.keys[i] != key; i = (i + 1) % uint64(len(t.keys)) {
	}
	t.keys[i], t.nodes[i] = key, node
}

func (t *jumpTable) find(key uint64) uint16 {
	i := hashed64(key) % uint64(len(t.keys))
	for ; t.keys[i] != key; i = (i + 1) % uint64(len(t.keys)) {
		if t.keys[i] == 0 {
			return 0
		}
	}
	return t.nodes[i]
}

// hashed64 returns a hash of 16 bits.
func hashed64(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 >> 48 }
