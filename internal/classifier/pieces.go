package classifier

import (
	"iter"
	"strings"
	"unicode/utf8"
)

const (
	// margin is how much of a text beyond what is sent is looked at for credentials.
	margin = 4 << 10
	// part is how much of a piece the next one repeats: one of so many bytes.
	part = 8
	// shortWord and longWord bound what may be a sentence without a white space.
	shortWord, longWord = 16, 512
)

// Telling reports whether a text is worth asking about. A single word of ASCII is not, unless it may be several
// that are put together: names, identifiers and what is in base64 would only hide the sentences around them.
func Telling(text string) bool {
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c >= utf8.RuneSelf {
			return strings.TrimSpace(text) != ""
		}
	}
	return len(text) >= shortWord && len(text) <= longWord
}

// pieces cuts a text into pieces of at most size bytes, between words where there are any, and tells where
// each begins. Each repeats the end of the one before.
func pieces(text string, size int) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for at := 0; strings.TrimSpace(text[at:]) != ""; {
			end := at + boundary(text[at:], size)
			if !yield(at, text[at:end]) || end == len(text) {
				return
			}
			at += boundary(text[at:end], end-at-size/part)
		}
	}
}

// boundary is where a text is cut that is not to be longer than n: behind a white space where there is one
// in its last quarter, else between characters.
func boundary(text string, n int) int {
	if n >= len(text) {
		return len(text)
	}
	if i := strings.LastIndexAny(text[:n], " \n\t"); i >= n-n/4 {
		return i + 1
	}
	for i := n; i > n-utf8.UTFMax && i > 0; i-- {
		if utf8.RuneStart(text[i]) {
			return i
		}
	}
	return n
}
