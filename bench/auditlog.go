package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// auditPackage has the benchmark of the log against bare SQLite.
const (
	auditPackage   = "./audit/sqlite"
	auditBenchmark = "BenchmarkRecord"
)

// audit runs the audit log's own benchmark, which compares the two in turns, and reads its
// figures.
func (b *bench) audit(ctx context.Context) error {
	if _, err := os.Stat("go.mod"); err != nil {
		return fmt.Errorf("looking for package %s: %w; run bench in the root of the repository, or leave the part out with -only", auditPackage, err)
	}
	var rounds []auditFigures
	for range b.plan.rounds {
		c := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "^"+auditBenchmark+"$", "-benchtime", b.plan.audit, auditPackage)
		c.Stderr = os.Stderr
		out, err := c.Output()
		if err != nil {
			return fmt.Errorf("running the audit log's benchmark: %w\n%s", err, out)
		}
		f, err := auditFiguresOf(string(out))
		if err != nil {
			return err
		}
		rounds = append(rounds, f)
	}
	b.report.Audit = &auditFigures{
		Log:   medianOf(rounds, func(f auditFigures) float64 { return f.Log }),
		Bare:  medianOf(rounds, func(f auditFigures) float64 { return f.Bare }),
		Ratio: medianOf(rounds, func(f auditFigures) float64 { return f.Ratio }),
	}
	return nil
}

// auditFiguresOf reads the line of a benchmark: its name, and then values each before its unit.
func auditFiguresOf(out string) (auditFigures, error) {
	var f auditFigures
	units := map[string]*float64{"log-events/s": &f.Log, "bare-events/s": &f.Bare, "ratio": &f.Ratio}
	for line := range strings.Lines(out) {
		words := strings.Fields(line)
		if len(words) == 0 || !strings.HasPrefix(words[0], auditBenchmark) {
			continue
		}
		for i, word := range words {
			into := units[word]
			if into == nil {
				continue
			}
			var err error
			if *into, err = strconv.ParseFloat(words[i-1], 64); err != nil {
				return f, fmt.Errorf("reading the benchmark's %s: %w", word, err)
			}
		}
	}
	if f.Log == 0 || f.Bare == 0 || f.Ratio == 0 {
		return f, fmt.Errorf("reading the benchmark: log-events/s, bare-events/s or ratio is missing in\n%s", out)
	}
	return f, nil
}
