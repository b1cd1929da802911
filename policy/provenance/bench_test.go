package provenance

import (
	"strings"
	"testing"
)

// BenchmarkTrace is what a decision costs for its targets.
func BenchmarkTrace(b *testing.B) {
	said := NewWords(strings.Repeat("please look at docs/a.md and at https://example.com/a ", 50))
	page := strings.Repeat("some words of a long page, with docs/x.md and others\n", 1200) // 64 KiB
	for _, bb := range []struct {
		name   string
		read   []Text
		target Target
	}{
		{"said", nil, Target{Kind: Path, Value: "docs/a.md"}},
		{"said, 1 MiB read", many(16, page), Target{Kind: Path, Value: "docs/a.md"}},
		{"unknown, nothing read", nil, Target{Kind: Path, Value: "docs/none.md"}},
		{"unknown, 64 KiB read", many(1, page), Target{Kind: Path, Value: "docs/none.md"}},
		{"unknown, 1 MiB read", many(16, page), Target{Kind: Path, Value: "docs/none.md"}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			trail := Trail{Said: said, Read: bb.read}
			b.ReportAllocs()
			for b.Loop() {
				trail.Trace([]Target{bb.target})
			}
		})
	}
	b.Run("words of 64 KiB", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			NewWords(page).Name(Path, "x")
		}
	})
}

func many(n int, text string) []Text {
	all := make([]Text, n)
	for i := range all {
		all[i] = Text{"tool:read_file", text}
	}
	return all
}
