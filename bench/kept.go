package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
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

// errNoAnswer means that a run ended without one.
var errNoAnswer = errors.New("the run has no answer")

// ask waits for a run in a thread.
func (s speaker) ask(ctx context.Context, thread string) error {
	body := fmt.Appendf(nil, `{"assistant_id":%q,"input":{"messages":[{"role":"user","content":"Tell me about yourself"}]}}`, s.assistant)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.addr+"/threads/"+thread+"/runs/wait", bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("asking: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+s.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("asking: %w", err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && (resp.StatusCode != http.StatusOK || !bytes.Contains(answer, []byte(`"type":"ai"`))) {
		err = fmt.Errorf("%w: %s: %s", errNoAnswer, resp.Status, lastLines(answer))
	}
	return err
}
