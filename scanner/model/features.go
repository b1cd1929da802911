package model

import "slices"

// maxFeatures is how many features a token can have.
const maxFeatures = longest + 8

// longest is the longest word of which parts are features.
const longest = 20

// Token is a word of a text, a character of a script without spaces, or what separates words.
type Token struct {
	Start, End int      // in the text, in bytes
	Word       uint32   // a hash of it
	Features   []uint32 // hashes of its parts, and of what it is together with those before it; valid until the next token
}

// Read makes the tokens of a text and gives each, as a detector reads it. It is what a program needs
// that trains [Weights].
func Read(text string, give func(Token)) {
	var room [maxFeatures]uint32
	var before sequence
	r := reader{give: func(l lexeme) {
		hash, n := l.features(&room)
		pair, skip, three := before.next(hash)
		copy(room[n:], []uint32{pair, skip, three})
		give(Token{Start: l.start, End: l.end, Word: hash, Features: room[:n+3]})
	}}
	r.read(text)
	r.close()
}

// The seeds keep features of different kinds apart.
const (
	seedWord  uint32 = 0x1b873593
	seedGap   uint32 = 0x7feb352d
	seedPart  uint32 = 0x846ca68b
	seedPair  uint32 = 0xcc9e2d51
	seedSkip  uint32 = 0x85ebca6b
	seedThree uint32 = 0xc2b2ae35
)

// mix puts a value into a hash.
func mix(hash, value uint32) uint32 {
	hash = (hash ^ value) * 0x9e3779b1
	return hash ^ hash>>15
}

func gapHash(gap byte) uint32 { return mix(seedGap, uint32(gap)) }

// wordFeatures returns the hash of a word and writes its parts: of alphabets all runs of four
// characters, its ends included, of syllables and signs all of two. What has a digit or is very long is
// an identifier or a code, whose parts say nothing. A word in a quotation is another word: who reports what
// attackers say quotes it.
func wordFeatures(word []rune, quoted bool, room *[maxFeatures]uint32) (hash uint32, n int) {
	hash, part := seedWord, seedPart
	if quoted {
		hash, part = hash+1, part+1
	}
	for _, c := range word {
		hash = mix(hash, uint32(c))
	}
	if len(word) == 1 || len(word) > longest {
		return hash, 0
	}
	if word[0] >= 0x2e80 {
		for i := 1; i < len(word); i++ {
			room[n] = mix(mix(part, uint32(word[i-1])), uint32(word[i]))
			n++
		}
		return hash, n
	}
	if len(word) < 3 || slices.Contains(word, '0') {
		return hash, 0
	}
	const edge = 1
	a, b, c := uint32(edge), uint32(word[0]), uint32(word[1])
	for i := 2; i <= len(word); i++ {
		d := uint32(edge)
		if i < len(word) {
			d = uint32(word[i])
		}
		room[n] = mix(mix(part, a<<16^b), c<<16^d)
		n++
		a, b, c = b, c, d
	}
	return hash, n
}

// features returns the hash of a lexeme and writes its features, the hash among them.
func (l *lexeme) features(room *[maxFeatures]uint32) (hash uint32, n int) {
	if l.word == nil {
		hash = gapHash(l.gap)
	} else {
		hash, n = wordFeatures(l.word, l.quoted, room)
	}
	room[n] = hash
	return hash, n + 1
}

// sequence is the hashes of the last two tokens.
type sequence struct{ last, second uint32 }

// next returns what a token is together with the one before it, with the one before that, and with both.
func (s *sequence) next(hash uint32) (pair, skip, three uint32) {
	pair = mix(mix(seedPair, s.last), hash)
	skip = mix(mix(seedSkip, s.second), hash)
	three = mix(mix(seedThree, s.second), pair)
	s.second, s.last = s.last, hash
	return pair, skip, three
}
