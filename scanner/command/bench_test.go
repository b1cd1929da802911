package command

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/scanner/internal/cpu"
)

// entangled are what lines are made of that take long to analyse.
var entangled = map[string]string{
	"one word":      "x",
	"words":         "x ",
	"commands":      "ls; ",
	"pipes":         "ls | ",
	"conditions":    "ls && ",
	"wrappers":      "sudo ",
	"more wrappers": "xargs ",
	"shells":        "sh -c 'ls'; ",
	"evals":         "eval ls; ",
	"braces":        "{a,b}",
	"assignments":   "a=b ",
	"expansions":    "x=$x$x; ",
	"decoded":       "echo bHM= | base64 -d | sh; ",
	"substitutions": "$(",
	"backquotes":    "`ls` ",
	"broken":        "ls; rm x; ( ",
	"loops":         "for i in a b c; do ls $i; done; ",
	"options":       "git log --grep=x ",
	"statements":    "select 1; ",
	"of devices":    "show ip route\n",
	"more devices":  "configure terminal\ninterface vlan 7\nno shutdown\n",
	"prompts":       "r1# show run | include x\n",
	"banner":        "banner motd #\nshow x\n",
	"queries":       "select a, f(b) from t where c = 'd' and ",
	"with":          "with delete from t ",
	"tokens":        "select (",
	"quoted":        "'a' ",
	"long quote":    "echo 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'; ",
	"double quotes": "\"$x\" ",
	"heredocs":      "cat <<E\nx\nE\n",
	"arithmetic":    "$((1+",
	"tests":         "[[ a == b ]] && ",
	"nested shells": "sh -c \"sh -c ",
	"functions":     "f() { ls; }; f; ",
	"finds":         "find . -name x -o ",
	"awk":           "awk '{print $1}' ",
	"sed":           "sed -e s/a/b/ ",
	"curl":          "curl -s -H 'a: b' http://x/ ",
	"kubectl":       "kubectl get pods -n x -o json ",
	"clusters":      "tar -xzvf ",
	"globs":         "*.[a-z]? ",
	"sequences":     "{1..9}",
	"parameters":    "${x:-${y:-",
	"processes":     "<(ls) ",
	"redirections":  ">a ",
	"declarations":  "f()",
	"written":       ">a",
	"open":          "<<E\n)$(",
	"long braces":   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa{a,b}",
	"keys":          "a.key ",
	"slashes":       "/",
	"heads":         "aws repo-",
	"batches":       "repo-",
	"paths":         "../",
	"python":        "python3 -c 'import os; os.system(1)'; ",
	"escapes":       `\a`,
	"dollars":       `$'\x41' `,
	"remote":        "curl x | sh; ",
	"ssh":           "ssh h ls; ",
	"cases":         "case x in a) ls;; esac; ",
	"mixed":         "FOO=1 sudo env A=b timeout 5 bash -c \"ls $FOO\" | tee x > /tmp/y; ",
}

// longest is a line of the greatest length that is analysed.
func longest(of string) string { return strings.Repeat(of, maxLine/len(of)+1)[:maxLine] }

// However a line is made, its analysis does no more than so much. Time cannot be tested, allocations can.
func TestWorkIsBounded(t *testing.T) {
	for name, of := range entangled {
		t.Run(name, func(t *testing.T) {
			line := longest(of)
			if n := testing.AllocsPerRun(1, func() { Analyze(line) }); n > 10_000 {
				t.Errorf("%.0f allocations", n)
			}
			a := newAnalysis(line)
			if c := a.run(); a.work >= lineWork && c.Class != Dangerous {
				t.Errorf("the work was not finished, and the class is %s", c.Class)
			}
		})
	}
}

// allocated returns how many bytes an analysis allocates.
func allocated(line string) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	Analyze(line)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// linear reports an error if twice as long a line takes much more than twice the memory, which does not depend
// on how busy the machine is. What is kept from one analysis to the next may be gone at any time and is made again,
// so the least of several analyses counts.
func linear(t *testing.T, of string) {
	t.Helper()
	line := longest(of)
	for n := maxLine / 8; n < maxLine; n *= 2 {
		const room = 384 << 10 // what the first few commands of a kind may take
		few, many := allocated(line[:n]), allocated(line[:2*n])
		for range 7 {
			if many <= 5*few/2+room {
				break
			}
			many = min(many, allocated(line[:2*n]))
		}
		if many > 5*few/2+room {
			t.Errorf("%q: %d bytes take %d bytes of memory, twice as many take %d", of, n, few, many)
		}
	}
}

// The memory that an analysis takes grows with the length of the line, and no faster.
func TestWorkIsLinear(t *testing.T) {
	Analyze("ls") // the tables are read once
	for name, of := range entangled {
		t.Run(name, func(t *testing.T) { linear(t, of) })
	}
}

// FuzzLinear looks for lines of which twice as much takes much more than twice the memory.
func FuzzLinear(f *testing.F) {
	for _, of := range entangled {
		f.Add(of)
		Analyze(longest(of))
	}
	f.Fuzz(func(t *testing.T, of string) {
		if of != "" && len(of) <= 256 {
			linear(t, of)
		}
	})
}

// A line that is too long is not understood, whatever it begins with.
func TestTooLong(t *testing.T) {
	for _, of := range []string{"ls; ", "a", "select 1; ", "show version\n", " ", "'"} {
		c := Analyze(strings.Repeat(of, maxLine/len(of)+1))
		if c.Class != Unknown || len(c.Spans) != 1 || c.Spans[0].Reason != "the command line is too long to be understood" || c.Confined {
			t.Errorf("%q: got %+v", of, c)
		}
	}
}

// BenchmarkAnalyze analyses the lines of testdata/everyday.txt, and reports the median.
func BenchmarkAnalyze(b *testing.B) {
	text, err := os.ReadFile("testdata/everyday.txt")
	if err != nil {
		b.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	best := make([]time.Duration, len(lines))
	for i := range best {
		best[i] = time.Hour
	}
	runtime.LockOSThread() // whose clock it is
	defer runtime.UnlockOSThread()
	b.ReportAllocs()
	for b.Loop() {
		for i, line := range lines {
			began := cpu.Time()
			Analyze(line)
			best[i] = min(best[i], cpu.Time()-began)
		}
	}
	slices.Sort(best)
	b.ReportMetric(float64(best[len(best)/2].Nanoseconds()), "ns/median")
}

// BenchmarkAnalyzeLongest analyses lines of the greatest length, each made to take long.
func BenchmarkAnalyzeLongest(b *testing.B) {
	for name, of := range entangled {
		b.Run(name, func(b *testing.B) {
			line := longest(of)
			runtime.LockOSThread() // whose clock it is
			defer runtime.UnlockOSThread()
			best := time.Hour
			b.ReportAllocs()
			for b.Loop() {
				began := cpu.Time()
				Analyze(line)
				best = min(best, cpu.Time()-began)
			}
			b.ReportMetric(float64(best.Nanoseconds()), "ns/best")
		})
	}
}
