package agents

import (
	"context"
	"encoding/json"
	"time"

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
	// Ask answers for a call. LeaveGranted is answered once for a call, and what makes it so is
	// durable before: the call starts. An error refuses the call.
	Ask(ctx context.Context, c HeldCall) (Leave, error)
}

// HeldCall is a call that waits for leave.
type HeldCall struct {
	Run, Thread, Agent, Call, Tool string

	Principal policy.Principal // as resolved just now
	Foreign   bool             // the run is in a thread of somebody else
	Auto      bool             // the run asked to go on without a person where that is allowed
	Digest    string           // binds the leave to exactly this call
	Arguments json.RawMessage  // redacted
	Where     string           // where it would run, for people
	Decision  policy.Decision  // why leave is needed
}

// Leave is the answer of [Holds].
type Leave struct {
	State  LeaveState
	Reason string // for the record and the model: by whom, or why not

	// These tell the readers of the run what it waits for. Without an ID they are told of no decision.
	ID      string
	Expires time.Time
	People  int  // how many have to agree, when more than one
	Other   bool // whoever asked for the run is not one of them

	Digest string // of the call that leave is given for; with Patch it is another one than was asked for
	Where  string // where that call would run
	// By are the people who gave leave, or the one who did not.
	By []string
	// Patch is how they changed the arguments: an RFC 7396 merge patch. The gate applies it, decides
	// on the changed call as on any other, and makes it only if its digest is Digest.
	Patch json.RawMessage
}

// LeaveState says how it stands with a leave.
type LeaveState int

// The states of a leave.
const (
	LeavePending  LeaveState = iota
	LeaveGranted             // the call starts
	LeaveRefused             // it does not: leave could not be asked for, or is another call's
	LeaveRejected            // a person said no
	LeaveExpired             // nobody said anything in time
)

// word is the leave as readers of the run are told, empty while it is pending.
func (l Leave) word() string {
	switch {
	case l.State == LeaveGranted && l.Patch != nil:
		return "edited"
	case l.State == LeaveGranted:
		return "approved"
	case l.State == LeaveRefused:
		return "refused"
	case l.State == LeaveRejected:
		return "rejected"
	case l.State == LeaveExpired:
		return "expired"
	}
	return ""
}

// status is what becomes of the call without leave.
func (l Leave) status() CallStatus {
	switch l.State {
	case LeaveRejected:
		return CallRejected
	case LeaveExpired:
		return CallExpired
	}
	return CallDenied
}

// code is the stable word for why a call is not made without leave.
func (l Leave) code() string {
	switch l.State {
	case LeaveRejected:
		return "approval_rejected"
	case LeaveExpired:
		return "approval_expired"
	case LeaveRefused:
		return "approval_refused"
	}
	return policy.CodeApproval
}

// Enough reports whether approvals by these people are what a decision asks for, on a call of a run of
// the principal. Nobody counts twice.
func Enough(d policy.Decision, asked policy.Principal, by []string) bool {
	people := map[string]bool{}
	for _, name := range by {
		if !d.OtherPerson || !Asked(asked, name) {
			people[name] = true
		}
	}
	return len(people) >= max(1, d.Approvers)
}

// Asked reports whether a user is the one who asked for what a principal does, or for whom it is done.
func Asked(p policy.Principal, user string) bool {
	return user == p.User || user == p.OnBehalfOf
}
