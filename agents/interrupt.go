package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/tree"
)

// interrupts are what a run waits for now. The run says which calls; what people are told of them is in
// the run's events.
func (h *Host) interrupts(ctx context.Context, r *Run) ([]Interrupt, error) {
	var list []Interrupt
	if s, ok := r.stopped(); ok {
		i := r.interrupt(0, s.node)
		i.Before, i.After = s.before, s.after
		list = append(list, i)
	}
	var told map[string]eventlog.Event
	for n := range r.Frames {
		i := r.interrupt(n, tree.NodeTools)
		for _, c := range r.Frames[n].Calls {
			if c.Status != CallWaiting {
				continue
			}
			if told == nil {
				var err error
				if told, err = h.toldOf(ctx, r.ID); err != nil {
					return nil, err
				}
			}
			i.Calls = append(i.Calls, waitingCall(c, told[c.ID]))
		}
		if len(i.Calls) > 0 {
			list = append(list, i)
		}
	}
	return list, nil
}

// interrupt is what a frame waits for at its present step.
func (r *Run) interrupt(frame int, node string) Interrupt {
	f := &r.Frames[frame]
	return Interrupt{
		ID: InterruptID(r.ID, frame, len(f.Messages), node), Run: r.ID, Frame: frame, Agent: f.Agent, Namespace: r.namespace(frame), Node: node,
	}
}

// InterruptID is the id of what a frame of a run waits for at a node, when it has some number of messages.
func InterruptID(run string, frame, messages int, node string) string {
	step := uuid.NewSHA1(uuid.NameSpaceOID, fmt.Appendf(nil, "%s/%d/%d/%s", run, frame, messages, node))
	return strings.ReplaceAll(step.String(), "-", "")
}

// namespace names the subgraph that a frame is, by the calls that opened it and those around it.
func (r *Run) namespace(frame int) string {
	var names []string
	for ref := r.Frames[frame].Opener; ref != nil; ref = r.Frames[ref.Frame].Opener {
		id := ""
		if calls := r.Frames[ref.Frame].Calls; ref.Call < len(calls) {
			id = calls[ref.Call].ID
		}
		names = append(names, tree.NodeTools+":"+id)
	}
	slices.Reverse(names)
	return strings.Join(names, "|")
}

// toldOf is what the readers of a run were told of calls that wait, by call.
func (h *Host) toldOf(ctx context.Context, run string) (map[string]eventlog.Event, error) {
	told := map[string]eventlog.Event{}
	for from := 0; ; {
		events, err := h.stored(ctx, run, from)
		if err != nil || len(events) == 0 {
			return told, err
		}
		for _, e := range events {
			if e.Type == eventlog.Wait {
				told[e.Call] = e
			}
		}
		from = events[len(events)-1].Seq + 1
	}
}

func waitingCall(c Call, told eventlog.Event) WaitingCall {
	w := WaitingCall{
		Call: c.ID, Approval: told.Leave, Tool: told.Name, Input: told.Input, Reason: told.Content, Where: told.Where,
		Digest: told.Digest, Expires: told.Expires, People: told.People, Other: told.Other,
	}
	if w.Approval == "" {
		w.Approval = c.ID
	}
	if w.Input == nil {
		w.Input = json.RawMessage("{}")
	}
	return w
}
