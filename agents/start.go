package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/tree"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/compat"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner"
)

// Start creates a run and sets it going, or has it wait as [Request.Multitask] and [Request.After] say:
// its status is then pending. It goes on whatever becomes of ctx. The errors are those above,
// [LimitError], [FieldError], the store's [ErrThreadNotFound], [ErrBusy] and [ErrUnavailable], the bus's,
// and those of [Identity].
func (v View) Start(ctx context.Context, req Request) (Handle, error) {
	digest, err := req.digest()
	if err != nil {
		return Handle{}, err
	}
	request := req.key(v.p)
	if h, ok, err := v.repeated(ctx, request, digest); ok || err != nil {
		return h, err
	}
	if err := req.check(v.rt.callbacks); err != nil {
		return Handle{}, err
	}
	h, err := v.start(ctx, req, request, digest)
	if errors.Is(err, ErrRequested) { // the other one was faster
		h, _, err := v.repeated(ctx, request, digest)
		return h, err
	}
	return h, err
}

func (v View) start(ctx context.Context, req Request, request, digest string) (Handle, error) {
	var t Thread
	var err error
	if req.Thread != "" {
		t, err = v.Thread(ctx, req.Thread)
		switch {
		case err == nil:
			req.owner = t.Owner
		case !errors.Is(err, ErrThreadNotFound) || !req.CreateThread:
			return Handle{}, err
		default:
			req.fresh = true
		}
	} else {
		req.fresh = true
	}
	if req.Input, err = v.unsaid(ctx, req); err != nil {
		return Handle{}, err
	}
	r, err := v.rt.start(ctx, v.p, req, func(r *Run) (err error) {
		r.Request, r.Digest = request, digest
		r.Follows, err = v.from(ctx, req)
		return err
	})
	if errors.Is(err, ErrConflict) && req.Thread != "" && req.fresh { // somebody has it, or created it meanwhile
		if _, err := v.Thread(ctx, req.Thread); err != nil {
			return Handle{}, err
		}
		return v.start(ctx, req, request, digest)
	}
	if err != nil {
		return Handle{}, err
	}
	info := r.info()
	if t.Owner != "" {
		info.Owner = t.Owner
	}
	h := v.handle(info)
	h.origin = originOf(r, req.Input)
	return h, nil
}

// start creates a run, which place finds the place for in its thread, and sets it going.
func (rt *Runtime) start(ctx context.Context, p policy.Principal, req Request, place func(*Run) error) (*Run, error) {
	if req.Assistant == "" {
		req.Assistant = Default
	}
	set := rt.set.Load()
	if _, ok := set.agents[req.Assistant]; !ok {
		return nil, ErrUnknownAssistant
	}
	p, err := rt.id.Resolve(ctx, p)
	if err != nil {
		return nil, err
	}
	if req.User == "" && len(req.Input) == 0 && req.owner != "" && req.owner != ownerOf(p) {
		req.User = req.owner // what comes next was said by its owner alone, and may do no more than that one
	}
	if p, err = rt.id.ActFor(ctx, p, req.User); errors.Is(err, policy.ErrRevoked) || errors.Is(err, policy.ErrExpired) {
		return nil, fmt.Errorf("%w: %w", ErrInactiveUser, err)
	} else if err != nil {
		return nil, err
	}
	if !policy.Permitted(p.Role, req.Assistant, "*", policy.Use) {
		return nil, ErrForbidden
	}
	if req.AutoApprove && (p.Role != policy.Admin || p.OnBehalfOf != "" || req.owner != "" && req.owner != p.User) {
		return nil, ErrAutoApprove
	}
	r := newRun(p, req, set, rt.gate.scan)
	r.Policy = rt.policy.Engine().Hash()
	if err := rt.register(); err != nil {
		return nil, err
	}
	if err := place(r); err != nil {
		rt.runs.Done()
		return nil, err
	}
	if err := rt.admit(ctx, r); err != nil {
		rt.runs.Done()
		return nil, err
	}
	started, err := rt.create(ctx, r, req, set)
	if err != nil {
		rt.leave(r.Owner(), r.ID)
		rt.runs.Done()
		return nil, err
	}
	return started, nil
}

// admit counts a run in. One that may wait does so when there is no room for it.
func (rt *Runtime) admit(ctx context.Context, r *Run) error {
	if r.Queued {
		return rt.count(ctx, r.Owner(), rt.limits)
	}
	err := rt.enter(ctx, r.Owner(), r.ID, rt.limits)
	if limit, ok := errors.AsType[*LimitError](err); ok && limit.Limit == limitParallel && r.Multitask.Waits() {
		r.Queued, r.Due = true, r.Created
		return rt.count(ctx, r.Owner(), rt.limits)
	}
	return err
}

