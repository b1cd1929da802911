package inject

import "math"

// Keys are what words are told by before their letters are looked at one by one: their first bytes as a
// number. These are how many bytes of what.
const (
	wordKey  = 8 // of a word
	stemKey  = 6 // of one that may go on
	shortKey = 4 // of one that may go on and is shorter than that
)

// lower makes letters lower case, eight at a time, and leaves digits as they are.
const lower = 0x2020202020202020

// keyOf returns the first n bytes of a text, at most eight, as a number, in lower case. Where the text
// ends before, the rest is nothing.
func keyOf(s string, n int) (key uint64) {
	n = min(n, len(s))
	for i := range n {
		key |= uint64(s[i]) << (8 * i)
	}
	return (key | lower) & firstBytes[n]
}

// firstBytes are the masks of the first so many bytes of eight.
var firstBytes = func() (t [blockSize + 1]uint64) {
	for n := range t {
		t[n] = math.MaxUint64
		if n < wordKey {
			t[n] = 1<<(8*n) - 1
		}
	}
	return t
}()

// keySet is a set of numbers by their hash, a bit each. It may say that it has one which it has not.
type keySet [1 << 10]uint64

// place returns where the bit of a number is.
func (s *keySet) place(key uint64) (word, bit uint64) {
	h := hashOf(key)
	return h >> 6, h & 63
}

func (s *keySet) add(key uint64) {
	word, bit := s.place(key)
	s[word] |= 1 << bit
}

// has returns 1 if the set has a number, and 0 if not: what asks several sets has one branch for all.
func (s *keySet) has(key uint64) uint64 {
	word, bit := s.place(key)
	return s[word] >> bit & 1
}

// phraseKey returns the key of a word and the first two bytes of the next.
func phraseKey(key uint64, a, b byte) uint64 {
	const space = ' ' // makes letters lower case
	return key*spread ^ uint64(a|space)<<8 ^ uint64(b|space)
}

// spread spreads the bits of a key over those of its hash (Knuth, The Art of Computer Programming, 6.4).
const spread = 0x9e3779b97f4a7c15

// hashOf returns a hash of 16 bits.
func hashOf(key uint64) uint64 { return key * spread >> 48 }
