package agents

import (
	"context"
	"errors"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/shown"
	"github.com/svc-gateway/svc/agents/tree"
)

// origin is what a run started from, as places in its thread's log.
type origin struct {
	after   int // the write that its first one follows
	before  int // the write before its input, which may be a change of its own
	first   int // its first write
	changed bool
	input   []model.Message
}

// originOf is what a run that has begun started from; nil for one that waits to begin.
func originOf(r *Run, input []model.Message) *origin {
	if r.Queued || r.Status == Pending {
		return nil
	}
	o := &origin{after: r.After(), before: r.Before(), first: r.Base, changed: !r.Change.IsZero(), input: input}
	if o.changed {
		o.first--
	}
	return o
}

// Opening is the state that a run started from, redacted as its events are.
type Opening struct {
	Before       []model.Message // of the state before the run
	ValuesBefore map[string]any  // beside messages
	Input        []model.Message // what it was given
	Messages     []model.Message // of the state with that
	Values       map[string]any

	First    int    // its first write in the thread's log
	Given    int    // writes of its input
	Step     int    // of the checkpoint that it began after; BeforeFirst: none
	Previous string // that checkpoint; empty: none
}

// BeforeFirst is the step before the first checkpoint of a thread, whose step is -1.
const BeforeFirst = -2

// Opening reads the state that the run started from. The error is [ErrNotBegun] for one that waits to
// begin.
func (h Handle) Opening(ctx context.Context) (Opening, error) {
	o := h.origin
	if o == nil {
		r, err := h.host.store.Run(ctx, h.ID)
		if err != nil {
			return Opening{}, err
		}
		if o = originOf(r, r.Frames[0].Messages[:min(r.Input, len(r.Frames[0].Messages))]); o == nil {
			return Opening{}, ErrNotBegun
		}
	}
	open := Opening{First: o.first, Given: len(o.input), Step: BeforeFirst, Input: shown.Messages(h.secrets, o.input)}
	if o.changed {
		open.Given++
	}
	if o.before == tree.Root {
		open.Messages = shown.Messages(h.secrets, tree.Merge(nil, o.input))
		return open, nil
	}
	t, err := h.host.store.Tree(ctx, h.Thread)
	if err != nil {
		return open, err
	}
	was, is := t.State(o.after), t.State(o.before)
	open.Before, open.ValuesBefore = shown.Messages(h.secrets, was.Messages), shown.Values(h.secrets, was.Values)
	open.Messages, open.Values = shown.Messages(h.secrets, tree.Merge(is.Messages, o.input)), shown.Values(h.secrets, is.Values)
	list := t.Boundaries()
	if i := t.Last(list, o.after); i != tree.Root {
		open.Step, open.Previous = list[i].Step, list[i].ID(h.Thread)
	}
	return open, nil
}

// ErrNotBegun is the answer to who asks what a run started from that waits to begin.
var ErrNotBegun = errors.New("the run has not begun")

// First reports whether the run is the first one of its thread, as far as the handle of who started it tells.
func (h Handle) First() bool { return h.origin != nil && h.origin.after == tree.Root }
