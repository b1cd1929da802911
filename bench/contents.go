package main

import (
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/svc-gateway/svc/internal/contents"
	"github.com/svc-gateway/svc/scanner/inject"
)

// contents measures how fast the scanner reads what agents are really sent, each kind for itself, in
// this process and with one goroutine. The worst kind of text counts.
func (b *bench) contents(ctx context.Context) error {
	scans := 5 * b.plan.rounds
	for _, k := range contents.Kinds() {
		if err := ctx.Err(); err != nil {
			return err
		}
		f := contentFigures{Kind: k.Name, Bytes: len(k.Text), Binary: k.Binary, Rate: scanRate(k.Text, scans)}
		f.Allocs = scanAllocs(k.Text)
		b.report.Contents = append(b.report.Contents, f)
	}
	return nil
}

// scanRate is the best of some scans of a text, in bytes a second: what other programs take of the
// processor is none of the scanner's.
func scanRate(text string, scans int) float64 {
	inject.Scan(text) // makes what is made once
	best := time.Hour
	for range scans {
		begun := time.Now()
		inject.Scan(text)
		best = min(best, time.Since(begun))
	}
	return float64(len(text)) / best.Seconds()
}

// scanAllocs is how often a scan of a text allocates memory, per KiB of it.
func scanAllocs(text string) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	inject.Scan(text)
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / (float64(len(text)) / bytesPerKiB)
}

// textRates are the rates of the kinds that are text, the worst first, and the name of the worst.
func textRates(list []contentFigures) (rates []float64, worst string) {
	for _, f := range list {
		if f.Binary {
			continue
		}
		if len(rates) == 0 || f.Rate < slices.Min(rates) {
			worst = f.Kind
		}
		rates = append(rates, f.Rate)
	}
	slices.Sort(rates)
	return rates, worst
}
