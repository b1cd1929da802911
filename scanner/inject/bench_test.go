package inject

import (
	"strings"
	"testing"
)

// ordinaryText is text as an agent writes it, without secrets.
var ordinary = strings.Repeat("The root file system of this host is 42 % full: 18.3 GB of 43.6 GB are used, and /var/log grows by "+
	"about 120 MB a day. Nothing needs to be done now. If you want, I can look for the largest folders, "+
	"compare them with last week's figures, or set an alert at 85 percent. See https://docs.example.com/disks.\n", 40)

// BenchmarkLiterals is the search for all words of the lexicon, in pieces of 200 bytes with the
// state carried from one to the next.
func BenchmarkLiterals(b *testing.B) {
	l, piece := plainWords(), ordinary[:200]
	state := l.start
	b.SetBytes(int64(len(piece)))
	b.ReportAllocs()
	for b.Loop() {
		for pos := 0; pos < len(piece); {
			next, n, _ := l.find(state, piece[pos:])
			state, pos = next, pos+n
		}
	}
}

// BenchmarkLexicon is how long the first scan waits for the words.
func BenchmarkLexicon(b *testing.B) {
	for b.Loop() {
		newDictionary(withTricks(lexicon(true)), foldCase, true)
	}
}
