package approval

import (
	"encoding/json"
	"time"

	"github.com/svc-gateway/svc/scanner/redact"
)

// View is an approval as it is shown: over the API, in webhooks, on the command line. It holds no
// credential.
type View struct {
	ID          string          `json:"id" required:"true" description:"the call's"`
	State       string          `json:"state" required:"true" enum:"pending,approved,edited,rejected,expired,consumed,cancelled"`
	Outcome     string          `json:"outcome,omitempty" enum:"approved,edited,rejected,expired" description:"what was decided"`
	RunID       string          `json:"run_id" required:"true" format:"uuid"`
	ThreadID    string          `json:"thread_id" required:"true" format:"uuid"`
	UserID      string          `json:"user_id" required:"true" description:"the user whom the run belongs to"`
	RequestedBy string          `json:"requested_by" required:"true" description:"who asked for the run"`
	Agent       string          `json:"agent" required:"true"`
	Tool        string          `json:"tool" required:"true"`
	Input       json.RawMessage `json:"input" required:"true" description:"the arguments, with an edit applied; credentials are redacted"`
	Original    json.RawMessage `json:"original,omitempty" description:"the arguments before an edit"`
	Patch       json.RawMessage `json:"patch,omitempty" description:"the edit, an RFC 7396 merge patch"`
	Digest      string          `json:"digest" required:"true" description:"of the call as it would be made; send it back with the decision"`
	Where       string          `json:"where,omitempty" description:"where the call would run"`
	Reason      string          `json:"reason" required:"true" description:"why it waits, for people"`
	Rule        string          `json:"rule" required:"true"`
	Severity    string          `json:"severity,omitempty"`
	Approvers   int             `json:"approvers" required:"true" description:"how many different people have to approve"`
	OtherPerson bool            `json:"other_person" required:"true" description:"who asked for the run is not one of them"`
	Auto        string          `json:"auto_approved,omitempty" description:"why nobody was asked"`
	Votes       []VoteView      `json:"votes" required:"true" nullable:"false"`
	CreatedAt   time.Time       `json:"created_at" required:"true"`
	ExpiresAt   time.Time       `json:"expires_at" required:"true"`
	DecidedAt   *time.Time      `json:"decided_at,omitempty"`
}

// VoteView is what one person said.
type VoteView struct {
	UserID   string    `json:"user_id" required:"true"`
	Decision string    `json:"decision" required:"true" enum:"approve,reject,edit"`
	Comment  string    `json:"comment,omitempty"`
	At       time.Time `json:"at" required:"true"`
}

// Show is the approval as it may be shown, without the secrets and whatever looks like a credential.
func (a *Approval) Show(secrets *redact.Secrets) View {
	v := View{
		ID: a.ID, State: string(a.State), Outcome: string(a.Outcome), RunID: a.Run, ThreadID: a.Thread, UserID: a.Owner,
		RequestedBy: a.Requester, Agent: a.Agent, Tool: a.Tool, Input: a.Arguments, Digest: a.digest(), Where: a.Where,
		Reason: a.Message, Rule: a.Rule, Severity: a.Severity, Approvers: a.Approvers, OtherPerson: a.OtherPerson, Auto: a.Auto,
		Votes: []VoteView{}, CreatedAt: a.Created, ExpiresAt: a.Expires,
	}
	if e := a.Edit; e != nil {
		v.Original, v.Input, v.Patch = a.Arguments, e.Arguments, secrets.RedactJSON(e.Patch)
	}
	for _, vote := range a.Votes {
		v.Votes = append(v.Votes, VoteView{vote.User, string(vote.Decision), vote.Comment, vote.At})
	}
	if !a.Decided.IsZero() {
		v.DecidedAt = &a.Decided
	}
	return v
}
