package remote

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/own"
	"github.com/svc-gateway/svc/agents/remote/protocol"
)

// errChanged says that leave was given for something else than the remote asks for now.
var errChanged = errors.New("the remote asks for something else than what was decided on, or for nothing any more: nothing was sent; look with check_remote")

// start hands a task to a remote.
func (t *Tasks) start(ctx context.Context, tc agents.ToolContext, name, text string) (Task, error) {
	r, err := t.there(ctx, name)
	if err != nil {
		return Task{}, err
	}
	now := t.Now().UTC().Truncate(time.Millisecond)
	task := Task{
		ID: name + "-" + strings.ToLower(rand.Text()[:8]), Owner: own.Of(tc.Principal), Thread: tc.Thread, Agent: tc.Agent, Remote: name,
		Text: t.secrets().Redact(text), RemoteThread: uuid.NewString(), Sent: 1, Status: Starting, Created: now, Began: now, Updated: now, Version: 1,
	}
	err = t.Store.CreateTask(context.WithoutCancel(ctx), task)
	if errors.Is(err, ErrFull) {
		return task, fmt.Errorf("%d tasks of this user are under way at remote agents, which are as many as may: wait for one, or cancel one", MaxOpen)
	}
	if err != nil {
		return task, err
	}
	err = r.Client.CreateThread(ctx, task.RemoteThread)
	if err == nil {
		return t.send(ctx, r, task, protocol.Start{Text: text})
	}
	if _, saving := t.change(ctx, task.ID, func(k *Task) { k.Status, k.Failure = Failed, err.Error() }); saving != nil {
		return task, errors.Join(err, saving)
	}
	return task, fmt.Errorf("%s: %w", Name(name), err)
}

// there is a remote of the settings that has answered before, or answers now.
func (t *Tasks) there(ctx context.Context, name string) (*Remote, error) {
	r := t.remote(name)
	if r == nil {
		return nil, fmt.Errorf("there is no agent %s in the settings any more", Name(name))
	}
	if !r.ready.Load() {
		if err := r.reach(ctx); err != nil {
			return nil, fmt.Errorf("%s cannot be reached at present: %w", Name(name), err)
		}
	}
	return r, nil
}

// send asks the remote for a run of a task that is saved as starting. When it is unclear whether that came to
// anything, the goroutine that follows the task finds out.
func (t *Tasks) send(ctx context.Context, r *Remote, task Task, s protocol.Start) (Task, error) {
	s.Assistant, s.Request = r.Assistant, fmt.Sprintf("%s/%d", task.ID, task.Sent)
	run, err := r.Client.Start(ctx, task.RemoteThread, s)
	refusal, answered := errors.AsType[*protocol.Error](err)
	clear := answered && !refusal.Unclear()
	now, saving := t.change(ctx, task.ID, func(k *Task) {
		switch {
		case err == nil:
			if run.ID != k.RemoteRun {
				k.RemoteRun, k.LastEvent, k.Steps = run.ID, "", 0
			}
			k.Status, k.Asks, k.Failure, k.Began = Running, nil, "", t.Now().UTC()
		case clear && k.RemoteRun == "":
			k.Status, k.Failure = Failed, err.Error()
		}
	})
	t.watch(task.ID)
	if err = errors.Join(err, saving); err != nil {
		return now, fmt.Errorf("%s: %w", task.name(), err)
	}
	return now, nil
}

// own is a task of the caller's, with its remote.
func (t *Tasks) own(ctx context.Context, tc agents.ToolContext, id string) (Task, *Remote, error) {
	task, err := t.Store.RemoteTask(ctx, id)
	if errors.Is(err, ErrNotFound) || err == nil && task.Owner != own.Of(tc.Principal) {
		return task, nil, fmt.Errorf("there is no task %q: list_remote lists the tasks that there are", cut(id, 80))
	}
	if err != nil {
		return task, nil, err
	}
	r := t.remote(task.Remote)
	if r == nil {
		return task, nil, fmt.Errorf("there is no agent %s in the settings any more", task.name())
	}
	return task, r, nil
}

