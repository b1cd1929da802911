package inject

// setWords is how many words of 64 bits a set has: there is room for 128 concepts and as many threats.
const setWords = 2

// numbers is a set of numbers below 64*setWords: of concepts, or of threats.
type numbers [setWords]uint64

// add puts a number into the set.
func (s *numbers) add(n int) { s[n/64] |= 1 << (n % 64) }

// unite puts all numbers of another set into the set.
func (s *numbers) unite(o *numbers) {
	for i, word := range o {
		s[i] |= word
	}
}

// meets reports whether the sets have a number in common.
func (s *numbers) meets(o *numbers) bool {
	for i, word := range o {
		if s[i]&word != 0 {
			return true
		}
	}
	return false
}

// has reports whether a number is in the set.
func (s *numbers) has(n int) bool { return s[n/64]>>(n%64)&1 != 0 }
