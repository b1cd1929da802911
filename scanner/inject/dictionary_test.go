package inject

import "testing"

// The rows of the table lead where the tree does.
func TestTable(t *testing.T) {
	for name, l := range map[string]*dictionary{"plain": plainWords(), "wide": wideWords(), "leet": leetWords(), "joined": joinedWords()} {
		for i, got := range l.table {
			n, class := uint32(i)/l.stride, uint8(uint32(i)%l.stride)
			if want := l.states[l.after(n, class)]; got != want {
				t.Fatalf("%s: class %d leads from node %d to %d, want %d", name, class, n, got, want)
			}
		}
	}
}
