package agents

import (
	"context"
	"errors"

	"github.com/svc-gateway/svc/agents/tree"
)

// grown is a thread's tree with what its run has said so far: the writes that the run will add are
// certain, since it has the thread.
type grown struct {
	thread string
	tree   tree.Tree
	list   []tree.Boundary
	run    *Run // that has the thread; nil: none
}

// grown reads a thread; alone says that no run can have it.
func (h *Host) grown(ctx context.Context, thread string, alone bool) (g grown, err error) {
	g.thread = thread
	if !alone {
		if g.run, err = h.activeOf(ctx, thread); err != nil {
			return g, err
		}
	}
	if g.tree, err = h.store.Tree(ctx, thread); err != nil {
		return g, err
	}
	g.grow()
	g.list = g.tree.Boundaries()
	return g, nil
}

// activeOf is the run that has a thread; nil: none.
func (h *Host) activeOf(ctx context.Context, thread string) (*Run, error) {
	// One that never began may be on its way to its end, beside the one that has the thread.
	active, err := h.store.Runs(ctx, RunFilter{Thread: thread, Status: []Status{Running, Interrupted}, Limit: MaxQueued})
	if err != nil {
		return nil, err
	}
	for _, info := range active {
		r, err := h.store.Run(ctx, info.ID)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}
		if err == nil && !r.Queued {
			return r, nil
		}
	}
	return nil, nil
}

// grow adds what the run has said so far, unless it has ended meanwhile.
func (g *grown) grow() {
	r := g.run
	if r == nil || r.Status.Final() || len(r.Frames) == 0 {
		g.run = nil
		return
	}
	first := r.Base + r.Input
	if n := len(g.tree.Writes); n > 0 && g.tree.Writes[n-1].Seq >= first {
		g.run = nil
		return
	}
	messages := r.Frames[0].Messages
	parent := first - 1
	if r.Input == 0 {
		parent = r.Before()
	}
	for i := min(r.Input, len(messages)); i < len(messages); i++ {
		w := tree.Said(r.ID, r.Updated, messages[i])
		w.Seq, w.Parent = r.Base+i, parent
		g.tree.Writes = append(g.tree.Writes, w)
		g.tree.Head, parent = w.Seq, w.Seq
	}
}

// find is the place of a checkpoint in the list; without an id, of the one where the thread stands, which
// is Root while nothing was written.
func (g *grown) find(id string) (int, error) {
	if id == "" {
		return g.tree.Last(g.list, g.tree.Head), nil
	}
	i, ok := tree.Find(g.list, g.thread, id)
	if !ok || !g.shows(i) {
		return i, ErrCheckpointNotFound
	}
	return i, nil
}

// shows reports whether a checkpoint was not pruned.
func (g *grown) shows(i int) bool {
	return i != tree.Root && (g.list[i].Seq >= g.tree.Floor || i == g.tree.Last(g.list, g.tree.Head))
}
