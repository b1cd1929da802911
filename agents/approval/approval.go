package approval

import (
	"encoding/json"
	"time"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/policy"
)

// State is where an approval stands.
type State string

// The states of an approval. The last two are final.
const (
	Pending   State = "pending"
	Approved  State = "approved"
	Edited    State = "edited" // approved with other arguments
	Rejected  State = "rejected"
	Expired   State = "expired"
	Consumed  State = "consumed"  // the gate has acted on it, see Outcome
	Cancelled State = "cancelled" // the run ended first
)

// States returns all states.
func States() []State {
	return []State{Pending, Approved, Edited, Rejected, Expired, Consumed, Cancelled}
}

// Approval is a call that waits for people, or did.
type Approval struct {
	ID     string `json:"id"` // that of the call
	Run    string `json:"run"`
	Thread string `json:"thread"`
	Owner  string `json:"owner"` // the user whom the run belongs to; the store sets it
	Agent  string `json:"agent"`
	Tool   string `json:"tool"`

	Requester  string          `json:"requester"`              // who asked for the run
	OnBehalfOf string          `json:"on_behalf_of,omitempty"` // and for whom
	Digest     string          `json:"digest"`                 // of the call as the model asked for it
	Arguments  json.RawMessage `json:"arguments"`              // the same, redacted
	Where      string          `json:"where,omitempty"`        // where it would run

	Rule        string   `json:"rule"`
	Message     string   `json:"message"` // why it waits, for people
	Severity    string   `json:"severity,omitempty"`
	Reasons     []string `json:"reasons"`
	PolicyHash  string   `json:"policy_hash"`
	Approvers   int      `json:"approvers"`              // how many different people have to approve
	OtherPerson bool     `json:"other_person,omitempty"` // who asked is not one of them

	State   State  `json:"state"`
	Outcome State  `json:"outcome,omitempty"` // what was decided: approved, edited, rejected or expired
	Auto    string `json:"auto,omitempty"`    // why nobody was asked, if so
	Edit    *Edit  `json:"edit,omitempty"`
	Votes   []Vote `json:"votes,omitempty"`

	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"` // until when it may be decided, and once approved, used
	Decided time.Time `json:"decided,omitzero"`
	Version int64     `json:"-"` // number of times it was saved
}

// Edit is how a person changed the arguments.
type Edit struct {
	Patch     json.RawMessage `json:"patch"` // RFC 7396, as it was given: it may hold what is not to be shown
	Digest    string          `json:"digest"`
	Arguments json.RawMessage `json:"arguments"` // with the patch applied, redacted
}

// Vote is what one person said.
type Vote struct {
	User     string    `json:"user"`
	Source   string    `json:"source,omitempty"` // of the principal
	Address  string    `json:"address,omitempty"`
	TokenID  string    `json:"token_id,omitempty"`
	Decision Decision  `json:"decision"`
	Comment  string    `json:"comment,omitempty"`
	Digest   string    `json:"digest"` // of the call that it is about
	At       time.Time `json:"at"`
}

// Decision is what a person can say.
type Decision string

// The decisions.
const (
	Approve   Decision = "approve"
	Reject    Decision = "reject"
	EditFirst Decision = "edit" // approve with other arguments
)

// Verdict is a decision as a person gives it.
type Verdict struct {
	Decision Decision
	Patch    json.RawMessage // for EditFirst: an RFC 7396 merge patch on the original arguments
	Comment  string
	// Digest is that of the call which the person was shown. When it is another one now, the verdict does
	// not count. Empty counts too, unless somebody has edited the call.
	Digest string
}

// digest is that of the call as it would be made now.
func (a *Approval) digest() string {
	if a.Edit != nil {
		return a.Edit.Digest
	}
	return a.Digest
}

// by are the people who approved the call as it would be made now.
func (a *Approval) by() []string {
	var people []string
	for _, v := range a.Votes {
		if v.Decision != Reject && v.Digest == a.digest() {
			people = append(people, v.User)
		}
	}
	return people
}

// enough reports whether those who approved it are all that it needs.
func (a *Approval) enough() bool {
	return agents.Enough(policy.Decision{Approvers: a.Approvers, OtherPerson: a.OtherPerson}, a.asker(), a.by())
}

// asker is who asked for the run, as far as it counts here.
func (a *Approval) asker() policy.Principal {
	return policy.Principal{User: a.Requester, OnBehalfOf: a.OnBehalfOf}
}

// require raises what the approval needs to what a decision asks for, and reports whether that is more
// than before.
func (a *Approval) require(d policy.Decision) (more bool) {
	if n := max(1, d.Approvers); n > a.Approvers {
		a.Approvers, more = n, true
	}
	if d.OtherPerson && !a.OtherPerson {
		a.OtherPerson, more = true, true
	}
	return more
}

// settled makes the approval a decided one.
func (a *Approval) settled(s State, now time.Time) {
	a.State, a.Outcome, a.Decided = s, s, now
}

// last is the vote that decided; the zero Vote when nobody did.
func (a *Approval) last() Vote {
	if n := len(a.Votes); n > 0 && a.Outcome != Expired {
		return a.Votes[n-1]
	}
	return Vote{}
}
