package agents

import (
	"context"
	"slices"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/shown"
	"github.com/svc-gateway/svc/agents/tree"
)

// from is the write of the thread that a run begins after; nil: where the thread stands.
func (v View) from(ctx context.Context, req Request) (*int, error) {
	if req.Checkpoint == "" && len(req.Input) > 0 {
		return nil, nil
	}
	if req.fresh {
		if req.Checkpoint != "" {
			return nil, ErrCheckpointNotFound
		}
		return nil, ErrNothingToDo
	}
	g, err := v.rt.grown(ctx, req.Thread, false)
	if err != nil {
		return nil, err
	}
	i, err := g.find(req.Checkpoint)
	if err != nil {
		return nil, err
	}
	if len(req.Input) > 0 {
		return &g.list[i].At, nil
	}
	if i == tree.Root {
		return nil, ErrNothingToDo
	}
	b := g.list[i]
	state := g.tree.State(b.Go)
	next := b.Next
	if b.Kind == tree.BeforeInput {
		next = tree.After(tree.NodeStart, state.Messages)
	}
	switch {
	case req.Goto == "" && len(next) == 0, req.Goto == tree.NodeAgent && len(tree.Open(state.Messages)) > 0,
		req.Goto == tree.NodeTools && len(tree.Open(state.Messages)) == 0:
		return nil, ErrNothingToDo
	}
	if req.Checkpoint == "" && req.Multitask.Waits() {
		return nil, nil // others may come before it
	}
	return &b.Go, nil
}

// unsaid is the input without what the thread has said already: clients send back what they were shown,
// which is less than what is there. Of an input that says nothing new, the last message stays.
func (v View) unsaid(ctx context.Context, req Request) ([]model.Message, error) {
	named := func(m model.Message) bool { return m.ID != "" }
	if req.fresh || !slices.ContainsFunc(req.Input, named) {
		return req.Input, nil
	}
	g, err := v.rt.grown(ctx, req.Thread, false)
	if err != nil {
		return nil, err
	}
	at := g.tree.Head
	if req.Checkpoint != "" {
		i, err := g.find(req.Checkpoint)
		if err != nil {
			return nil, err
		}
		at = g.list[i].At
	}
	told := shown.Messages(v.rt.gate.secrets, g.tree.State(at).Messages)
	last := len(req.Input) - 1
	fresh := make([]model.Message, 0, len(req.Input))
	for i, m := range req.Input {
		said := slices.ContainsFunc(told, func(s model.Message) bool {
			return named(m) && s.ID == m.ID && s.Role == m.Role && s.Content == m.Content
		})
		if !said || i == last && len(fresh) == 0 {
			fresh = append(fresh, m)
		}
	}
	return fresh, nil
}
