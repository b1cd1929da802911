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

// A word that begins another command of the program proves nothing, wherever it stands.
func TestSeparators(t *testing.T) {
	for program, ends := range separators {
		for name := range specs() {
			if name != program && !strings.HasPrefix(name, program+" ") {
				continue
			}
			for _, end := range ends {
				for _, more := range []string{string(end), "x" + string(end), string(end) + "x", "a" + string(end) + "b"} {
					for _, before := range []string{"", " -a", " -t", " -c", " x", " --"} {
						line := strings.TrimPrefix(name+before, program)
						list := append(words(line), Word{Text: more, Fixed: true}, Word{Text: "kill-server", Fixed: true})
						if r, _ := Read(program, list); r.Reads || r.Inner > 0 {
							t.Errorf("%s%s %q kill-server: got reading", program, line, more)
						}
					}
				}
			}
		}
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
