package agents

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/svc-gateway/svc/agents/model"
)

var (
	// ErrCheckpointNotFound is the answer for a checkpoint that the thread does not have, also when
	// another one has it.
	ErrCheckpointNotFound = errors.New("checkpoint not found")
	// ErrValuesTooLarge is the answer to who sets more in a thread, beside messages, than there is room for.
	ErrValuesTooLarge = errors.New("the values are too large")
	// ErrNothingToDo is the answer to who goes on, without input, where nothing comes next.
	ErrNothingToDo = errors.New("nothing comes next at this checkpoint, and the run has no input")
)

// Checkpoint is the state of a thread between two steps. What it shows is redacted as events are.
type Checkpoint struct {
	Thread string
	ID     string // empty: of a thread in which nothing was written
	Parent string // the checkpoint before it; empty: none

	Run     string   // that it is of; empty: none
	Source  string   // input, loop or update
	Step    int      // from -1
	Next    []string // nodes that come next; none: it is over
	Created time.Time

	Messages   []model.Message
	Values     map[string]any // beside messages
	Interrupts []Interrupt    // what the thread's run waits for here
	Failure    *Failure       // of the run that ended here
	Metadata   map[string]any // of the run
}

// HistoryFilter selects checkpoints, newest first.
type HistoryFilter struct {
	Limit    int            // how many at most; 0: all. Large ones may be fewer, but at least one
	Before   string         // only those before this one; empty: all
	Metadata map[string]any // contained in what the checkpoint says of itself: source, step, run_id and the run's metadata
}

// StateUpdate changes the state of a thread in which no run is at work: first it removes, then it
// sets values, then it adds messages.
type StateUpdate struct {
	Checkpoint string // where the change is made; empty: at the thread's end
	AsNode     string // the node that it counts as; empty: what comes next follows from the messages

	Remove    []string // ids of messages
	RemoveAll bool
	Values    map[string]any
	Messages  []model.Message // one with an id that is there takes its place
}

// Interrupt is what a run waits for: calls of one agent that need leave, or somebody to go on where
// a stop was asked for.
type Interrupt struct {
	ID        string // the same as long as the run waits at this point
	Run       string
	Frame     int // of the run; 0 is the top-level agent
	Agent     string
	Namespace string // of the subgraph: empty for the top-level agent, tools:<call id> for one that a call opened, joined by |
	Node      string // that the run stands before or after
	Before    bool   // a stop before the node
	After     bool   // a stop after the node
	Calls     []WaitingCall
}

// WaitingCall is a call that needs leave.
type WaitingCall struct {
	Call     string
	Approval string // what to decide on at the desk
	Tool     string
	Input    json.RawMessage // redacted
	Reason   string
	Where    string
	Digest   string // send it back with the decision
	Expires  time.Time
	People   int  // how many have to agree, when more than one
	Other    bool // whoever asked for the run is not one of them
}
