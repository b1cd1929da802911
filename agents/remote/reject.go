package remote

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/agents/remote/protocol"
)

// Requested implements [approval.Notifier].
func (t *Tasks) Requested(context.Context, approval.View) {}

// Decided implements [approval.Notifier]: a person's no is told to the remote, whatever the model does. A yes
// is sent by the call that has it.
func (t *Tasks) Decided(_ context.Context, v approval.View) {
	if v.Tool != ToolAnswer || v.Outcome != string(approval.Rejected) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.closed {
		t.work.Go(func() {
			t.acted(t.base, v.ID)
			if err := t.reject(t.base, v); err != nil {
				t.Log.Warn("telling a remote sub-agent that a person said no failed", zap.String("approval", v.ID), zap.Error(err))
			}
		})
	}
}

// acted waits until the gate has acted on an approval, so that its call ends as rejected: once the remote is told,
// it does not wait any more. When the run's process has died, nobody acts for some time.
func (t *Tasks) acted(ctx context.Context, id string) {
	for pause := 10 * time.Millisecond; pause < maxPause; pause *= 2 {
		a, err := t.Approvals.Approval(ctx, id)
		if err == nil && (a.State == approval.Consumed || a.State == approval.Cancelled) || !sleep(ctx, pause) {
			return
		}
	}
}

// reject sends a no to all that was asked for, if it is still asked for.
func (t *Tasks) reject(ctx context.Context, v approval.View) error {
	var asked Answer
	if err := json.Unmarshal(v.Input, &asked); err != nil {
		return err
	}
	task, err := t.Store.RemoteTask(ctx, asked.Task)
	if err != nil || task.Owner != v.UserID {
		return err
	}
	r := t.remote(task.Remote)
	if r == nil {
		return nil
	}
	if task, err = t.look(ctx, r, task, true); err != nil {
		return err
	}
	if task.Status != Waiting || task.Asks.Unfit != "" || task.Asks.questions() || !slices.Equal(interrupts(asked.Asks), interrupts(task.Asks.List)) {
		return nil // it asks for something else, or has been told otherwise
	}
	no := Decision{Type: reject, Message: "a person said no"}
	if n := len(v.Votes); n > 0 && v.Votes[n-1].Comment != "" {
		no.Message += ": " + v.Votes[n-1].Comment
	}
	resume, err := task.Asks.resume(slices.Repeat([]Decision{no}, len(task.Asks.List)), nil)
	if err == nil {
		task, err = t.again(ctx, task)
	}
	if err == nil {
		_, err = t.send(ctx, r, task, protocol.Start{Resume: resume})
	}
	return err
}

// interrupts are the ids of what is asked for.
func interrupts(list []Ask) (ids []string) {
	for _, k := range list {
		ids = append(ids, k.Interrupt)
	}
	return ids
}
