package inject

import (
	"strings"
	"sync"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// minLeet and maxLeet are how many letters a word has whose digits may stand for some.
const (
	minLeet = 3
	maxLeet = 24
)

// leetSet are the words of the lexicon by their hash, a bit each. One too many costs a look.
type leetSet struct {
	words, stems [1 << 12]uint64
}

// place returns where the bit of a hash is.
func place(h uint32) (word, bit uint32) {
	h *= 0x9e3779b1
	return h >> 20, h >> 14 & 63
}

func (s *leetSet) has(set *[1 << 12]uint64, h uint32) bool {
	word, bit := place(h)
	return set[word]>>bit&1 != 0
}

// hashed returns the hash of a text that goes on with a letter.
func hashed(h uint32, letter byte) uint32 { return h*31 + uint32(letter) }

// leetWordSet are the single words of the lexicon in ASCII.
var leetWordSet = sync.OnceValue(func() *leetSet {
	s := new(leetSet)
	for _, p := range lexicon(true) {
		words := strings.FieldsFunc(p.text, func(r rune) bool { return !text.Is(leetBytes[byte(r)], text.Letter) })
		for i, w := range words {
			h := uint32(0)
			for j := range len(w) {
				h = hashed(h, leetBytes[w[j]])
			}
			set := &s.words
			if p.stem && i == len(words)-1 {
				set = &s.stems
			}
			word, bit := place(h)
			set[word] |= 1 << bit
		}
	}
	return s
})

// isLeet reports whether digits or symbols in what stands between white space seem to stand for the
// letters of a word of the lexicon.
func isLeet(s string) bool {
	set := leetWordSet()
	for i := 0; i < len(s); i++ {
		if !text.Is(leetBytes[s[i]], text.Letter) || i > 0 && text.Is(s[i-1], text.Letter|text.Digit) {
			continue
		}
		h, replaced := uint32(0), false
		for j := i; j < min(len(s), i+maxLeet) && text.Is(leetBytes[s[j]], text.Letter); j++ {
			h = hashed(h, leetBytes[s[j]])
			if replaced = replaced || !text.Is(s[j], text.Letter); !replaced || j-i+1 < minLeet {
				continue
			}
			if set.has(&set.stems, h) || set.has(&set.words, h) && (j+1 == len(s) || !text.Is(s[j+1], text.Letter|text.Digit)) {
				return true
			}
		}
	}
	return false
}
