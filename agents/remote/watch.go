package remote

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/remote/protocol"
)

// pickUp follows the tasks that are under way, those of processes that have died too.
func (t *Tasks) pickUp(ctx context.Context) {
	for pause := t.Pause; ; pause = min(2*pause, maxPause) {
		list, err := t.Store.RemoteTasks(ctx, Filter{Open: true, Limit: 10_000})
		for _, task := range list {
			t.watch(task.ID)
		}
		if err == nil || ctx.Err() != nil {
			return
		}
		t.Log.Warn("finding the tasks of remote sub-agents failed, trying again", zap.Error(err))
		if !sleep(ctx, pause) {
			return
		}
	}
}

// watch has a goroutine follow a task to its end. There is at most one in this process.
func (t *Tasks) watch(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return
	}
	if _, there := t.watched[id]; there {
		t.watched[id] = true
		return
	}
	t.watched[id] = false
	t.work.Go(func() {
		for again := true; again; {
			t.follow(t.base, id)
			t.mu.Lock()
			if again = t.watched[id]; again {
				t.watched[id] = false
			} else {
				delete(t.watched, id)
			}
			t.mu.Unlock()
		}
	})
}

// follow follows a task until it is over, or its remote is not in the settings any more. The stream says when
// there is something new; how things stand is asked for. A stream that breaks or floods is only slower.
func (t *Tasks) follow(ctx context.Context, id string) {
	pause := t.Pause
	for {
		task, err := t.Store.RemoteTask(ctx, id)
		if errors.Is(err, ErrNotFound) || err == nil && task.Status.Final() {
			return
		}
		if err == nil {
			r := t.remote(task.Remote)
			if r == nil {
				return
			}
			before := task.Version
			if task, err = t.step(ctx, r, task); err == nil && task.Version != before {
				pause = t.Pause
			}
			if err == nil && task.Status.Final() {
				return
			}
		}
		if err != nil && ctx.Err() == nil {
			t.trouble(id, err)
		}
		if !sleep(ctx, pause) {
			return
		}
		pause = min(2*pause, maxPause)
	}
}

// step follows the stream of a task as far as it goes, and asks how the task stands.
func (t *Tasks) step(ctx context.Context, r *Remote, task Task) (Task, error) {
	if left := maxAge - t.Now().Sub(task.Began); left <= 0 {
		return t.giveUp(ctx, r, task)
	}
	if task.Status == Running && task.RemoteRun != "" {
		var err error
		if task, err = t.join(ctx, r, task); err != nil {
			return task, err
		}
	}
	return t.look(ctx, r, task, false)
}

// join reads the stream of a task's run, from where it was read to before, and keeps how far it came.
func (t *Tasks) join(ctx context.Context, r *Remote, task Task) (Task, error) {
	const often = 2 * time.Second
	steps, last, kept := 0, task.LastEvent, t.Now()
	keep := func() error {
		now, err := t.change(ctx, task.ID, func(k *Task) {
			if k.RemoteRun == task.RemoteRun {
				k.Steps, k.LastEvent = k.Steps+steps, last
			}
		})
		if err == nil {
			task, steps, kept = now, 0, t.Now()
		}
		return err
	}
	err := r.Client.Join(ctx, task.RemoteThread, task.RemoteRun, task.LastEvent, func(e protocol.Event) {
		if e.ID != "" {
			last = e.ID
		}
		if e.Name == "updates" {
			steps++
		}
		if steps > 0 && t.Now().Sub(kept) > often {
			_ = keep() // it is kept again at the end
		}
	})
	if err != nil && ctx.Err() == nil {
		t.trouble(task.ID, err)
	}
	if steps == 0 && last == task.LastEvent {
		return task, nil
	}
	err = keep()
	return task, err
}

// giveUp ends a task that takes too long.
func (t *Tasks) giveUp(ctx context.Context, r *Remote, task Task) (Task, error) {
	if task.RemoteRun != "" {
		if err := r.Client.Cancel(ctx, task.RemoteThread, task.RemoteRun); err != nil {
			t.trouble(task.ID, err)
		}
	}
	task.Status, task.Failure, task.Asks, task.Unread = Timeout, "the remote had not come to an end after "+maxAge.String(), nil, true
	if err := t.save(ctx, &task); err != nil {
		return task, err
	}
	return task, t.record(ctx, &task)
}
