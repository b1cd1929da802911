package agents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/svc-gateway/svc/agents/analytics"
	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/internal/duckwire"
)

const (
	// queryMemory is what a process that asks the database may take beside the database's own memory.
	queryMemory = 512 << 20
	// queryTasks is how many threads it may have beside those of the database.
	queryTasks = 64
	// queryTime is how long it may take; its context ends before.
	queryTime = 2 * time.Hour
)

// query runs a process that asks the analytical database, which confines itself, in the sandbox too. It
// runs without one where there is none, and as long as that is not known.
func (b *box) query(ctx context.Context, p analytics.Process) ([]byte, error) {
	select {
	case <-b.ready:
	default:
		return analytics.RunHere(ctx, p)
	}
	if b.box == nil {
		return analytics.RunHere(ctx, p)
	}
	limits := sandbox.Limits{Memory: p.Memory + queryMemory, Processes: queryTasks + 2*p.Threads, Output: p.Output}
	r, err := b.box.With(limits, queryTime).Run(ctx, sandbox.Spec{
		Args: append([]string{sandbox.ReaderName}, p.Args...), Stdin: bytes.NewReader(p.Stdin),
		Network: sandbox.NoNetwork, Database: &sandbox.Database{File: p.Reads, Reader: p.Path},
	})
	switch {
	case err != nil:
		return nil, err
	case r.Truncated:
		return nil, errors.New("the process writes more than it may")
	case r.OOM:
		return nil, duckwire.Faultf(duckwire.CodeMemory, "the memory of the sandbox was used up")
	case r.Exit != 0:
		return []byte(r.Stdout), fmt.Errorf("running %s: exit code %d %s", p.Path, r.Exit, r.Signal)
	}
	return []byte(r.Stdout), nil
}
