package approval

import "fmt"

// Kind says what is the matter with a decision that does not count.
type Kind int

// The kinds of a [Refusal].
const (
	Forbidden Kind = iota // this person may not
	Conflict              // the approval is not, or no longer, one to decide in this way
	Invalid               // the decision itself makes no sense
)

// Refusal says why a decision does not count. Code is stable, Detail is for people and holds no
// credential.
type Refusal struct {
	Kind   Kind
	Code   string
	Detail string
}

func (r *Refusal) Error() string { return fmt.Sprintf("%s: %s", r.Code, r.Detail) }

// The codes of refusals.
const (
	CodeForbidden = "forbidden"            // the role may not decide
	CodeDecision  = "invalid_decision"     // this is no decision
	CodeOwn       = "approval_own_request" // a rule wants another person than who asked
	CodeRepeated  = "approval_repeated"    // this person has approved it already
	CodeDecided   = "approval_decided"     // it is decided already
	CodeExpired   = "approval_expired"     // it was not decided in time
	CodeChanged   = "approval_changed"     // the call is not the one that was shown
	CodeRunOver   = "run_over"             // the run has ended
	CodeTooMany   = "approval_too_many"    // too many calls of the user wait; nobody is asked about this one
	CodeEdit      = "invalid_edit"         // the edit cannot be applied, or the policy denies what comes of it
)
