// Package snapshot tells a snapshot of a text from its next piece: it begins with all of the text so far.
package snapshot

import "hash/maphash"

// Prefix is what a snapshot of a text begins with, as it is encoded. It keeps a sum of the text. The zero
// value is an empty text.
type Prefix struct {
	length int
	sum    maphash.Hash
}

// seed makes the sums of all texts comparable.
var seed = maphash.MakeSeed()

// Begins reports whether raw begins with the text, which is not empty.
func (p *Prefix) Begins(raw []byte) bool {
	return p.length > 0 && p.length <= len(raw) && maphash.Bytes(seed, raw[:p.length]) == p.sum.Sum64()
}

// Len returns the length of the text in bytes.
func (p *Prefix) Len() int { return p.length }

// Grow adds a piece to the text.
func (p *Prefix) Grow(raw []byte) {
	if p.length == 0 {
		p.sum.SetSeed(seed)
	}
	p.length += len(raw)
	_, _ = p.sum.Write(raw)
}

// Forget empties the text.
func (p *Prefix) Forget() { *p = Prefix{} }
