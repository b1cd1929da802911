package mcp

import (
	"context"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/model"
)

// outcome is how it stands with a call when its run has ended or waits.
type outcome struct {
	status string // of the call; empty when it did not come to one
	text   string
	failed string          // why the run ended without
	wait   *eventlog.Event // what it waits for; nil: nothing
}

// begin starts the run of a call.
func begin(ctx context.Context, v agents.View, c call) (agents.Handle, error) {
	m, err := c.message()
	if err != nil {
		return agents.Handle{}, err
	}
	return v.Start(ctx, agents.Request{Assistant: Agent, Input: []model.Message{m}})
}

// follow waits until the run of a call has ended or waits. Of one whose approval somebody has just decided on,
// it waits for what comes of that. A run that nobody waits for any more is cancelled.
func follow(ctx context.Context, h agents.Handle, decided string) (outcome, error) {
	var o outcome
	read, turn := h.FollowTurn, decided == ""
	if !turn {
		read = h.Follow
	}
	for events, err := range read(ctx, 0) {
		if err != nil {
			_ = h.Cancel(context.WithoutCancel(ctx)) // it is over, or its own limits end it
			return o, err
		}
		for _, e := range events {
			switch e.Type {
			case eventlog.Wait:
				o.wait = &e
			case eventlog.Decided:
				o.wait = nil
				if e.Leave == decided {
					decided = ""
				}
			case eventlog.Result:
				if e.Frame == 0 {
					o.status, o.text = e.Status, e.Content
				}
			case eventlog.Paused:
				if o.wait != nil && decided == "" && !turn {
					return o, nil
				}
			case eventlog.Error:
				o.failed = e.Code + ": " + e.Content
			case eventlog.Done:
				o.wait = nil
			}
		}
	}
	return o, nil
}
