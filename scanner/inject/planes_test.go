package inject

import (
	"strings"
	"testing"
)

// The planes say of each byte what the table says, and where the next of a kind stands.
func FuzzPlanes(f *testing.F) {
	for _, unit := range hostile {
		f.Add(strings.Repeat(unit, 1+130/len(unit)))
	}
	f.Fuzz(func(t *testing.T, s string) {
		var p planes
		p.chart(s)
		for plane := range allPlanes {
			next := len(s)
			for i := len(s) - 1; i >= 0; i-- {
				is := kinds[s[i]]>>plane&1 != 0
				if is {
					next = i
				}
				if got := p.at(plane, i)&1 != 0; got != is {
					t.Fatalf("plane %d, byte %d of %q: got %v, want %v", plane, i, s, got, is)
				}
				if got := p.next(plane, i); got != next {
					t.Fatalf("plane %d, next from %d on in %q: got %d, want %d", plane, i, s, got, next)
				}
			}
		}
	})
}
