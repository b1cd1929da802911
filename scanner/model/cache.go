package model

import "unicode/utf8"

// cacheSize is how many words are kept with what they weigh: texts repeat their words.
const cacheSize = 512

// cache keeps what words weigh by themselves. Words are compared as a whole, so that what is kept from
// another text changes nothing.
type cache [cacheSize]struct {
	key  key
	hash uint32
	sum  int32
}

// key is a word: of ASCII up to 23 characters, of others up to 11, and which of the two it is.
type key [3]uint64

// keyOf returns the key of a word, and false for one that has none.
func keyOf(word []rune, quoted bool) (k key, ok bool) {
	n, bits, per := len(word), 8, 8
	for _, c := range word {
		if c >= utf8.RuneSelf {
			bits, per = 16, 4
			break
		}
	}
	if n > 3*per-1 {
		return key{}, false
	}
	mode := uint64(bits) // the last place is not for a character
	if quoted {
		mode++
	}
	k[2] = mode << (64 - bits)
	for i, c := range word {
		if c >= inTable {
			return key{}, false
		}
		k[i/per] |= uint64(c) << (i % per * bits)
	}
	return k, true
}

// look returns the hash of a token and the sum of the weights that it has by itself.
func (c *cache) look(w *Weights, l *lexeme) (hash uint32, sum int32) {
	k, ok := key{}, false
	if l.word != nil {
		k, ok = keyOf(l.word, l.quoted)
	}
	at := &c[(k[0]*0x9e3779b97f4a7c15^k[1]*0xc2b2ae3d27d4eb4f^k[2])>>32%cacheSize]
	if ok && at.key == k {
		return at.hash, at.sum
	}
	var room [maxFeatures]uint32
	hash, n := l.features(&room)
	for _, f := range room[:n] {
		sum += w.of(f)
	}
	if ok {
		at.key, at.hash, at.sum = k, hash, sum
	}
	return hash, sum
}
