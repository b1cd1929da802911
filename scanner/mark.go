package scanner

import "math/bits"

// A mark is the end of what announces a secret: the last letters of "password", the "://" of
// a URL. All marks are looked for at once with a Shift-And automaton: each byte of each mark
// has one bit in a 64-bit word, so that a byte of ordinary text costs one table look-up.
// What stands before a mark, and what follows it, is looked at only where one was seen.
type markTable struct {
	next   [256]uint64 // bits of the mark positions that a byte fits
	starts uint64      // first bit of each mark
	ends   uint64      // last bit of each mark
	rule   [64]uint8   // index of the rule whose mark ends at this bit
}

// newMarkTable compiles the marks of the rules. In a mark, [abc] stands for any one of the
// letters; a lower-case letter fits both cases unless the rule is exact.
func newMarkTable(rules []rule) *markTable {
	t := new(markTable)
	n := 0
	for i, r := range rules {
		for _, mark := range r.marks {
			t.starts |= 1 << n
			for p := 0; p < len(mark); n++ {
				set := mark[p : p+1]
				p++
				if set == "[" {
					q := p
					for mark[q] != ']' {
						q++
					}
					set, p = mark[p:q], q+1
				}
				for j := range len(set) {
					t.next[set[j]] |= 1 << n
					if b := set[j]; !r.exact && 'a' <= b && b <= 'z' {
						t.next[b-'a'+'A'] |= 1 << n
					}
				}
			}
			if n > 64 {
				panic("scanner: the marks of the rules need more than 64 bytes")
			}
			t.ends |= 1 << (n - 1)
			t.rule[n-1] = uint8(i)
		}
	}
	return t
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
