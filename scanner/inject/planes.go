package inject

import "math/bits"

// Kinds of bytes. A byte may have none; some signs have another kind as well.
const (
	kLetter uint8 = 1 << iota
	kDigit
	kCode   // of base64, beside letters and digits
	kSpace  // white space
	kSymbol // may stand for a letter
	kWide   // beyond ASCII
	kEscape // begins an escape
	kSign   // begins a word of the lexicon, or ends a sentence
)

// The planes of the kinds, by their number.
const (
	letters = iota
	digits
	codes
	spaces
	symbols
	wides
	escapes
	signs
	allPlanes
)

// kRun are the kinds that base64 is made of.
const kRun = kLetter | kDigit | kCode

// Bytes of kSign.
const (
	opening = `<[(/.#!` // other than letters and digits that words of the lexicon begin with
	ending  = `.!?;`
)

var kinds = func() (t [256]uint8) {
	set := func(kind uint8, list string) {
		for i := range len(list) {
			t[list[i]] |= kind
		}
	}
	for b := range 26 {
		t['a'+b], t['A'+b] = kLetter, kLetter
	}
	for b := range 128 {
		t[0x80+b] = kWide
	}
	set(kDigit, "0123456789")
	set(kCode, "+/=-_")
	set(kSpace, " \t\r\n")
	set(kSymbol, "@$!|")
	set(kEscape, `%&\`)
	set(kSign, opening+ending)
	return t
}()

// block are 64 bytes of a text: of each kind a mask of those that have it.
type block [allPlanes]uint64

const blockSize = 64

// planes are a text by its kinds of bytes. What looks for words, and for the marks of a disguise,
// goes from one to the next with a few instructions and needs not look at the bytes between. It is
// made in one pass without a branch, which is all that every byte of a text costs.
type planes struct {
	size   int
	blocks []block // the last one is empty
}

// chart makes the planes of a text.
func (p *planes) chart(s string) {
	n := (len(s) + blockSize - 1) / blockSize
	p.size = len(s)
	if cap(p.blocks) <= n {
		p.blocks = make([]block, n+1, n+n/4+2)
	}
	p.blocks = p.blocks[:n+1]
	for i := range len(s) / blockSize {
		p.blocks[i] = chart(s[i*blockSize : (i+1)*blockSize])
	}
	if rest := s[len(s)/blockSize*blockSize:]; rest != "" {
		var padded [blockSize]byte
		copy(padded[:], rest)
		p.blocks[n-1] = chart(padded[:])
	}
	p.blocks[n] = block{}
}

// chart makes the masks of 64 bytes. The kinds of eight bytes are eight rows of eight bits. They are
// turned into columns (Warren, Hacker's Delight, 7-3), and then the columns of all rows are put together
// in the same way.
func chart[T string | []byte](s T) (r block) {
	for i := range r {
		q := s[8*i : 8*i+8]
		x := uint64(kinds[q[0]]) | uint64(kinds[q[1]])<<8 | uint64(kinds[q[2]])<<16 | uint64(kinds[q[3]])<<24 |
			uint64(kinds[q[4]])<<32 | uint64(kinds[q[5]])<<40 | uint64(kinds[q[6]])<<48 | uint64(kinds[q[7]])<<56
		t := (x ^ x>>7) & 0x00aa00aa00aa00aa
		x ^= t ^ t<<7
		t = (x ^ x>>14) & 0x0000cccc0000cccc
		x ^= t ^ t<<14
		t = (x ^ x>>28) & 0x00000000f0f0f0f0
		x ^= t ^ t<<28
		r[i] = x
	}
	for i := range 4 {
		r[i], r[i+4] = swapped(r[i], r[i+4], 32, 0x00000000ffffffff)
	}
	for _, i := range [...]int{0, 1, 4, 5} {
		r[i], r[i+2] = swapped(r[i], r[i+2], 16, 0x0000ffff0000ffff)
	}
	for _, i := range [...]int{0, 2, 4, 6} {
		r[i], r[i+1] = swapped(r[i], r[i+1], 8, 0x00ff00ff00ff00ff)
	}
	return r
}

// swapped exchanges the upper part of each pair of lanes in a with the lower part of that in b.
func swapped(a, b uint64, by int, lower uint64) (lowerParts, upperParts uint64) {
	t := (a>>by ^ b) & lower
	return a ^ t<<by, b ^ t
}

// at returns the mask of a plane for the 64 bytes from i on.
func (p *planes) at(plane, i int) uint64 {
	n, shift := i/blockSize, uint(i)%blockSize
	return p.blocks[n][plane]>>shift | p.blocks[n+1][plane]<<1<<(63-shift)
}

// next returns where the next byte of a plane stands, from i on; the length of the text if there is none.
func (p *planes) next(plane, i int) int {
	n, shift := i/blockSize, uint(i)%blockSize
	for m := p.blocks[n][plane] >> shift << shift; ; m = p.blocks[n][plane] {
		if m != 0 {
			return n*blockSize + bits.TrailingZeros64(m)
		}
		if n++; n*blockSize >= p.size {
			return p.size
		}
	}
}

// kinds returns the kinds of the bytes between two places.
func (p *planes) kinds(start, end int) (all uint8) {
	for n := start / blockSize; n*blockSize < end; n++ {
		mask := ^uint64(0)
		if at := start - n*blockSize; at > 0 {
			mask = mask << uint(at)
		}
		if at := end - n*blockSize; at < blockSize {
			mask &= 1<<uint(at) - 1
		}
		b := &p.blocks[n]
		all |= some(b[letters]&mask)*kLetter | some(b[digits]&mask)*kDigit | some(b[symbols]&mask)*kSymbol | some(b[wides]&mask)*kWide
	}
	return all
}

// some returns 1 unless a mask is empty.
func some(mask uint64) uint8 { return uint8((mask | -mask) >> 63) }
