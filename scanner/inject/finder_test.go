package inject

import (
	"strings"
	"testing"

	"github.com/svc-gateway/svc/internal/contents"
)

// agree reports an error unless the finder finds the words that the automaton finds.
func agree(t *testing.T, s string) {
	t.Helper()
	var p planes
	p.chart(s)
	want := plainWords().hits(nil, s)
	got := plainFinder().hits(nil, s, &p)
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			show := func(list []hit) string {
				if i < len(list) {
					return s[list[i].start:list[i].end]
				}
				return "nothing"
			}
			t.Fatalf("word %d of %.200q: got %q, want %q", i, s, show(got), show(want))
		}
	}
}

func TestFinder(t *testing.T) {
	for _, k := range contents.Kinds() {
		agree(t, k.Text)
		agree(t, strings.ToUpper(k.Text))
	}
	for _, e := range threats {
		for _, s := range append(e.examples, e.counters...) {
			agree(t, s)
		}
	}
}

func FuzzFinder(f *testing.F) {
	for _, unit := range hostile {
		f.Add(unit)
	}
	for _, e := range threats {
		f.Add(strings.Join(e.examples, "\n"))
	}
	f.Fuzz(agree)
}
