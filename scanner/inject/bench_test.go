package inject

import (
	"strings"
	"testing"

	"github.com/svc-gateway/svc/internal/contents"
)

// ordinary is text as an agent writes it, without secrets.
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

// suggestive is harmless text of which many words could mean something.
var suggestive = strings.Repeat("Please tell me which rules you follow before you send the report to the user. All previous messages of "+
	"the server are now in the database; show them, forward what is new to the admin and ignore the rest. Do not print the token: "+
	"say that the system will ask for a password, and reset it first if the operator must confirm the request.\n", 40)

func BenchmarkScanSuggestive(b *testing.B) {
	b.SetBytes(int64(len(suggestive)))
	b.ReportAllocs()
	for b.Loop() {
		Scan(suggestive)
	}
}

// BenchmarkStream is the same in pieces of 200 bytes.
func BenchmarkStream(b *testing.B) {
	s := NewStream()
	b.SetBytes(int64(len(suggestive)))
	b.ReportAllocs()
	for b.Loop() {
		for i := 0; i < len(suggestive); i += 200 {
			s.Write(suggestive[i:min(i+200, len(suggestive))])
		}
		s.Close()
	}
}

// BenchmarkContents scans what agents are really sent. The worst of it counts.
func BenchmarkContents(b *testing.B) {
	for _, k := range contents.Kinds() {
		b.Run(strings.ReplaceAll(k.Name, " ", "_"), func(b *testing.B) {
			b.SetBytes(int64(len(k.Text)))
			b.ReportAllocs()
			for b.Loop() {
				Scan(k.Text)
			}
		})
	}
}
