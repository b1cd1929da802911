package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svc-gateway/svc/agents/sandbox"
)

// atOnce is how many sandboxes are started together.
const atOnce = 50

// peer is the command line of bubblewrap that comes nearest to a sandbox of ours: the same namespaces and
// the same kinds of mounts. It has no Landlock, filter, limits and control groups.
var peer = []string{
	"bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin",
	"--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "/bin/true",
}

// sandbox measures sandboxes from the start to the exit of true, in turns with bubblewrap's.
func (b *bench) sandbox(ctx context.Context) error {
	if _, err := exec.LookPath(peer[0]); err != nil {
		return fmt.Errorf("looking for bubblewrap: %w; install it, or leave the part out with -only", err)
	}
	box, err := sandbox.Open(ctx, sandbox.Config{Helper: filepath.Join(filepath.Dir(b.site.binary), "svc-sandbox")})
	if err != nil {
		return err
	}
	defer box.Close()
	f := &sandboxFigures{Mode: box.Mode()}
	var ours, theirs, row []time.Duration
	var ratios []float64
	for range b.plan.rounds {
		var o, p []time.Duration
		for range b.plan.sandboxes {
			if err := lap(&o, func() error { return runTrue(ctx, box) }); err != nil {
				return err
			}
			if err := lap(&p, exec.CommandContext(ctx, peer[0], peer[1:]...).Run); err != nil {
				return fmt.Errorf("running bubblewrap: %w", err)
			}
		}
		for range b.plan.sandboxes {
			if err := lap(&row, func() error { return runTrue(ctx, box) }); err != nil {
				return err
			}
		}
		ratios = append(ratios, float64(median(o))/float64(median(p)))
		ours, theirs = append(ours, o...), append(theirs, p...)
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	f.P50, f.P99, f.Row = percentile(ours, 50), percentile(ours, 99), median(row)
	f.Peer50, f.Peer99, f.Ratio = percentile(theirs, 50), percentile(theirs, 99), median(ratios)
	if f.Failed, f.AtOnce, err = crowdOfSandboxes(ctx, box); err != nil {
		return err
	}
	if f.Bomb, err = bomb(ctx, box); err != nil {
		return err
	}
	b.report.Sandbox = f
	return nil
}

func lap(into *[]time.Duration, do func() error) error {
	took, err := timed(do)
	*into = append(*into, took)
	return err
}

func runTrue(ctx context.Context, box *sandbox.Box) error {
	r, err := box.Run(ctx, sandbox.Spec{Args: []string{"/bin/true"}})
	if err == nil && r.Exit != 0 {
		err = fmt.Errorf("true ended with %d %s", r.Exit, r.Signal)
	}
	return err
}

// crowdOfSandboxes starts many at once and counts those that fail.
func crowdOfSandboxes(ctx context.Context, box *sandbox.Box) (failed int, took time.Duration, err error) {
	var all sync.WaitGroup
	var bad atomic.Int64
	start := time.Now()
	for range atOnce {
		all.Go(func() {
			if runTrue(ctx, box) != nil {
				bad.Add(1)
			}
		})
	}
	all.Wait()
	return int(bad.Load()), time.Since(start), ctx.Err()
}

// bomb measures how long a fork bomb lives after its time is over.
func bomb(ctx context.Context, box *sandbox.Box) (time.Duration, error) {
	const lives = time.Second
	start := time.Now()
	r, err := box.Run(ctx, sandbox.Spec{Args: []string{"bash", "-c", "b() { b | b & }; b; sleep 60"}, Timeout: lives})
	if err != nil {
		return 0, err
	}
	if !r.TimedOut {
		return 0, errors.New("the fork bomb ended by itself")
	}
	return time.Since(start) - lives, nil
}
