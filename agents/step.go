package agents

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/svc-gateway/svc/agents/model"
)

// effect is something to be done outside of a run's data before the run can go on.
type effect interface{ isEffect() }

type (
	// think asks the frame's agent for its next message.
	think struct{ frame int }
	// act passes a proposed call through the gate.
	act struct{ CallRef }
	// giveBack gives the answer of a finished frame to the call that opened it.
	giveBack struct{ frame int }
	// finish closes the run.
	finish struct{}
)

func (think) isEffect()    {}
func (act) isEffect()      {}
func (giveBack) isEffect() {}
func (finish) isEffect()   {}

// next says what has to happen now. It depends on the run's data alone and changes nothing;
// the driver marks what it starts (Thinking, Closed, CallStarted), so asking again yields only
// what is new. Calls that wait, and a stop, have no effect: when nothing else is left, the run waits.
func (r *Run) next() []effect {
	if r.Failure != nil {
		return []effect{finish{}}
	}
	var effects []effect
	_, stopped := r.stopped()
	for i := range r.Frames {
		f := &r.Frames[i]
		switch {
		case f.Thinking, f.Closed, i == 0 && stopped:
		case f.answered() && f.Opener == nil:
			return []effect{finish{}}
		case f.answered():
			effects = append(effects, giveBack{i})
		case f.settled():
			effects = append(effects, think{i})
		default:
			for c := range f.Calls {
				if f.Calls[c].Status == CallProposed {
					effects = append(effects, act{CallRef{i, c}})
				}
			}
		}
	}
	return effects
}

func (r *Run) call(ref CallRef) *Call { return &r.Frames[ref.Frame].Calls[ref.Call] }

// settled reports whether every call of the last turn has its result.
func (f *Frame) settled() bool {
	return !slices.ContainsFunc(f.Calls, func(c Call) bool { return !c.Status.Final() })
}

// answered reports whether the agent's last message is an answer and not a call.
func (f *Frame) answered() bool {
	if len(f.Messages) == 0 {
		return false
	}
	last := f.Messages[len(f.Messages)-1]
	return last.Role == model.RoleAssistant && len(last.ToolCalls) == 0
}

// proposed adds a model's message to its frame, with the calls that it asks for.
func (r *Run) proposed(frame int, m model.Message, tokens int64) {
	r.spent(frame, tokens)
	f := &r.Frames[frame]
	f.Thinking, f.Note = false, ""
	m.Labels = slices.Clone(f.Labels)
	r.add(frame, m)
	f.Calls = make([]Call, len(m.ToolCalls))
	for i, tc := range m.ToolCalls {
		f.Calls[i] = Call{ToolCall: tc, Status: CallProposed, Labels: m.Labels}
	}
}

// askedAgain has a frame's model answer once more, with what was wrong with its answer.
func (r *Run) askedAgain(frame int, note string, tokens int64) {
	r.spent(frame, tokens)
	f := &r.Frames[frame]
	f.Thinking, f.Again, f.Note = false, true, note
}

// spent counts the tokens of a turn, also for those whose task the frame's agent works on.
func (r *Run) spent(frame int, tokens int64) {
	r.Tokens += tokens
	for _, i := range r.above(frame) {
		r.Frames[i].Tokens += tokens
	}
}

// opened starts a sub-agent's frame for a delegating call that the gate has cleared.
func (r *Run) opened(ref CallRef, agent string, task model.Message, record *intent, began time.Duration) {
	c := r.call(ref)
	c.Status, c.Record = CallStarted, record
	task.Labels = slices.Clone(c.Labels)
	r.Frames = append(r.Frames, Frame{Agent: agent, Opener: &ref, Began: began})
	r.add(len(r.Frames)-1, task)
}

// done gives a call its result. Once all calls of the turn have theirs, the results become
// messages, in the order in which the model asked.
func (r *Run) done(ref CallRef, o outcome) {
	c := r.call(ref)
	c.Status, c.Result, c.Record = o.status, o.text, nil
	c.Labels, c.Findings, c.Todos = o.labels, o.findings, o.todos
	f := &r.Frames[ref.Frame]
	if !f.settled() {
		return
	}
	for _, c := range f.Calls {
		r.add(ref.Frame, model.Message{
			ID: ResultID(c.ID), Role: model.RoleTool, ToolCallID: c.ID, Name: c.Name,
			Content: c.Result, Status: string(c.Status), Labels: c.Labels, Findings: c.Findings, Todos: c.Todos,
		})
	}
	f.Calls = nil
}

// ResultID is the id of the message with the result of a call. Who reads the log can tell it from there.
func ResultID(call string) string { return uuid.NewSHA1(uuid.NameSpaceOID, []byte(call)).String() }

// held makes a call wait.
func (r *Run) held(ref CallRef) {
	c := r.call(ref)
	c.Status, c.Asked = CallWaiting, true
}

// waits reports whether there is a call that waits, or the run stands at a stop.
func (r *Run) waits() bool {
	if _, stopped := r.stopped(); stopped {
		return true
	}
	return slices.ContainsFunc(r.Frames, func(f Frame) bool {
		return slices.ContainsFunc(f.Calls, func(c Call) bool { return c.Status == CallWaiting })
	})
}

// woken has every call that waits come before the gate again.
func (r *Run) woken() {
	for i := range r.Frames {
		for j := range r.Frames[i].Calls {
			if c := &r.Frames[i].Calls[j]; c.Status == CallWaiting {
				c.Status = CallProposed
			}
		}
	}
}
