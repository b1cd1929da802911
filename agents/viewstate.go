package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/svc-gateway/svc/agents/shown"
	"github.com/svc-gateway/svc/agents/tree"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/within"
	"github.com/svc-gateway/svc/scanner"
)

// State is the state of a thread at a checkpoint; with an empty checkpoint, as it is now. The errors
// are [ErrThreadNotFound] and [ErrCheckpointNotFound].
func (v View) State(ctx context.Context, thread, checkpoint string) (Checkpoint, error) {
	t, err := v.Thread(ctx, thread)
	if err != nil {
		return Checkpoint{}, err
	}
	return v.StateOf(ctx, t, checkpoint)
}

// StateOf is [View.State] of a thread that was read with this view.
func (v View) StateOf(ctx context.Context, t Thread, checkpoint string) (Checkpoint, error) {
	g, err := v.rt.grown(ctx, t.ID, t.alone())
	if err != nil {
		return Checkpoint{}, err
	}
	i, err := g.find(checkpoint)
	if err != nil {
		return Checkpoint{}, err
	}
	runs := map[string]RunInfo{}
	if i != tree.Root && g.list[i].Run != "" {
		if info, err := v.rt.store.RunInfo(ctx, g.list[i].Run); err == nil {
			runs[info.ID] = info
		}
	}
	return v.checkpoint(ctx, &g, i, runs)
}

// maxRuns is how many runs of a thread a history knows the metadata of.
const maxRuns = 1000

// MaxStates bounds what the states of a list hold together, in bytes. In a history, what a thread said first
// is in every one of them.
func (v View) MaxStates() int { return cmp.Or(v.rt.limits.States, 16<<20) }

// History are a thread's checkpoints of all branches, newest first.
func (v View) History(ctx context.Context, thread string, f HistoryFilter) ([]Checkpoint, error) {
	t, err := v.Thread(ctx, thread)
	if err != nil {
		return nil, err
	}
	g, err := v.rt.grown(ctx, thread, t.alone())
	if err != nil {
		return nil, err
	}
	before := len(g.list)
	if f.Before != "" {
		if before, err = g.find(f.Before); err != nil {
			return nil, err
		}
	}
	infos, err := v.rt.store.Runs(ctx, RunFilter{Thread: thread, Limit: maxRuns})
	if err != nil {
		return nil, err
	}
	runs := map[string]RunInfo{}
	for _, info := range infos {
		runs[info.ID] = info
	}
	if f.Limit <= 0 {
		f.Limit = math.MaxInt
	}
	list, held := []Checkpoint{}, 0
	for i := before - 1; i >= 0 && len(list) < f.Limit; i-- {
		if !g.shows(i) || !within.JSON(asJSON(about(g.list[i], runs)), asJSON(f.Metadata)) {
			continue
		}
		c, err := v.checkpoint(ctx, &g, i, runs)
		if err != nil {
			return nil, err
		}
		if held += c.Size(); held > v.MaxStates() && len(list) > 0 {
			break
		}
		list = append(list, c)
	}
	return list, nil
}

// about is what a checkpoint is found by: what it says of itself, and the metadata of its run.
func about(b tree.Boundary, runs map[string]RunInfo) map[string]any {
	all := maps.Clone(runs[b.Run].Metadata)
	if all == nil {
		all = map[string]any{}
	}
	all["source"], all["step"] = string(b.Kind), b.Step
	if b.Run != "" {
		all["run_id"] = b.Run
	}
	return all
}

// Size is about how large the checkpoint is as JSON, in bytes.
func (c *Checkpoint) Size() int {
	n := 0
	if len(c.Values) > 0 {
		n = len(jsonText(c.Values))
	}
	for i := range c.Messages {
		const frame = 256 // of what is around the content
		n += frame + len(c.Messages[i].Content)
		for _, call := range c.Messages[i].ToolCalls {
			n += frame + 2*len(call.Arguments) // twice: as calls and as chunks
		}
	}
	return n
}

