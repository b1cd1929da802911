package agents

import (
	"context"
	"errors"
	"slices"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/tree"
)

// Edit is what is written in a thread instead of what its run waited for.
type Edit struct {
	After  *int // the write that it follows; nil: the last one of the run
	Writes []tree.Write
	First  int // set by [Store.FinishRun]: the place of the first of them

	open []string // calls that were not made, and of which the thread holds no result
}

// leaves are the messages of the run that stay.
func (e *Edit) leaves(messages []model.Message) []model.Message {
	if e == nil {
		return messages
	}
	return slices.DeleteFunc(slices.Clone(messages), func(m model.Message) bool { return slices.Contains(e.open, m.ToolCallID) })
}

// keepOpen has the calls of a run that were not made come next where they do so after the edit, or vanish
// with it, or have the result that the edit gives them. Others have the result that they were cancelled:
// models take no call without a result, and none with two.
func (e *Edit) keepOpen(r *Run, after []model.Message) {
	for _, c := range r.Frames[0].Calls {
		same := func(o model.ToolCall) bool { return o.ID == c.ID }
		there := slices.ContainsFunc(after, func(m model.Message) bool { return slices.ContainsFunc(m.ToolCalls, same) })
		given := slices.ContainsFunc(after, func(m model.Message) bool { return m.Role == model.RoleTool && m.ToolCallID == c.ID })
		if !c.Status.Final() && (!there || given || slices.ContainsFunc(tree.Open(after), same)) {
			e.open = append(e.open, c.ID)
		}
	}
}

// supersede ends a run that waits, as cancelled, and writes an edit in its thread, both at once. What leave was
// given for ends with the run: whoever goes on in the thread has its calls come before the gate anew, as other
// calls. The error is [ErrBusy] when the run is not the one that was looked at, or does not wait any more.
func (h *Host) supersede(ctx context.Context, was *Run, e *Edit) error {
	return h.reach(ctx, was.ID, doPass, func(ctx context.Context) (answer, error) {
		if info, err := h.store.RunInfo(ctx, was.ID); err != nil || info.Version != was.Version {
			return answerDone, errors.Join(err, ErrBusy)
		}
		if h.activeRun(was.ID) != nil {
			return answerAbsent, nil // it is being let go of
		}
		l, r, err := h.seize(ctx, was.ID)
		if err != nil {
			return answerDone, err
		}
		switch {
		case r.Version != was.Version || r.Status != Interrupted:
			err = ErrBusy
		case unfit(r) != nil:
			err = unfit(r)
		default:
			err = h.store.Room(ctx, r.Thread, e.Writes)
		}
		if err == nil {
			r.Edit, r.Failure = e, &Failure{codeCancelled, "the state of the thread was changed while the run waited"}
			err = h.endAbandoned(ctx, r)
		}
		return answerDone, errors.Join(err, h.letGo(l))
	})
}

// write writes a change in a thread that no run is at work on, and returns the place of the first write.
func (v View) write(ctx context.Context, g *grown, t Thread, after *int, writes []tree.Write) (int, error) {
	if g.run == nil {
		if after == nil {
			after = &g.tree.Head
		}
		return v.rt.store.Write(ctx, t.ID, *after, t.Messages, writes)
	}
	queued, err := v.rt.store.Runs(ctx, RunFilter{Thread: t.ID, Status: []Status{Pending}, Limit: 1})
	if err == nil && len(queued) > 0 {
		err = ErrBusy
	}
	if err != nil {
		return 0, err
	}
	e, at := Edit{After: after, Writes: writes}, g.tree.Head
	if after != nil {
		at = *after
	}
	e.keepOpen(g.run, tree.Fold(append(g.tree.Path(at), writes...)).Messages)
	err = v.rt.supersede(ctx, g.run, &e)
	return e.First, err
}
