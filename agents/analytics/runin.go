package analytics

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/svc-gateway/svc/agents/sandbox"
)

// What a process that asks may take in a sandbox beside what the database in it may.
const (
	besideMemory = 512 << 20
	besideTasks  = 64
	besideTime   = 2 * time.Hour // its context ends before
)

// RunIn is a Runner that puts a sandbox around the process, which confines itself as well.
func RunIn(box *sandbox.Box) Runner {
	return func(ctx context.Context, p Process) ([]byte, error) {
		limits := sandbox.Limits{Memory: p.Memory + besideMemory, Processes: besideTasks + 2*p.Threads, Output: p.Output}
		r, err := box.With(limits, besideTime).Run(ctx, sandbox.Spec{
			Args: append([]string{sandbox.ReaderName}, p.Args...), Stdin: bytes.NewReader(p.Stdin),
			Network: sandbox.NoNetwork, Database: &sandbox.Database{File: p.Reads, Reader: p.Path},
		})
		switch {
		case err != nil:
			return nil, fmt.Errorf("running %s: %w", p.Path, err)
		case r.Truncated:
			return nil, errTooMuch
		case r.OOM:
			return nil, errors.New("the memory of the sandbox was used up")
		case r.Exit != 0:
			return []byte(r.Stdout), fmt.Errorf("running %s: exit code %d %s", p.Path, r.Exit, r.Signal)
		}
		return []byte(r.Stdout), nil
	}
}
