package usage

import (
	"strings"
	"testing"
)

func words(line string) (list []Word) {
	for _, f := range strings.Fields(line) {
		list = append(list, Word{Text: f, Fixed: true})
	}
	return list
}

func TestTables(t *testing.T) {
	if n := len(specs()); n < 1000 {
		t.Errorf("got %d programs and subcommands", n)
	}
}

func BenchmarkRead(b *testing.B) {
	w := words("-u nginx --since today -n 50 --no-pager")
	b.ReportAllocs()
	for b.Loop() {
		Read("journalctl", w)
	}
}

func BenchmarkTables(b *testing.B) {
	for b.Loop() {
		t := tables{specs: make(map[string]*spec, 2000), sets: make(map[string]string)}
		files, _ := programs.ReadDir("programs")
		for _, f := range files {
			text, _ := programs.ReadFile("programs/" + f.Name())
			_ = t.add(string(text))
		}
	}
}
