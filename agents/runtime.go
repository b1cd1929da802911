package agents

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/compat"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner"
)

// Errors of [Runtime.Start].
var (
	ErrUnknownAssistant = errors.New("unknown assistant")
	ErrForbidden        = errors.New("not permitted")
	ErrStopping         = errors.New("the service is stopping")
	ErrTooManyRuns      = errors.New("too many runs")
	ErrInactiveUser     = errors.New("the user to act for may not act at present")
)

// Limits bound what a run and a user may use.
type Limits struct {
	Steps         int           // model turns of a run
	Tokens        int64         // model tokens of a run; 0: unlimited
	Run           time.Duration // how long a run may take
	Tool          time.Duration // how long a call may take when its tool does not say
	ParallelCalls int           // model turns and calls of a run that are made side by side
	ParallelRuns  int           // unfinished runs of a user
	RunsPerMinute int64         // runs that a user may start
}

// Setup is what runs are made of. Every field is required.
type Setup struct {
	Model  model.Model
	Tools  []Tool
	Agents []Agent
	Policy *policy.Engine
	Limits Limits
	Log    *zap.Logger

	// Secrets are values that reach neither readers nor models, nor the record of a result,
	// such as the model's API key. Default: none.
	Secrets *scanner.Secrets
}

// Runtime starts runs with one setup on a host. A run keeps the setup that it started with.
type Runtime struct {
	*Host
	model  model.Model
	gate   *gate
	agents map[string]boundAgent
	limits Limits
	log    *zap.Logger
}

// boundAgent is an agent with its tools.
type boundAgent struct {
	Agent
	tools map[string]boundTool
	specs []model.ToolSpec
}

// Runtime checks a setup and returns a runtime that works with it.
func (h *Host) Runtime(s Setup) (*Runtime, error) {
	agents, err := bind(s.Agents, s.Tools)
	if err != nil {
		return nil, err
	}
	return &Runtime{
		Host: h, model: s.Model, agents: agents, limits: s.Limits, log: s.Log,
		gate: &gate{policy: s.Policy, audit: h.audit, identity: h.id, timeout: s.Limits.Tool, log: s.Log, secrets: s.Secrets},
	}, nil
}

// Request asks for a run.
type Request struct {
	Principal policy.Principal
	User      string // whom the principal acts for; empty: itself
	Assistant string // empty: [Default]
	Thread    string // empty: a thread of its own
	Input     []model.Message
}

// Start creates a run and sets it going. What it does is read with [Runtime.Follow]. The
// errors are those above, [LimitError], the store's [ErrNotFound] and [ErrBusy], and those of
// [Identity].
func (rt *Runtime) Start(ctx context.Context, req Request) (*Run, error) {
	if req.Assistant == "" {
		req.Assistant = Default
	}
	if _, ok := rt.agents[req.Assistant]; !ok {
		return nil, ErrUnknownAssistant
	}
	p, err := rt.id.Resolve(ctx, req.Principal)
	if err != nil {
		return nil, err
	}
	if p, err = rt.id.ActFor(ctx, p, req.User); errors.Is(err, policy.ErrRevoked) || errors.Is(err, policy.ErrExpired) {
		return nil, fmt.Errorf("%w: %w", ErrInactiveUser, err)
	} else if err != nil {
		return nil, err
	}
	if !policy.Permitted(p.Role, req.Assistant, "*", policy.Use) {
		return nil, ErrForbidden
	}
	if err := rt.enter(ctx, owner(p), rt.limits); err != nil {
		return nil, err
	}
	r, err := rt.create(ctx, p, req)
	if err != nil {
		rt.leave(owner(p))
		return nil, err
	}
	return r, nil
}

// create saves a new run, records its start and hands a copy of the data to a driver.
func (rt *Runtime) create(ctx context.Context, p policy.Principal, req Request) (*Run, error) {
	now := time.Now().UTC()
	r := &Run{
		ID: newID(), Thread: req.Thread, Assistant: req.Assistant, Principal: p,
		Status: Running, Harness: compat.Version, Created: now, Updated: now,
		Frames: []Frame{{Agent: req.Assistant}},
	}
	input := newMessages(req.Input)
	for _, m := range input {
		r.add(0, m)
	}
	r.Input = len(input)
	var fresh *Thread
	if r.Thread == "" {
		r.Thread = newID()
		fresh = &Thread{ID: r.Thread, Owner: owner(p), Created: now, Updated: now, Status: ThreadBusy, Ephemeral: true}
	}
	if _, err := rt.bus.Lease(ctx, topic(r.ID), rt.node, leaseTime); err != nil {
		return nil, fmt.Errorf("leasing the run: %w", err)
	}
	if err := rt.store.CreateRun(ctx, r, input, fresh); err != nil {
		return nil, errors.Join(err, rt.bus.Release(ctx, topic(r.ID), rt.node))
	}
	ctx = context.WithoutCancel(ctx) // from here on the run goes on, whoever leaves
	if err := rt.audit.Queue(ctx, runEvent(audit.RunStart, r)); err != nil {
		r.Failure = noAudit
		rt.log.Error("recording the start of a run failed", zap.String("run", r.ID), zap.Error(err))
	}
	started := *r
	rt.launch(ctx, r)
	return &started, nil
}

// launch starts the driver of a run; one that cannot go on is closed by it at once.
func (rt *Runtime) launch(ctx context.Context, r *Run) {
	var history []model.Message
	if r.Base > 0 {
		var err error
		if history, err = rt.store.Messages(ctx, r.Thread, r.Base); err != nil {
			r.Failure = &Failure{"state_unavailable", "the thread's messages cannot be read"}
			rt.log.Error("reading a thread failed", zap.String("thread", r.Thread), zap.Error(err))
		}
	}
	for _, m := range history {
		r.Frames[0].mark(m.Labels)
	}
	runCtx, cancel := context.WithCancelCause(rt.base)
	runCtx, stopTimer := context.WithTimeoutCause(runCtx, rt.limits.Run, fmt.Errorf("%w (setting runtime.run_timeout, %s)", errRunTimeout, rt.limits.Run))
	d := &driver{
		rt: rt, run: r, history: history, log: rt.newEventLog(r.ID, rt.gate.secrets),
		applied: make(chan func()), slots: make(chan struct{}, rt.limits.ParallelCalls),
	}
	rt.mu.Lock()
	rt.active[r.ID] = &activeRun{d.log, cancel}
	rt.mu.Unlock()
	go func() {
		defer stopTimer()
		d.drive(runCtx, cancel)
		rt.mu.Lock()
		delete(rt.active, r.ID)
		rt.mu.Unlock()
		if err := rt.bus.Release(context.Background(), topic(r.ID), rt.node); err != nil {
			rt.log.Warn("releasing a run failed", zap.String("run", r.ID), zap.Error(err))
		}
		rt.leave(r.Owner())
	}()
}

// CreateThread creates an empty thread of a principal. It counts like the start of a run.
func (rt *Runtime) CreateThread(ctx context.Context, p policy.Principal, metadata map[string]any) (Thread, error) {
	if err := rt.count(ctx, owner(p), rt.limits); err != nil {
		return Thread{}, err
	}
	now := time.Now().UTC()
	t := Thread{ID: newID(), Owner: owner(p), Created: now, Updated: now, Status: ThreadIdle, Metadata: metadata}
	return t, rt.store.CreateThread(ctx, t)
}

func newID() string {
	id, err := uuid.NewV7()
	if err != nil {
		panic(err) // crypto/rand does not fail on a working system
	}
	return id.String()
}
