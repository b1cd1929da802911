package hook

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/scanner/redact"
)

// Config is what hooks work with. Fields without a default are required.
type Config struct {
	Path string // the file, an absolute path; it need not exist
	Log  *zap.Logger

	Timeout  time.Duration // of one command; default 30 s
	Parallel int           // commands that run side by side; default 4
	Queue    int           // events that wait for their turn; default 1024
}

// reportEvery is how often a flood of events that do not fit is reported.
const reportEvery = 10 * time.Second

// Hooks fires events and runs their commands. [Open] makes one.
type Hooks struct {
	config  Config
	secrets atomic.Pointer[redact.Secrets]
	file    *file // the dispatcher's own

	mu     sync.Mutex // guards closed, and sending to queue
	closed bool
	queue  chan happening

	lost atomic.Int64 // events that did not fit and are not reported yet

	base context.Context // of every command
	kill context.CancelCauseFunc
	done chan struct{} // closed when everything has ended
}

// happening is an event that waits for its commands.
type happening struct {
	event string
	env   []string
}

// Reasons for which a command is ended.
var (
	errTimeout  = errors.New("it, or what it started, took too long and was killed")
	errStopping = errors.New("the service stopped, and it was killed")
)

// Open reads the file and returns hooks that are ready. What is wrong with the file is in the log, and
// keeps nothing from starting. Close ends them.
func Open(c Config) *Hooks {
	if c.Timeout == 0 {
		c.Timeout = 30 * time.Second
	}
	if c.Parallel == 0 {
		c.Parallel = 4
	}
	if c.Queue == 0 {
		c.Queue = 1024
	}
	h := &Hooks{config: c, file: &file{path: c.Path, user: os.Geteuid()}, queue: make(chan happening, c.Queue), done: make(chan struct{})}
	h.base, h.kill = context.WithCancelCause(context.Background())
	h.look()
	go h.dispatch()
	return h
}

// Redact has values that are secrets, beside what looks like one, replaced in what commands are given
// from now on and in what the log shows of their output.
func (h *Hooks) Redact(s *redact.Secrets) {
	if h != nil {
		h.secrets.Store(s)
	}
}

// Fire queues an event with keyword arguments, names and values in turns, and returns at once. The
// name agent_id gives the commands the variable SVC_HOOK_AGENT_ID. Values lose credentials, NUL and
// what is not UTF-8, and are cut at 4 KiB.
//
// The error is ErrUnknownEvent or ErrArguments when the caller is wrong: an odd number of words, more
// than 32 pairs, a name twice, or one that is not of letters, digits and _. It is ErrFull when too many
// events wait, and ErrStopped after Close; then the commands do not run.
func (h *Hooks) Fire(event string, kv ...string) error {
	if !slices.Contains(Events[:], event) {
		return unknownEvent(event)
	}
	env, err := h.environment(kv)
	if err != nil {
		return fmt.Errorf("firing %s: %w", event, err)
	}
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ErrStopped
	}
	select {
	case h.queue <- happening{event, env}:
		return nil
	default:
	}
	if h.lost.Add(1) == 1 {
		h.config.Log.Warn("the queue of events for hooks is full, and the hooks of this event do not run", zap.String("event", event), zap.Int("queue", h.config.Queue))
	}
	return ErrFull
}

// Close takes no more events, lets those that wait and the commands that run go on until ctx ends, and
// then kills the commands. It returns when none is left. A second Close waits for the first.
func (h *Hooks) Close(ctx context.Context) {
	if h == nil {
		return
	}
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		close(h.queue)
	}
	h.mu.Unlock()
	select {
	case <-h.done:
	case <-ctx.Done():
		h.kill(errStopping)
	}
	<-h.done
}

// dispatch starts the commands of each event in its turn.
func (h *Hooks) dispatch() {
	defer close(h.done)
	defer h.kill(errStopping) // frees the context
	var running sync.WaitGroup
	defer running.Wait()
	slots := make(chan struct{}, h.config.Parallel)
	unrun := 0
	reported := time.Time{}
	for e := range h.queue {
		for _, hook := range h.look() {
			if hook.event != e.event {
				continue
			}
			select {
			case slots <- struct{}{}:
			case <-h.base.Done():
			}
			if h.base.Err() != nil { // select takes either
				unrun++
				continue
			}
			running.Go(func() {
				defer func() { <-slots }()
				h.run(hook, e)
			})
		}
		if now := time.Now(); h.lost.Load() > 0 && (len(h.queue) == 0 || now.Sub(reported) >= reportEvery) {
			h.report(h.lost.Swap(0))
			reported = now
		}
	}
	if n := h.lost.Swap(0); n > 0 {
		h.report(n)
	}
	if unrun > 0 {
		h.config.Log.Warn("the service stopped before hooks could run", zap.Int("commands", unrun))
	}
}

func (h *Hooks) report(lost int64) {
	h.config.Log.Warn("events came faster than their hooks could run, and some had none", zap.Int64("events", lost), zap.Int("queue", h.config.Queue))
}

// look returns the hooks of the file as it is now, and logs what is wrong with it once.
func (h *Hooks) look() []entry {
	before := len(h.file.entries)
	changed, mistakes := h.file.load()
	for _, m := range mistakes {
		h.config.Log.Warn("hooks.json has a mistake", zap.String("file", h.config.Path), zap.Error(m))
	}
	if now := len(h.file.entries); changed && now+before > 0 {
		h.config.Log.Info("read hooks.json", zap.String("file", h.config.Path), zap.Int("hooks", now))
	}
	return h.file.entries
}

// run runs one command and logs how it failed.
func (h *Hooks) run(hook entry, e happening) {
	ctx, cancel := context.WithTimeoutCause(h.base, h.config.Timeout, errTimeout)
	defer cancel()
	started := time.Now()
	output, err := execute(ctx, hook.command, filepath.Dir(h.config.Path), append(inherited(), e.env...))
	if err == nil {
		return
	}
	h.config.Log.Warn("a hook failed", zap.String("event", e.event), zap.Int("hook", hook.index), zap.String("exit", err.Error()),
		zap.Duration("took", time.Since(started)), zap.String("output", shorten(h.redact(plain(string(output))), maxShown)))
}

// inherited is what commands get of the service's environment.
func inherited() []string {
	var env []string
	for _, name := range []string{"PATH", "HOME"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}
