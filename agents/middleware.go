package agents

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/policy"
)

// Invocation is an agent at work on a task: a run, or what another agent handed on.
type Invocation struct {
	Run, Thread, Agent string

	Frame     int              // 0 is the top-level agent
	Principal policy.Principal // who asked for the run
	Owner     string           // the user whom the principal acts for: itself, or another one
	Foreign   bool             // the run's thread, and what it says, is somebody else's
	Task      string           // what the user said last, or the task that was handed on
}

// Memory is what agents know from earlier conversations. Its methods are called by many goroutines.
type Memory interface {
	// Recall is what an agent is to know before its first turn. Its time is short. After an error the agent
	// begins without.
	Recall(ctx context.Context, in Invocation) (Recalled, error)
	// Capture is told of a task that an agent has completed. It does not wait: what takes long is done later.
	Capture(in Invocation, c Completed)
}

// Recalled is what an agent knows from earlier. The zero value is nothing.
type Recalled struct {
	Text    string   `json:"text,omitempty"`    // stands behind the system prompt at all turns of the task
	Labels  []string `json:"labels,omitempty"`  // the sources of it
	Entries int      `json:"entries,omitempty"` // how many things
}

// Completed is what an agent did for a task.
type Completed struct {
	Messages []model.Message // of the task, the answer last
	Labels   []string        // the sources of all that the agent saw

	// Ask takes a turn of the agent's model. The turn is on record as one of the run's. Ask may be called when
	// the run is over.
	Ask func(ctx context.Context, req model.Request) (model.Response, error)
}

// recallTime is how long an agent waits for what it is to know.
const recallTime = 3 * time.Second

// invocation is a frame's agent at work.
func (d *driver) invocation(frame int) Invocation {
	f := &d.run.Frames[frame]
	in := Invocation{
		Run: d.run.ID, Thread: d.run.Thread, Agent: f.Agent, Frame: frame, Principal: d.run.Principal, Owner: d.run.Owner(),
		Foreign: d.run.Foreign, Task: lastSaid(f.Messages),
	}
	if in.Task == "" && frame == 0 {
		in.Task = lastSaid(d.history)
	}
	return in
}

// lastSaid is the last message that a user, or the agent above, wrote.
func lastSaid(messages []model.Message) string {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == model.RoleUser {
			return messages[i].Content
		}
	}
	return ""
}

// recall finds out what an agent is to know.
func (d *driver) recall(ctx context.Context, in Invocation) *Recalled {
	ctx, cancel := context.WithTimeout(ctx, recallTime)
	defer cancel()
	known, err := d.rt.memory.Recall(ctx, in)
	if err != nil {
		d.rt.log.Warn("recalling memories failed, the agent begins without", zap.String("run", in.Run), zap.String("agent", in.Agent), zap.Error(err))
		return new(Recalled)
	}
	return &known
}

// capture tells of a frame's task that its agent has completed.
func (d *driver) capture(frame int) {
	if d.rt.memory == nil {
		return
	}
	in, f := d.invocation(frame), &d.run.Frames[frame]
	d.rt.memory.Capture(in, Completed{
		Messages: f.Messages, Labels: f.Labels,
		Ask: func(ctx context.Context, req model.Request) (model.Response, error) {
			started := time.Now()
			req.Agent, req.Model, req.User = in.Agent, d.set.agents[in.Agent].Model, in.Owner
			resp, err := turn(ctx, d.rt.model, req, nil)
			if err != nil {
				return resp, err
			}
			return resp, d.account(ctx, req.Agent, resp, time.Since(started))
		},
	})
}
