package scanner

import (
	"math/bits"
	"strings"
)

// A mark is the end of what announces a secret: the last letters of "password", the "://" of
// a URL. All marks are looked for at once with a Shift-And automaton: each byte of each mark
// has one bit in a 64-bit word, so that a byte of ordinary text costs one table look-up.
// What stands before a mark, and what follows it, is looked at only where one was seen.
type markTable struct {
	next   [256]uint64 // bits of the mark positions that a byte fits
	starts uint64      // first bit of each mark
	ends   uint64      // last bit of each mark
	rule   [64]uint8   // index of the rule whose mark ends at this bit
	used   int         // bits
}

// add adds a mark of the rule. In a mark, [abc] stands for any one of the letters; a lower-case
// letter fits both cases unless the mark is exact.
func (t *markTable) add(rule int, mark string, exact bool) {
	t.starts |= 1 << t.used
	for p := 0; p < len(mark); t.used++ {
		set := mark[p : p+1]
		p++
		if set == "[" {
			n := strings.IndexByte(mark[p:], ']')
			set, p = mark[p:p+n], p+n+1
		}
		for i := range len(set) {
			t.next[set[i]] |= 1 << t.used
			if b := set[i]; !exact && 'a' <= b && b <= 'z' {
				t.next[b-'a'+'A'] |= 1 << t.used
			}
		}
	}
	if t.used > 64 {
		panic("scanner: the marks need more than 64 bytes")
	}
	t.ends |= 1 << (t.used - 1)
	t.rule[t.used-1] = uint8(rule)
}

// find looks for the end of a mark in p, going on from the state of the bytes before. It
// returns the new state, the number of bytes looked at, and the rule, -1 when p has no mark.
func find[T string | []byte](t *markTable, state uint64, p T) (next uint64, n, rule int) {
	starts, ends := t.starts, t.ends
	for i := range len(p) {
		state = (state<<1 | starts) & t.next[p[i]]
		if state&ends != 0 {
			return state, i + 1, int(t.rule[bits.TrailingZeros64(state&ends)])
		}
	}
	return state, len(p), -1
}
