package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/svc-gateway/svc/internal/tcpport"
)

// start measures how long web start takes until the service answers, on a data folder that is
// new and on one that is not, and the memory of the service when nothing was asked of it yet.
func (b *bench) start(ctx context.Context) error {
	var fresh, again []time.Duration
	var idle []memory
	for i := range b.plan.starts {
		home, err := b.site.folder("start" + strconv.Itoa(i))
		if err != nil {
			return err
		}
		took, _, err := b.startOnce(ctx, home, false)
		if err != nil {
			return err
		}
		fresh = append(fresh, took)
		// Memory takes its time to settle; two processes are enough to see that it is the same.
		took, m, err := b.startOnce(ctx, home, i < 2)
		if err != nil {
			return err
		}
		again = append(again, took)
		if i < 2 {
			idle = append(idle, m)
		}
	}
	b.report.Start = &startFigures{
		Fresh: median(fresh), Again: median(again), Slowest: max(maximum(fresh), maximum(again)),
		Idle: memory{
			Resident: medianOf(idle, func(m memory) int64 { return m.Resident }),
			Own:      medianOf(idle, func(m memory) int64 { return m.Own }),
		},
	}
	return nil
}

func maximum(d []time.Duration) time.Duration {
	var most time.Duration
	for _, v := range d {
		most = max(most, v)
	}
	return most
}

// startOnce starts the service in the background, reads its memory if that is wanted, and stops
// it.
func (b *bench) startOnce(ctx context.Context, home string, idle bool) (took time.Duration, m memory, err error) {
	port, err := tcpport.Reserve()
	if err != nil {
		return 0, m, err
	}
	defer port.Close()
	env := b.site.env(home)
	begun := time.Now()
	_, err = b.site.command(ctx, env, "web", "start", "--host", "127.0.0.1", "--port", port.String())
	took = time.Since(begun)
	if err != nil {
		return 0, m, err
	}
	defer func() {
		// Also when the benchmark is interrupted.
		_, stopErr := b.site.command(context.WithoutCancel(ctx), env, "web", "stop")
		err = errors.Join(err, stopErr)
	}()
	if !idle {
		return took, m, nil
	}
	text, err := os.ReadFile(filepath.Join(home, "run", "service.pid"))
	if err != nil {
		return 0, m, fmt.Errorf("reading the service's pid: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, m, fmt.Errorf("reading the service's pid: %w", err)
	}
	if err := pause(ctx, b.plan.settle); err != nil {
		return 0, m, err
	}
	m, err = residentMemory(pid)
	return took, m, err
}
