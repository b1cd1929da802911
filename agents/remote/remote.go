package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/agents/remote/protocol"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/scanner/redact"
)

// Config is what tasks are kept with. Fields without a default are required.
type Config struct {
	Store     Store
	Approvals approval.Store // in which calls of answer_remote wait
	Audit     *audit.Log
	Log       *zap.Logger
	Now       func() time.Time // default time.Now
	Pause     time.Duration    // before a remote is asked again at first; default one second
}

// Remote is an agent of another service.
type Remote struct {
	Name        string // in the settings, without the prefix
	Description string
	Assistant   string // there
	Client      *protocol.Client
	// Tell is told why the remote cannot be used, and with an empty reason that it can. Default: nobody is.
	Tell func(reason string)

	ready atomic.Bool // it has answered
}

// maxPause is how long it takes at most until a remote is asked again.
const maxPause = 30 * time.Second

// Tasks keeps the tasks of remote agents. Make it with [Open].
type Tasks struct {
	Config
	base context.Context // of what goes on by itself; ends with Close
	stop context.CancelFunc
	work sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	serves  []*served       // the last one counts
	watched map[string]bool // by task; true: it has to be looked at once more
	changed chan struct{}   // closed when a task has changed
}

// served is what tasks work with.
type served struct {
	remotes []*Remote
	secrets *redact.Secrets
}

// Open returns tasks that nobody looks after yet.
func Open(c Config) *Tasks {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Pause <= 0 {
		c.Pause = time.Second
	}
	t := &Tasks{Config: c, watched: map[string]bool{}, changed: make(chan struct{})}
	t.base, t.stop = context.WithCancel(context.Background())
	return t
}

// Serve has tasks use these remotes, and keep none of the secrets, until the release is called; then what was
// before counts again. Each remote is asked whether it is there, again and again until it is, and the tasks
// that are under way are followed.
func (t *Tasks) Serve(remotes []*Remote, secrets *redact.Secrets) (release func()) {
	ctx, stop := context.WithCancel(t.base)
	t.mu.Lock()
	defer t.mu.Unlock()
	now := &served{remotes, secrets}
	t.serves = append(t.serves, now)
	if !t.closed {
		for _, r := range remotes {
			t.work.Go(func() { t.await(ctx, r) })
		}
		if len(remotes) > 0 {
			t.work.Go(func() { t.pickUp(ctx) })
		}
	}
	return func() {
		stop()
		t.mu.Lock()
		defer t.mu.Unlock()
		t.serves = slices.DeleteFunc(t.serves, func(s *served) bool { return s == now })
	}
}

// Close ends what goes on by itself. The remotes go on with their tasks, and the next process follows them.
func (t *Tasks) Close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.stop()
	t.work.Wait()
}

// now is what tasks work with now.
func (t *Tasks) now() *served {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.serves); n > 0 {
		return t.serves[n-1]
	}
	return new(served)
}

// remote is a remote of the settings; nil: there is none of this name.
func (t *Tasks) remote(name string) *Remote {
	for _, r := range t.now().remotes {
		if r.Name == name {
			return r
		}
	}
	return nil
}

func (t *Tasks) secrets() *redact.Secrets { return t.now().secrets }

// reach asks a remote whether it is there, and has its assistant.
func (r *Remote) reach(ctx context.Context) error {
	err := r.Client.Assistant(ctx, r.Assistant)
	if protocol.Gone(err) {
		err = fmt.Errorf("it has no assistant %q: correct assistant_id", r.Assistant)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.ready.Store(err == nil)
	if r.Tell != nil {
		reason := ""
		if err != nil {
			reason = "unreachable"
		}
		r.Tell(reason)
	}
	return err
}

// await asks a remote whether it is there until it is. The service does not wait for it.
func (t *Tasks) await(ctx context.Context, r *Remote) {
	for pause := t.Pause; ; pause = min(2*pause, maxPause) {
		err := r.reach(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			if pause > t.Pause {
				t.Log.Info("a remote sub-agent is there now", zap.String("agent", Name(r.Name)))
			}
			return
		case pause == t.Pause:
			t.Log.Warn("a remote sub-agent is skipped until it can be reached", zap.String("agent", Name(r.Name)), zap.Error(err))
		}
		if !sleep(ctx, pause) {
			return
		}
	}
}

// sleep reports whether the time has passed before the context ended.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// save saves a task. Whoever waits for a change is told.
func (t *Tasks) save(ctx context.Context, task *Task) error {
	task.Updated = t.Now().UTC()
	if err := t.Store.SaveTask(context.WithoutCancel(ctx), task); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.changed)
	t.changed = make(chan struct{})
	return nil
}

// change changes a task as it is now.
func (t *Tasks) change(ctx context.Context, id string, f func(*Task)) (Task, error) {
	for {
		task, err := t.Store.RemoteTask(context.WithoutCancel(ctx), id)
		if err != nil {
			return task, err
		}
		f(&task)
		if err := t.save(ctx, &task); !errors.Is(err, ErrConflict) {
			return task, err
		}
	}
}

// news is closed when a task changes.
func (t *Tasks) news() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.changed
}