// newRun is a run that has done nothing yet.
func newRun(p policy.Principal, req Request, set *toolset, scan func(string) []scanner.Finding) *Run {
	now := time.Now().UTC()
	r := &Run{
		ID: newID(), Thread: req.Thread, Assistant: req.Assistant, Principal: p,
		Status: Running, Harness: compat.Version, Toolset: set.version, Foreign: req.owner != "" && req.owner != ownerOf(p), Auto: req.AutoApprove, Created: now, Updated: now,
		Frames:   []Frame{{Agent: req.Assistant}},
		Change:   tree.Change{Remove: req.Remove, RemoveAll: req.RemoveAll, Values: req.Values},
		Metadata: req.Metadata, Kwargs: req.Kwargs, Again: req.Goto == tree.NodeAgent, MaxSteps: req.MaxSteps, Webhook: req.Webhook, Form: req.Form,
	}
	if req.Multitask.Waits() {
		r.Multitask = req.Multitask
	}
	if len(req.InterruptBefore)+len(req.InterruptAfter) > 0 {
		r.Stops = &stops{Before: req.InterruptBefore, After: req.InterruptAfter}
	}
	if r.Thread == "" {
		r.Thread = newID()
	}
	if req.After > 0 {
		r.Queued, r.Due = true, now.Add(req.After)
	}
	for _, m := range newMessages(req.Input, scan) {
		r.add(0, m)
	}
	r.Input = len(req.Input)
	if n := r.Input; n > 0 && len(req.Form) > 0 { // it is said by the user, too
		last := &r.Frames[0].Messages[n-1]
		last.Findings = append(last.Findings, scan(string(req.Form))...)
	}
	return r
}

// newMessages are the messages that a caller adds to a thread, labelled and scanned. What is said in the
// name of a tool is nobody's word.
func newMessages(input []model.Message, scan func(string) []scanner.Finding) []model.Message {
	for i := range input {
		m := &input[i]
		if m.ID == "" {
			m.ID = newID()
		}
		m.Labels, m.Todos, m.Compaction = []string{"user"}, nil, nil
		if m.Role == model.RoleTool {
			m.Labels = []string{"tool:" + m.Name}
		}
		m.Findings = scan(m.Content)
	}
	return input
}

// create saves a new run, records its start and hands the run to a driver, or leaves it to wait. It
// returns a copy.
func (rt *Runtime) create(ctx context.Context, r *Run, req Request, set *toolset) (*Run, error) {
	var fresh *Thread
	if req.fresh {
		fresh = &Thread{ID: r.Thread, Owner: r.Owner(), Created: r.Created, Updated: r.Created, Status: ThreadBusy, Ephemeral: req.Thread == "" && !req.KeepThread}
		if req.Thread == "" && req.DeleteThread {
			fresh.TTL = deleteAfter
		}
	}
	if r.Follows != nil && req.Checkpoint != "" {
		e := runEvent(audit.ThreadForked, r)
		e.Status, e.Input = "started", jsonText(map[string]any{"checkpoint": req.Checkpoint})
		if err := rt.audit.Record(ctx, e); err != nil {
			return nil, err
		}
	}
	l, err := rt.lease(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	if err := rt.store.CreateRun(ctx, r, r.Frames[0].Messages, fresh); err != nil {
		return nil, errors.Join(err, l.Release())
	}
	ctx = context.WithoutCancel(ctx) // from here on the run goes on, whoever leaves
	if r.Queued {
		return rt.putOff(ctx, r, l)
	}
	rt.begin(ctx, r)
	started := *r
	rt.launch(ctx, r, set, l, 0)
	return &started, nil
}

// begin records the start of a run.
func (rt *Runtime) begin(ctx context.Context, r *Run) {
	rt.hooks.SessionStart(r.Assistant, rt.model.Name(), r.Principal.User)
	if err := rt.audit.Queue(ctx, runEvent(audit.RunStart, r)); err != nil {
		r.Failure = noAudit
		rt.log.Error("recording the start of a run failed", zap.String("run", r.ID), zap.Error(err))
	}
}

// pickUp has a run that was given nothing go on with what comes next: calls that have no result yet
// come before the gate, under ids of their own, since a call is made once. People may have written more of
// them into the thread than a model may ask for: then none is made.
func (r *Run) pickUp(history []model.Message) {
	open := tree.Open(history)
	switch n := len(open); {
	case n == 0:
		return
	case n > maxCalls:
		r.Failure = &Failure{"too_many_calls", fmt.Sprintf("%d calls come next in the thread, of %d at most", n, maxCalls)}
		return
	}
	f := &r.Frames[0]
	for _, m := range slices.Backward(history) {
		if m.Role != model.RoleAssistant {
			continue
		}
		again := withOwnIDs(open)
		m.ToolCalls = slices.Clone(m.ToolCalls)
		for i, c := range m.ToolCalls {
			if j := slices.Index(open, c); j >= 0 {
				m.ToolCalls[i] = again[j]
				f.Calls = append(f.Calls, Call{ToolCall: again[j], Status: CallProposed, Labels: slices.Clone(f.Labels)})
			}
		}
		r.add(0, m)
		return
	}
}

// inherit gives messages that take the place of others the labels of those: nobody gets rid of a label by
// saying the same again.
func (r *Run) inherit(history []model.Message) {
	f := &r.Frames[0]
	for i := range f.Messages {
		for _, old := range history {
			if m := &f.Messages[i]; m.ID != "" && m.ID == old.ID {
				*m = tree.Merge([]model.Message{old}, []model.Message{*m})[0]
			}
		}
	}
}

// overlap reports whether messages have ids that others before them have, or among themselves.
func overlap(history, messages []model.Message) bool {
	for i, m := range messages {
		same := func(o model.Message) bool { return o.ID == m.ID && m.ID != "" }
		if slices.ContainsFunc(history, same) || slices.ContainsFunc(messages[:i], same) {
			return true
		}
	}
	return false
}

func jsonText(v any) string {
	doc, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(doc)
}
