package main

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
)

// keptFigures say what threads and runs that are over leave in the service's memory.
type keptFigures struct {
	Threads int // with one run each
	Took    time.Duration
	Before  memory // after one hundred of them and a pause
	After   memory // at once
	Idle    memory // after a pause
}

// kept makes many threads, each with a run, and reads the memory of the service.
func (b *bench) kept(ctx context.Context) error {
	sv, err := b.site.web(ctx, "kept", "SVC_RUNTIME_PROJECT_ROOT="+b.site.dir)
	if err != nil {
		return err
	}
	defer sv.stop()
	s := speaker{sv, "quick"}
	f := keptFigures{Threads: b.plan.threads}
	if err := s.converse(ctx, 100); err != nil { // what is made once is not counted
		return err
	}
	if err := pause(ctx, b.plan.settle); err != nil {
		return err
	}
	if f.Before, err = residentMemory(sv.pid()); err != nil {
		return err
	}
	b.progress("%d threads with a run each", f.Threads)
	begun := time.Now()
	if err := s.converse(ctx, f.Threads); err != nil {
		return err
	}
	f.Took = time.Since(begun)
	if f.After, err = residentMemory(sv.pid()); err != nil {
		return err
	}
	if err := pause(ctx, 12*b.plan.settle); err != nil {
		return err
	}
	if f.Idle, err = residentMemory(sv.pid()); err != nil {
		return err
	}
	b.report.Kept = &f
	return nil
}

// converse makes n threads, sixteen at a time, and waits for a run in each.
func (s speaker) converse(ctx context.Context, n int) error {
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(16)
	for range n {
		all.Go(func() error {
			id, err := s.newThread(ctx)
			if err != nil {
				return err
			}
			return s.ask(ctx, id)
		})
	}
	return all.Wait()
}

// ask waits for a run in a thread.
func (s speaker) ask(ctx context.Context, thread string) error {
	answer, err := s.send(ctx, "/threads/"+thread+"/runs/wait",
		fmt.Appendf(nil, `{"assistant_id":%q,"input":{"messages":[{"role":"user","content":%q}]}}`, s.assistant, asked))
	if err == nil && !bytes.Contains(answer, []byte(`"type":"ai"`)) {
		err = fmt.Errorf("%w: %s", errBody, lastLines(answer))
	}
	return err
}
