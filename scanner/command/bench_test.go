package command

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"
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
	"mixed":         "FOO=1 sudo env A=b timeout 5 bash -c \"ls $FOO\" | tee x > /tmp/y; ",
}

// longest is a line of the greatest length that is analysed.
func longest(of string) string { return strings.Repeat(of, maxLine/len(of)+1)[:maxLine] }

// However a line is made, its analysis does no more than so much. Time cannot be tested, allocations can.
func TestWorkIsBounded(t *testing.T) {
	for name, of := range entangled {
		t.Run(name, func(t *testing.T) {
			line := longest(of)
			if n := testing.AllocsPerRun(1, func() { Analyze(line) }); n > 20_000 {
				t.Errorf("%.0f allocations", n)
			}
			a := newAnalysis(line)
			if c := a.run(); a.work >= lineWork && c.Class != Dangerous {
				t.Errorf("the work was not finished, and the class is %s", c.Class)
			}
		})
	}
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
	b.ReportAllocs()
	for b.Loop() {
		for i, line := range lines {
			began := time.Now()
			Analyze(line)
			best[i] = min(best[i], time.Since(began))
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
			for b.Loop() {
				Analyze(line)
			}
		})
	}
}
