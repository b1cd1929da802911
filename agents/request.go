package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/schema"
	"github.com/svc-gateway/svc/agents/tree"
)

var (
	// ErrIdempotency is the answer to a request with the key of another one.
	ErrIdempotency = errors.New("another request has used this key")
	// ErrWebhook is the answer to a request with an address that nothing may be sent to.
	ErrWebhook = errors.New("the webhook's address is not allowed")
	// ErrNotInterrupted is the answer to who goes on with a run that does not stand at a stop.
	ErrNotInterrupted = errors.New("no run of the thread stands at a stop")
)

// Multitask says what becomes of a request for a run while another run has the thread.
type Multitask string

// What becomes of such a request. Empty is MultitaskReject.
const (
	MultitaskReject    Multitask = "reject"    // the error is ErrBusy
	MultitaskEnqueue   Multitask = "enqueue"   // the run starts after the others, in the order of the requests
	MultitaskInterrupt Multitask = "interrupt" // the other runs are cancelled; what they did stays
	MultitaskRollback  Multitask = "rollback"  // the other runs are cancelled and taken back
)

// Waits reports whether the run waits while another one has the thread.
func (m Multitask) Waits() bool {
	return m == MultitaskEnqueue || m == MultitaskInterrupt || m == MultitaskRollback
}

// Request asks for a run.
type Request struct {
	// ID is a key of the caller's, such as an Idempotency-Key: a second request of the same user with it
	// gets the run of the first, and ErrIdempotency if it asks for something else. Empty: none.
	ID string

	User      string // whom the principal acts for; empty: itself
	Assistant string // empty: [Default]
	Thread    string // empty: a thread of its own
	// CreateThread creates the thread if there is none.
	CreateThread bool
	Input        []model.Message // empty: goes on with what comes next in the state

	Checkpoint string         // of the thread, at which the run begins; empty: where the thread stands
	Remove     []string       // ids of messages that are taken away before the input is added
	RemoveAll  bool           // takes away all messages before
	Values     map[string]any // set before, beside messages
	Goto       string         // the node that comes next, whatever the state says; empty: what the state says

	Metadata map[string]any  // kept with the run
	Kwargs   json.RawMessage // kept with the run; an object

	Multitask       Multitask
	After           time.Duration // the run starts so much later
	MaxSteps        int           // turns of the model and rounds of calls of the top-level agent; 0: as the settings say
	InterruptBefore []string      // nodes before which the run stops until [View.Resume]; "*": each
	InterruptAfter  []string      // the same after them
	Webhook         string        // is told of the run's end; empty: nobody is

	KeepThread   bool // a thread of its own is listed and stays
	DeleteThread bool // a thread of its own is removed soon after the run

	// Form is a JSON Schema that the answer is to fit. The model is told of it, and asked once more when its
	// answer does not. Empty: any answer.
	Form json.RawMessage `json:",omitempty"`

	// AutoApprove lets the run go on where only rules of the program ask for approval. It needs the
	// role admin, and a thread of one's own.
	AutoApprove bool

	owner string // of the thread; empty for a new one
	fresh bool   // the thread is created with the run
}

const (
	maxKey      = 256
	maxAfter    = 30 * 24 * time.Hour
	deleteAfter = time.Minute // after a run's end its thread is removed that is not kept
)

// Check says what [View.Start] would refuse a request for, as far as the request alone tells.
func (v View) Check(req Request) error { return req.check(v.rt.callbacks) }

// check says which field cannot be used.
func (req *Request) check(c Callbacks) error {
	bad := func(field, message string) error { return &FieldError{field, message} }
	switch {
	case len(req.ID) > maxKey:
		return bad("idempotency key", fmt.Sprintf("must not be longer than %d bytes", maxKey))
	case req.After < 0 || req.After > maxAfter:
		return bad("after_seconds", fmt.Sprintf("must be from 0 to %d", int(maxAfter.Seconds())))
	case req.MaxSteps < 0:
		return bad("recursion_limit", "must be a number from 1 on")
	case req.Multitask != "" && req.Multitask != MultitaskReject && !req.Multitask.Waits():
		return bad("multitask_strategy", "must be one of reject, enqueue, interrupt, rollback")
	case req.Goto != "" && req.Goto != tree.NodeAgent && req.Goto != tree.NodeTools:
		return bad("goto", "must be agent or tools")
	case req.Webhook != "" && c == nil:
		return ErrWebhook
	}
	if len(req.Form) > 0 {
		if _, err := schema.Compile("the schema", req.Form); err != nil {
			return bad("output_schema", err.Error())
		}
	}
	for _, list := range []struct {
		field string
		nodes []string
	}{{"interrupt_before", req.InterruptBefore}, {"interrupt_after", req.InterruptAfter}} {
		if err := checkNodes(list.field, list.nodes); err != nil {
			return err
		}
	}
	if req.Webhook != "" {
		if err := c.Allowed(req.Webhook); err != nil {
			return fmt.Errorf("%w: %w", ErrWebhook, err)
		}
	}
	return nil
}

// checkNodes says which of the nodes to stop at there is none.
func checkNodes(field string, nodes []string) error {
	for _, n := range nodes {
		if n != tree.NodeAgent && n != tree.NodeTools && n != everyNode {
			return &FieldError{field, fmt.Sprintf("there is no node %q; the nodes are agent and tools, and * is each", n)}
		}
	}
	return nil
}

// Resumption goes on with a run that stands at a stop.
type Resumption struct {
	Run string // empty: the thread's
	// InterruptBefore and InterruptAfter replace the stops of the run; nil: they stay.
	InterruptBefore, InterruptAfter []string
}
