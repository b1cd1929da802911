package agents

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/own"
	"github.com/svc-gateway/svc/agents/todo"
	"github.com/svc-gateway/svc/agents/tree"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner"
)

// Status is where a run stands.
type Status string

// The states of a run. The last four are final.
const (
	Pending     Status = "pending"
	Running     Status = "running"
	Interrupted Status = "interrupted" // it waits for something outside, see Holds
	Success     Status = "success"
	Error       Status = "error"
	Timeout     Status = "timeout"
	Cancelled   Status = "cancelled"
)

// Final reports whether a run in this state will never change again.
func (s Status) Final() bool {
	return s == Success || s == Error || s == Timeout || s == Cancelled
}

// CallStatus is where a tool call stands.
type CallStatus string

// The states of a call. Denied and all below started are final.
const (
	CallProposed  CallStatus = "proposed"
	CallDenied    CallStatus = "denied"
	CallRejected  CallStatus = "rejected" // a person did not approve it
	CallExpired   CallStatus = "expired"  // nobody approved it in time
	CallWaiting   CallStatus = "waiting"  // needs leave from outside, see Holds
	CallStarted   CallStatus = "started"
	CallSuccess   CallStatus = "success"
	CallError     CallStatus = "error"
	CallTimeout   CallStatus = "timeout"
	CallCancelled CallStatus = "cancelled"
	CallUnknown   CallStatus = "unknown" // the process died after "started"
)

// Final reports whether a call in this state has its result.
func (s CallStatus) Final() bool {
	return s != CallProposed && s != CallWaiting && s != CallStarted
}

// Run is one run of a top-level agent as plain data: all that is needed to go on with it.
type Run struct {
	ID        string           `json:"run"`
	Thread    string           `json:"thread"`
	Assistant string           `json:"assistant"`
	Principal policy.Principal `json:"principal"` // as it was at the start
	Status    Status           `json:"status"`
	Version   int64            `json:"version"` // number of times this run was saved
	Harness   string           `json:"harness"`
	Toolset   string           `json:"toolset,omitempty"` // version of the agents and tools that it works with
	Policy    string           `json:"policy,omitempty"`  // hash of the policy that it keeps
	Base      int              `json:"base"`              // messages of the thread before this run's first
	Input     int              `json:"input"`             // messages of the first frame that the thread got at the start
	Frames    []Frame          `json:"frames"`
	Steps     int              `json:"steps"`  // model turns taken
	Tokens    int64            `json:"tokens"` // model tokens used
	Worked    time.Duration    `json:"worked"` // nanoseconds at work until the last wait
	Failure   *Failure         `json:"failure,omitempty"`
	Foreign   bool             `json:"foreign,omitempty"`      // the thread, and what it says, is somebody else's
	Auto      bool             `json:"auto_approve,omitempty"` // it goes on without a person where that is allowed
	Created   time.Time        `json:"created"`
	Updated   time.Time        `json:"updated"`

	// Follows is the write of the thread after which the run begins; nil: the one before its first.
	Follows *int `json:"follows,omitempty"`
	// Stood is where the thread stood when the run began, if the run begins elsewhere.
	Stood *int `json:"stood,omitempty"`
	// Change is made to the state before the input is added.
	Change tree.Change `json:"change,omitzero"`

	Metadata  map[string]any  `json:"metadata,omitempty"`
	Kwargs    json.RawMessage `json:"kwargs,omitempty"`
	Request   string          `json:"request,omitempty"` // what tells the request for it from others, when it came with a key
	Digest    string          `json:"digest,omitempty"`  // of that request
	Multitask Multitask       `json:"multitask,omitempty"`
	Queued    bool            `json:"queued,omitempty"`    // it has not begun, and the thread is not its
	Due       time.Time       `json:"due,omitzero"`        // when it may begin
	Displaces []string        `json:"displaces,omitempty"` // the runs that it takes the place of
	Again     bool            `json:"again,omitempty"`     // without input, it begins with a turn of the model even after an answer
	MaxSteps  int             `json:"max_steps,omitempty"` // turns and rounds of calls of the first frame
	Stops     *stops          `json:"stops,omitempty"`     // where it stops until somebody goes on
	Webhook   string          `json:"webhook,omitempty"`   // is told of its end
	Form      json.RawMessage `json:"form,omitempty"`      // JSON Schema that the answer is to fit; empty: any answer

	// More is set by [Store.FinishRun]: there are runs that wait for the thread.
	More bool `json:"-"`
	// Edit is written by [Store.FinishRun] at once with the run's end; nil: nothing is.
	Edit *Edit `json:"-"`
}

