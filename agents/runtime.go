package agents

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/internal/harness"
	"github.com/svc-gateway/svc/policy"
)

// Errors of [Runtime.Start].
var (
	ErrUnknownAssistant = errors.New("unknown assistant")
	ErrForbidden        = errors.New("not permitted")
	ErrStopping         = errors.New("the service is stopping")
	ErrUnknownUser      = errors.New("unknown user")
	ErrTooManyRuns      = errors.New("too many runs")
)

// Limits bound what a run and a user may use.
type Limits struct {
	Steps         int           // model turns of a run
	Tokens        int64         // model tokens of a run; 0: unlimited
	Run           time.Duration // how long a run may take
	Tool          time.Duration // how long a call may take when its tool does not say
	ParallelCalls int           // calls of a run that are made side by side
	ParallelRuns  int           // unfinished runs of a user
	RunsPerMinute int64         // runs that a user may start
}

// Config is all that a runtime works with. Every field is required.
type Config struct {
	Store    Store
	Audit    *audit.Log
	Policy   *policy.Engine
	Identity Identity
	Bus      bus.Bus
	Model    model.Model
	Tools    []Tool
	Agents   []Agent
	Limits   Limits
	Node     string // names this process among those that share the store
	Log      *zap.Logger
}

// Runtime drives runs.
type Runtime struct {
	store  Store
	audit  *audit.Log
	id     Identity
	bus    bus.Bus
	model  model.Model
	gate   *gate
	agents map[string]boundAgent
	limits Limits
	node   string
	log    *zap.Logger

	base   context.Context // of every run; ends with Close
	stop   context.CancelCauseFunc
	mu     sync.Mutex
	active map[string]*activeRun
	users  map[string]int // unfinished runs of an owner
	closed bool
	runs   sync.WaitGroup // from being let in to having left
	upkeep sync.WaitGroup
}

type activeRun struct {
	log    *eventLog
	cancel context.CancelCauseFunc
}

// boundAgent is an agent with its tools.
type boundAgent struct {
	Agent
	tools map[string]boundTool
	specs []model.ToolSpec
}

// leaseTime is how long a run stays this process's without being renewed.
const leaseTime = 30 * time.Second

// Open checks the configuration, closes the runs that a process left behind and returns a
// runtime that is ready to start new ones.
func Open(ctx context.Context, c Config) (*Runtime, error) {
	agents, err := bind(c.Agents, c.Tools)
	if err != nil {
		return nil, err
	}
	base, stop := context.WithCancelCause(context.Background())
	rt := &Runtime{
		store: c.Store, audit: c.Audit, id: c.Identity, bus: c.Bus, model: c.Model, agents: agents,
		limits: c.Limits, node: c.Node, log: c.Log, base: base, stop: stop,
		active: map[string]*activeRun{}, users: map[string]int{},
		gate: &gate{policy: c.Policy, audit: c.Audit, identity: c.Identity, timeout: c.Limits.Tool, log: c.Log},
	}
	if err := rt.recover(ctx); err != nil {
		stop(err)
		return nil, fmt.Errorf("closing the runs of an earlier process: %w", err)
	}
	rt.upkeep.Go(rt.renewLeases)
	return rt, nil
}

// Request asks for a run.
type Request struct {
	Principal policy.Principal
	Assistant string // empty: [Default]
	Thread    string // empty: a thread of its own
	Input     []model.Message
}

// Start creates a run and sets it going. What it does is read with [Runtime.Follow]. The
// errors are those above and the store's [ErrNotFound] and [ErrBusy].
func (rt *Runtime) Start(ctx context.Context, req Request) (*Run, error) {
	if req.Assistant == "" {
		req.Assistant = Default
	}
	if _, ok := rt.agents[req.Assistant]; !ok {
		return nil, ErrUnknownAssistant
	}
	p, err := resolve(ctx, rt.id, req.Principal)
	if err != nil {
		return nil, err
	}
	if !policy.Permitted(p.Role, req.Assistant, "*", policy.Use) {
		return nil, ErrForbidden
	}
	if err := rt.enter(ctx, owner(p)); err != nil {
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
		Status: Running, Harness: harness.Version, Created: now, Updated: now,
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
		return nil, err
	}
	if err := rt.audit.Queue(ctx, rt.runEvent(audit.RunStart, r)); err != nil {
		r.Failure = unrecorded(err).fatal
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
	runCtx, cancel := context.WithCancelCause(rt.base)
	runCtx, stopTimer := context.WithTimeoutCause(runCtx, rt.limits.Run, fmt.Errorf("%w (setting runtime.run_timeout, %s)", errRunTimeout, rt.limits.Run))
	d := &driver{
		rt: rt, run: r, history: history, log: rt.newEventLog(r.ID),
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

// Cancel ends a run that is active here. It reports whether there was one.
func (rt *Runtime) Cancel(run string) bool {
	a := rt.activeRun(run)
	if a == nil {
		return false
	}
	a.cancel(errCancelled)
	return true
}

// Close lets active runs end until ctx does, cancels the rest and waits for them. No run can
// be started any more.
func (rt *Runtime) Close(ctx context.Context) error {
	rt.mu.Lock()
	rt.closed = true
	rt.mu.Unlock()
	idle := make(chan struct{})
	go func() { rt.runs.Wait(); close(idle) }()
	select {
	case <-idle:
	case <-ctx.Done():
	}
	rt.stop(errRestart)
	<-idle
	rt.upkeep.Wait()
	return rt.store.Close()
}

// Agents lists the agents that requests may name.
func (rt *Runtime) Agents() []Agent {
	var list []Agent
	for _, a := range rt.agents {
		list = append(list, a.Agent)
	}
	return list
}

// Store gives read access to threads and runs; authorisation is the caller's.
func (rt *Runtime) Store() Store { return rt.store }

func (rt *Runtime) activeRun(run string) *activeRun {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return rt.active[run]
}

// runEvent is a record of a run's start or end.
func (rt *Runtime) runEvent(typ string, r *Run) audit.Event {
	return audit.Event{
		Type: typ, Run: r.ID, Thread: r.Thread, Agent: r.Assistant, User: r.Principal.User,
		Role: string(r.Principal.Role), OnBehalfOf: r.Principal.OnBehalfOf, Address: r.Principal.Address,
		TokenID: r.Principal.TokenID, Status: string(r.Status), Labels: r.Frames[0].Labels,
	}
}

func newID() string {
	id, err := uuid.NewV7()
	if err != nil {
		panic(err) // crypto/rand does not fail on a working system
	}
	return id.String()
}
