package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// machine describes what the figures depend on, the load that others made before included.
func machine() string {
	model := "unknown processor"
	for line := range strings.Lines(procText("/proc/cpuinfo")) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			model = strings.TrimSpace(value)
			break
		}
	}
	load, _, _ := strings.Cut(procText("/proc/loadavg"), " ")
	return fmt.Sprintf("%d × %s, %s %s, Linux %s, load %s before",
		runtime.NumCPU(), model, runtime.GOARCH, runtime.Version(), strings.TrimSpace(procText("/proc/sys/kernel/osrelease")), load)
}

func procText(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "unknown" // a figure's context, not a figure
	}
	return string(text)
}

// syncFigures are how long the disk takes to make 4 KiB durable. A durable log can be no faster.
type syncFigures struct{ P50, P99 time.Duration }

// probeDisk measures the disk that the services work on.
func (b *bench) probeDisk() (err error) {
	f, err := os.Create(filepath.Join(b.site.dir, "probe"))
	if err != nil {
		return fmt.Errorf("probing the disk: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	page := make([]byte, 4<<10)
	took := make([]time.Duration, 100)
	for i := range took {
		start := time.Now()
		if _, err := f.Write(page); err != nil {
			return fmt.Errorf("probing the disk: %w", err)
		}
		if err := f.Sync(); err != nil {
			return fmt.Errorf("probing the disk: %w", err)
		}
		took[i] = time.Since(start)
	}
	slices.Sort(took)
	b.report.Sync = append(b.report.Sync, syncFigures{percentile(took, 50), percentile(took, 99)})
	return nil
}
