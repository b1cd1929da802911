package agents

import (
	"context"
	"encoding/json"

	"github.com/svc-gateway/svc/policy"
)

// Holds gives or refuses leave for calls that the policy does not let through by itself
// ([policy.Approve]), such as a person's approval.
//
// The gate asks when it comes to a call, after it has recorded that the call waits. As long as
// leave is pending, the run waits: it is saved, and nothing of it stays in memory. Whoever
// answered LeavePending calls [Host.Wake] when the answer has changed, in whatever process; the
// gate then decides anew and asks again. Implementations are safe for concurrent use.
type Holds interface {
	// Ask answers for a call. LeaveGranted may be answered once for a digest: the call starts.
	// An error refuses the call.
	Ask(ctx context.Context, c HeldCall) (Leave, error)
}

// HeldCall is a call that waits for leave.
type HeldCall struct {
	Run, Thread, Agent, Call, Tool string

	Principal policy.Principal // as resolved just now
	Digest    string           // binds the leave to exactly this call
	Arguments json.RawMessage  // redacted
	Decision  policy.Decision  // why leave is needed
}

// Leave is the answer of [Holds].
type Leave struct {
	State  LeaveState
	Reason string // for the record and the model: by whom, or why not
}

// LeaveState says how it stands with a leave.
type LeaveState int

// The states of a leave.
const (
	LeavePending LeaveState = iota
	LeaveGranted
	LeaveRefused
)