// again saves that another run is asked for. What was looked at must still be how things are.
func (t *Tasks) again(ctx context.Context, task Task) (Task, error) {
	task.Status, task.Asks, task.Unread, task.Failure = Starting, nil, false, ""
	task.Began = t.Now().UTC()
	task.Sent++
	err := t.save(ctx, &task)
	if errors.Is(err, ErrConflict) {
		err = errChanged
	}
	return task, err
}

// update tells a remote more. What it is at ends; it goes on with what it has been told in all.
func (t *Tasks) update(ctx context.Context, tc agents.ToolContext, id, text string) (Task, error) {
	task, r, err := t.own(ctx, tc, id)
	if err == nil {
		task, err = t.again(ctx, task)
	}
	if err != nil {
		return task, err
	}
	return t.send(ctx, r, task, protocol.Start{Text: text})
}

// cancel ends a task.
func (t *Tasks) cancel(ctx context.Context, tc agents.ToolContext, id string) (Task, error) {
	task, r, err := t.own(ctx, tc, id)
	if err != nil {
		return task, err
	}
	if task, err = t.look(ctx, r, task, true); err != nil {
		return task, fmt.Errorf("%s: %w", task.name(), err)
	}
	if task.Status.Final() {
		return task, nil
	}
	err = r.Client.Cancel(ctx, task.RemoteThread, task.RemoteRun)
	if e, ok := errors.AsType[*protocol.Error](err); ok && task.Status == Waiting && e.Status/100 == 4 {
		err = nil // at some servers a run that waits is over; nobody answers it any more
	}
	if err != nil {
		return task, fmt.Errorf("%s: %w", task.name(), err)
	}
	return t.change(ctx, id, func(k *Task) { k.Status, k.Asks, k.Unread = Cancelled, nil, false })
}

// answer sends the answer to what a remote waits for, if it still waits for just that.
func (t *Tasks) answer(ctx context.Context, tc agents.ToolContext, a Answer) (Task, error) {
	task, r, err := t.own(ctx, tc, a.Task)
	if err != nil {
		return task, err
	}
	if task, err = t.look(ctx, r, task, true); err != nil {
		return task, fmt.Errorf("%s: %w", task.name(), err)
	}
	if task.Status != Waiting || !same(&Asks{List: a.Asks}, task.Asks) {
		return task, errChanged
	}
	resume, err := task.Asks.resume(a.Decisions, a.Answer)
	if err == nil {
		task, err = t.again(ctx, task)
	}
	if err != nil {
		return task, err
	}
	return t.send(ctx, r, task, protocol.Start{Resume: resume})
}

// check is how a task stands, after waiting for it for some time.
func (t *Tasks) check(ctx context.Context, tc agents.ToolContext, id string, wait time.Duration) (Task, error) {
	const often = 2 * time.Second
	ends := t.Now().Add(wait)
	for {
		news := t.news()
		task, r, err := t.own(ctx, tc, id)
		if err != nil {
			return task, err
		}
		if task, err = t.look(ctx, r, task, true); err != nil {
			return task, fmt.Errorf("%s: %w", task.name(), err)
		}
		left := ends.Sub(t.Now())
		if task.Status.Final() || task.Status == Waiting || left <= 0 {
			if task.Unread {
				task, err = t.change(ctx, id, func(k *Task) { k.Unread = false })
			}
			return task, err
		}
		select {
		case <-news:
		case <-time.After(min(often, left)):
		case <-ctx.Done():
			return task, ctx.Err()
		}
	}
}

// Answer is what the tool answer_remote sends, as people are shown it.
type Answer struct {
	Task      string          `json:"task"`
	Remote    string          `json:"remote"`
	Asks      []Ask           `json:"asks"`
	Decisions []Decision      `json:"decisions,omitempty"`
	Answer    json.RawMessage `json:"answer,omitempty"`
}
