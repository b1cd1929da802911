package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/svc-gateway/svc/agents/mergepatch"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/tree"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/provenance"
)

// Errors of [Host.Examine].
var (
	// ErrCallNotFound is matched when the run has no such call that waits.
	ErrCallNotFound = errors.New("the run has no such call that waits")
	// ErrUnusable is matched when the call with the changed arguments cannot be made.
	ErrUnusable = errors.New("the changed arguments cannot be used")
	// ErrUnchanged is returned for a patch that changes nothing.
	ErrUnchanged = errors.New("the patch changes nothing")
)

// Examined is what the gate makes of a call that waits.
type Examined struct {
	Digest    string
	Arguments json.RawMessage // redacted
	Where     string
	Decision  policy.Decision
}

// Examine says what the gate would make of a call that waits if its arguments were changed by a merge
// patch. Nothing is done. The gate does the same once more when it comes to the call: the answer is for
// who is about to approve it. The error is one of the above, of [mergepatch.Apply], of the store or of the
// run's principal.
func (h *Host) Examine(ctx context.Context, run, call, patch string) (Examined, error) {
	rt := h.serving()
	if rt == nil {
		return Examined{}, errNotServing
	}
	r, err := h.store.Run(ctx, run)
	if err != nil {
		return Examined{}, err
	}
	agent, c := r.find(call)
	if c == nil || c.Status.Final() {
		return Examined{}, ErrCallNotFound
	}
	principal, err := h.id.Resolve(ctx, r.Principal)
	if err != nil {
		return Examined{}, fmt.Errorf("resolving who asked: %w", err)
	}
	s := scope{run: r.ID, thread: r.Thread, agent: agent, principal: principal, policy: rt.policy.Hold(r.Policy).Engine()}
	if a, ok := rt.set.Load().agents[agent]; ok {
		s.tools = a.tools
	}
	var history []model.Message
	if r.Before() > tree.Root {
		if history, err = h.store.Messages(ctx, r.Thread, r.Before()+1); err != nil {
			return Examined{}, err
		}
	}
	s.trail = provenance.Trail{Said: said(history, r), Read: read(history, r)}
	before := analyse(s, *c, rt.gate.scan)
	changed := *c
	if changed.Arguments, err = mergepatch.Apply(c.Arguments, patch); err != nil {
		return Examined{}, err
	}
	j := rt.gate.judge(ctx, s, changed)
	rt.gate.counters.GiveBack(ctx, j.counted)
	a := j.analysis
	switch {
	case a.invalid != "":
		return Examined{}, fmt.Errorf("%w: %s", ErrUnusable, a.invalid)
	case a.digest == before.digest:
		return Examined{}, ErrUnchanged
	}
	return Examined{a.digest, rt.gate.secrets.RedactJSON([]byte(a.raw)), a.where, j.decision}, nil
}

// find is a call that has no result yet, with the agent that makes it; nil when there is none.
func (r *Run) find(call string) (agent string, c *Call) {
	for i := range r.Frames {
		for j := range r.Frames[i].Calls {
			if c := &r.Frames[i].Calls[j]; c.ID == call {
				return r.Frames[i].Agent, c
			}
		}
	}
	return "", nil
}