// checkpoint is one of a thread's boundaries as readers get it.
func (v View) checkpoint(ctx context.Context, g *grown, i int, runs map[string]RunInfo) (Checkpoint, error) {
	if i == tree.Root {
		state := g.tree.State(g.tree.Head)
		return Checkpoint{Thread: g.thread, Step: -1, Next: []string{}, Values: shown.Values(v.rt.gate.secrets, state.Values)}, nil
	}
	b := g.list[i]
	state := g.tree.State(b.At)
	c := Checkpoint{
		Thread: g.thread, ID: b.ID(g.thread), Run: b.Run, Source: string(b.Kind), Step: b.Step, Next: b.Next, Created: b.Created,
		Messages: shown.Messages(v.rt.gate.secrets, state.Messages), Values: shown.Values(v.rt.gate.secrets, state.Values), Metadata: shown.Values(v.rt.gate.secrets, runs[b.Run].Metadata),
	}
	if b.Parent != tree.Root && g.shows(b.Parent) {
		c.Parent = g.list[b.Parent].ID(g.thread)
	}
	if i == g.tree.Last(g.list, g.tree.Head) {
		c.Failure = runs[b.Run].Failure
		if g.run != nil {
			var err error
			if c.Interrupts, err = v.rt.interrupts(ctx, g.run); err != nil {
				return c, err
			}
		}
	}
	return c, nil
}

// UpdateState changes the state of a thread and returns it. A run of it that waits ends as cancelled: the
// calls that it waited for come next, and need leave of their own. The error is [ErrBusy] while a run is at
// work on the thread, or waits for it. The change is on record before it is made. It counts like the start
// of a run.
func (v View) UpdateState(ctx context.Context, thread string, u StateUpdate) (Checkpoint, error) {
	t, err := v.Thread(ctx, thread)
	if err != nil {
		return Checkpoint{}, err
	}
	if t.Status == ThreadBusy {
		return Checkpoint{}, ErrBusy
	}
	if err := u.check(); err != nil {
		return Checkpoint{}, err
	}
	if err := v.rt.count(ctx, ownerOf(v.p), v.rt.limits); err != nil {
		return Checkpoint{}, err
	}
	g, err := v.rt.grown(ctx, thread, t.alone())
	switch {
	case err != nil:
		return Checkpoint{}, err
	case g.run == nil && !t.alone(), g.run != nil && g.run.Status != Interrupted:
		return Checkpoint{}, ErrBusy
	}
	var at *int // nil: where the thread stands, also after the results of calls that have one
	if u.Checkpoint != "" {
		i, err := g.find(u.Checkpoint)
		if err != nil {
			return Checkpoint{}, err
		}
		if i != g.tree.Last(g.list, g.tree.Head) {
			at = &g.list[i].At
		}
	}
	writes := u.writes(v.rt.gate.scan)
	e := eventBy(v.p, audit.ThreadUpdated)
	e.Thread, e.Input = thread, string(v.rt.gate.secrets.RedactJSON([]byte(jsonText(u))))
	if t.Owner != ownerOf(v.p) {
		e.OnBehalfOf = t.Owner
	}
	if g.run != nil {
		e.Run = g.run.ID
	}
	var first int
	err = v.rt.audit.Around(ctx, e, func(*audit.Event) error {
		first, err = v.write(ctx, &g, t, at, writes)
		return err
	})
	if err != nil {
		return Checkpoint{}, err
	}
	b := tree.Boundary{Kind: tree.AfterUpdate, Seq: first + len(writes) - 1}
	return v.State(ctx, thread, b.ID(thread))
}

// check says which field cannot be used.
func (u *StateUpdate) check() error {
	if !slices.Contains([]string{"", tree.NodeStart, tree.NodeAgent, tree.NodeTools, tree.NodeEnd}, u.AsNode) {
		return &FieldError{"as_node", "must be one of __start__, agent, tools, __end__"}
	}
	return nil
}

// writes are the change as it stands in the thread's log.
func (u *StateUpdate) writes(scan func(string) []scanner.Finding) []tree.Write {
	now := time.Now().UTC()
	change := tree.Change{Remove: u.Remove, RemoveAll: u.RemoveAll, Values: u.Values}
	var writes []tree.Write
	if !change.IsZero() || len(u.Messages) == 0 {
		writes = append(writes, tree.Write{Created: now, Source: tree.Update, Change: change})
	}
	for _, m := range newMessages(slices.Clone(u.Messages), scan) {
		writes = append(writes, tree.Write{Created: now, Source: tree.Update, Message: &m})
	}
	last := &writes[len(writes)-1]
	last.Node, last.Tip = u.AsNode, true
	return writes
}

// asJSON is v as JSON has it: numbers are float64, objects maps.
func asJSON(v any) any {
	var plain any
	if json.Unmarshal([]byte(jsonText(v)), &plain) != nil {
		return nil
	}
	return plain
}
