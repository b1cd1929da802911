package agents

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/counting"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/retention"
	"github.com/svc-gateway/svc/agents/tree"
	"github.com/svc-gateway/svc/internal/lease"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/inject"
	"github.com/svc-gateway/svc/scanner/redact"
)

// Errors of [View.Start].
var (
	ErrUnknownAssistant = errors.New("unknown assistant")
	ErrForbidden        = errors.New("not permitted")
	ErrStopping         = errors.New("the service is stopping")
	ErrTooManyRuns      = errors.New("too many runs")
	ErrInactiveUser     = errors.New("the user to act for may not act at present")
	ErrAutoApprove      = errors.New("only an admin's own run may go on without approvals")
)

// Limits bound what a run and a user may use.
type Limits struct {
	Steps         int           // model turns of a run
	Tokens        int64         // model tokens of a run; 0: unlimited
	Run           time.Duration // how long a run may be at work; it may wait longer
	Tool          time.Duration // how long a call may take when its tool does not say
	Context       int           // tokens of the model's window; 0: unlimited
	Depth         int           // how often a task may be handed down from agent to agent; 0: unlimited
	ParallelCalls int           // model turns and calls of a run that are made side by side
	ParallelRuns  int           // active runs of a user; those that wait do not count
	RunsPerMinute int64         // runs that a user may start
	States        int           // bytes of the states in one list; 0: 16 MiB
}

// Setup is what runs are made of. Fields without a default are required.
type Setup struct {
	Model  model.Model
	Tools  []Tool
	Agents []Agent
	Policy *policy.Live // a run keeps the policy that it starts with, unless it is replaced at once
	Limits Limits
	Log    *zap.Logger

	// Retention says what is removed while this setup serves. Default: nothing.
	Retention retention.Policy

	// Callbacks tell servers of the ends of runs. Default: nobody does, and a request with a webhook is
	// refused.
	Callbacks Callbacks

	// Holds gives leave for calls that the policy does not let through by itself. Default: nobody
	// does, and such calls are denied.
	Holds Holds

	// Answers is what is asked of answers.
	Answers Answers

	// Memory is what agents know from earlier conversations. Default: nothing.
	Memory Memory

	// PolicyKey is the key of the hashes that stand for secrets in records of decisions. Equal secrets
	// have equal hashes as long as the key is the same. Default: one of this runtime.
	PolicyKey []byte

	// Scan finds injections in what users say, in arguments of calls and in results. Default: by the rules
	// of [inject.Scan].
	Scan func(text string) []scanner.Finding

	// Secrets are values that reach neither readers nor models, nor the record of a result,
	// such as the model's API key. Default: none.
	Secrets *redact.Secrets
}

// Runtime starts runs with one setup on a host. A run keeps the setup that it started with until
// it is over or waits. What callers may do with runs goes through [Runtime.As].
type Runtime struct {
	*Host
	policy    *policy.Live
	model     model.Model
	gate      *gate
	set       atomic.Pointer[toolset]
	limits    Limits
	retention retention.Policy
	callbacks Callbacks
	memory    Memory
	answers   Answers
	log       *zap.Logger
}

// Runtime checks a setup and returns a runtime that works with it.
func (h *Host) Runtime(s Setup) (*Runtime, error) {
	if len(s.PolicyKey) == 0 {
		s.PolicyKey = []byte(rand.Text())
	}
	if s.Scan == nil {
		s.Scan = inject.Scan
	}
	rt := &Runtime{
		Host: h, policy: s.Policy, model: s.Model, limits: s.Limits, retention: s.Retention, callbacks: s.Callbacks, memory: s.Memory, answers: s.Answers, log: s.Log,
		gate: &gate{
			counters: counting.Counters{Bus: h.bus, Log: s.Log}, key: s.PolicyKey, holds: s.Holds, audit: h.audit, identity: h.id, timeout: s.Limits.Tool, log: s.Log, secrets: s.Secrets,
			hooks: h.hooks, scan: s.Scan,
		},
	}
	return rt, rt.SetTools(s.Agents, s.Tools)
}

// SetTools replaces the agents and tools, for runs that start or are resumed from now on. The others
// keep what they have. With an error nothing changes.
func (rt *Runtime) SetTools(agents []Agent, tools []Tool) error {
	set, err := newToolset(agents, tools)
	if err != nil {
		return err
	}
	rt.set.Store(set)
	return nil
}

// launch starts the driver of a run whose next event has the number next; a run that cannot go on
// is closed by it at once. The lease and the run's registration are the driver's from here on.
func (rt *Runtime) launch(ctx context.Context, r *Run, set *toolset, l *lease.Lease, next int) {
	var history []model.Message
	if r.Before() > tree.Root {
		var err error
		if history, err = rt.store.Messages(ctx, r.Thread, r.Before()+1); err != nil {
			r.Failure = &Failure{"state_unavailable", "the thread's messages cannot be read"}
			rt.log.Error("reading a thread failed", zap.String("thread", r.Thread), zap.Error(err))
		}
	}
	for _, m := range history {
		r.Frames[0].mark(m.Labels)
	}
	var picked *model.Message
	if len(r.Frames[0].Messages) == 0 && r.Failure == nil {
		if r.pickUp(history); len(r.Frames[0].Messages) > 0 {
			picked = &r.Frames[0].Messages[0]
		}
		if !r.Due.IsZero() && r.Follows == nil && !r.Again && len(tree.After("", history)) == 0 { // nobody has looked
			r.Failure = &Failure{"nothing_to_do", ErrNothingToDo.Error()}
		}
	}
	replaces := overlap(history, r.Frames[0].Messages)
	if replaces {
		r.inherit(history)
	}
	runCtx, cancel := context.WithCancelCause(rt.base)
	runCtx, stopTimer := context.WithTimeoutCause(runCtx, rt.limits.Run-r.Worked, fmt.Errorf("%w (setting runtime.run_timeout, %s)", errRunTimeout, rt.limits.Run))
	a := &activeRun{lease: l, owner: r.Owner(), cancel: cancel, news: make(chan struct{}, 1), version: r.Version}
	l.Untouched = func(ctx context.Context) error { return rt.untouched(ctx, a) }
	a.log = rt.newEventLog(r.ID, next, rt.gate.secrets, func() { cancel(lease.ErrLost) })
	if picked != nil {
		a.log.pickedUp(r.Assistant, *picked)
	}
	d := &driver{
		policy: rt.policy.Hold(r.Policy), rt: rt, set: set, run: r, active: a, history: history, replaces: replaces, log: a.log, began: time.Now(),
		applied: make(chan func()), slots: make(chan struct{}, rt.limits.ParallelCalls),
	}
	rt.activate(r.ID, a)
	if next > 0 || !r.Due.IsZero() {
		a.log.Publish() // readers that wait elsewhere find it here
	}
	rt.tellThread(r.Thread)
	go func() {
		defer stopTimer()
		d.drive(runCtx)
		rt.retire(r, a)
	}()
}

// retire lets go of a run that has ended or waits.
func (rt *Runtime) retire(r *Run, a *activeRun) {
	a.cancel(errors.New("the run has been left"))
	if r.Status == Interrupted {
		a.log.Leave()
	}
	rt.leave(r.Owner(), r.ID)
	if err := rt.letGo(a.lease); err != nil {
		rt.log.Debug("releasing a run failed, its lease expires", zap.String("run", r.ID), zap.Error(err))
	}
}

func newID() string {
	id, err := uuid.NewV7()
	if err != nil {
		panic(err) // crypto/rand does not fail on a working system
	}
	return id.String()
}