// Frame is one agent at work within a run. The first frame is the top-level agent's; each
// further one was opened by a delegating call and keeps its messages to itself.
type Frame struct {
	Agent    string          `json:"agent"`
	Opener   *CallRef        `json:"opener,omitempty"` // the delegating call; nil for the first frame
	Messages []model.Message `json:"messages"`
	Calls    []Call          `json:"calls,omitempty"` // of the last model turn
	Labels   []string        `json:"labels,omitempty"`
	Closed   bool            `json:"closed,omitempty"` // its answer went back to the opener
	Steps    int             `json:"steps,omitempty"`  // model turns taken
	Tokens   int64           `json:"tokens,omitempty"` // used, those of the frames below included
	Began    time.Duration   `json:"began,omitempty"`  // nanoseconds that the run was at work before
	Known    *Recalled       `json:"known,omitempty"`  // from earlier conversations; nil: nobody has looked
	Again    bool            `json:"again,omitempty"`  // the model was asked once more for its answer
	Note     string          `json:"-"`                // what it is told then
	Thinking bool            `json:"-"`                // a model turn is under way in this process
}

// CallRef points at a call of a frame.
type CallRef struct {
	Frame int `json:"frame"`
	Call  int `json:"call"`
}

// Call is one tool call that a model asked for.
type Call struct {
	model.ToolCall
	Status   CallStatus        `json:"status"`
	Labels   []string          `json:"labels,omitempty"`   // sources that the model had seen
	Asked    bool              `json:"asked,omitempty"`    // leave was asked for, and the record says so
	Result   string            `json:"result,omitempty"`   // scanned and redacted, as the model gets it
	Findings []scanner.Finding `json:"findings,omitempty"` // of the result
	Todos    *[]todo.Item      `json:"todos,omitempty"`    // the plan that it wrote
	Record   *intent           `json:"record,omitempty"`   // a delegation under way, for its outcome record
}

// Failure says why a run did not succeed. Code is stable, Message is for people; neither
// holds a credential.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (f *Failure) Error() string { return f.Code + ": " + f.Message }

// Owner is the user whom the run's thread belongs to.
func (r *Run) Owner() string { return ownerOf(r.Principal) }

// ownerOf is the user whom what a principal makes belongs to.
func ownerOf(p policy.Principal) string { return own.Of(p) }

// info is what the run is listed with.
func (r *Run) info() RunInfo {
	return RunInfo{
		ID: r.ID, Thread: r.Thread, Owner: r.Owner(), Assistant: r.Assistant, Status: r.Status, Version: r.Version,
		Created: r.Created, Updated: r.Updated, Metadata: r.Metadata, Kwargs: r.Kwargs, Multitask: r.Multitask, Failure: r.Failure,
	}
}

// Before is the write of the thread after which the run's own begin: what its top-level agent knows
// beside them is the state there.
func (r *Run) Before() int {
	if r.Follows == nil || !r.Change.IsZero() {
		return r.Base - 1
	}
	return *r.Follows
}

// After is the write that the run's first one follows.
func (r *Run) After() int {
	switch {
	case r.Follows != nil:
		return *r.Follows
	case !r.Change.IsZero():
		return r.Base - 2
	}
	return r.Base - 1
}

// StoodAt is where the thread stood when the run began.
func (r *Run) StoodAt() int {
	if r.Stood != nil {
		return *r.Stood
	}
	return r.After()
}

// add appends a message to a frame, whose labels grow by the message's.
func (r *Run) add(frame int, m model.Message) {
	f := &r.Frames[frame]
	f.Messages = append(f.Messages, m)
	f.mark(m.Labels)
}

// mark adds the sources of what the frame's agent gets to see.
func (f *Frame) mark(labels []string) {
	for _, label := range labels {
		if !slices.Contains(f.Labels, label) {
			f.Labels = append(f.Labels, label)
		}
	}
}
