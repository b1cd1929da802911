package spec

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/internal/problem"
)

// maxDecision is the largest body of a decision, in bytes.
const maxDecision = 256 << 10

// maxComment bounds what is said with a decision, in bytes.
const maxComment = 2000

// ApprovalsQuery are the query parameters of GET /approvals.
type ApprovalsQuery struct {
	State  string `query:"state" json:"-" enum:"pending,approved,edited,rejected,expired,consumed,cancelled" description:"only those in this state"`
	RunID  string `query:"run_id" json:"-" format:"uuid" description:"only those of this run"`
	UserID string `query:"user_id" json:"-" description:"only those of this user's runs"`
	Before string `query:"before" json:"-" description:"only those that are older than the one with this id"`
	Limit  int    `query:"limit" json:"-" minimum:"1" maximum:"1000" default:"10"`
}

// ApprovalPath is the path of an approval.
type ApprovalPath struct {
	ID string `path:"approval_id" json:"-" required:"true" description:"the call's id, as in the event approval_required"`
}

// DecisionRequest is the body of POST /approvals/{approval_id}.
type DecisionRequest struct {
	ApprovalPath
	Decision string          `json:"decision" required:"true" enum:"approve,reject,edit" description:"edit approves the call with other arguments"`
	Patch    json.RawMessage `json:"patch,omitempty" description:"edit: an RFC 7396 merge patch on the original arguments"`
	Comment  string          `json:"comment,omitempty" description:"for the record and the model"`
	Digest   string          `json:"digest,omitempty" description:"of the call that was shown; with another one now, the decision does not count"`
}

func (d *dialect) listApprovals(w http.ResponseWriter, r *http.Request) {
	f, err := approvalFilter(r)
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	list, err := d.Options.Approvals.Approvals(r.Context(), rest.Caller(r), f)
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	views := make([]approval.View, len(list))
	for i, a := range list {
		views[i] = d.Options.Approvals.Show(a)
	}
	rest.WriteJSON(w, views)
}

func approvalFilter(r *http.Request) (approval.Filter, error) {
	q := r.URL.Query()
	f := approval.Filter{Owner: q.Get("user_id"), Run: q.Get("run_id"), Before: q.Get("before"), Limit: defaultLimit}
	if s := approval.State(q.Get("state")); s != "" {
		if !slices.Contains(approval.States(), s) {
			return f, rest.Invalid("state: must be one of pending, approved, edited, rejected, expired, consumed, cancelled")
		}
		f.State = []approval.State{s}
	}
	err := readNumber(q, "limit", &f.Limit, 1, maxLimit)
	return f, err
}

func (d *dialect) readApproval(w http.ResponseWriter, r *http.Request) {
	id, ok := approvalID(w, r)
	if !ok {
		return
	}
	a, err := d.Options.Approvals.Approval(r.Context(), rest.Caller(r), id)
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	rest.WriteJSON(w, d.Options.Approvals.Show(a))
}

// refuseDecision lets the desk say that the caller may not decide: it records that.
func (d *dialect) refuseDecision(w http.ResponseWriter, r *http.Request) {
	_, err := d.Options.Approvals.Decide(r.Context(), rest.Caller(r), r.PathValue("approval_id"), approval.Verdict{})
	d.Fail(w, r, err)
}

func (d *dialect) decide(w http.ResponseWriter, r *http.Request) {
	id, ok := approvalID(w, r)
	if !ok {
		return
	}
	var body DecisionRequest
	if !d.Decode(w, r, &body, min(maxDecision, d.Options.BodyBytes)) {
		return
	}
	v := approval.Verdict{Decision: approval.Decision(body.Decision), Patch: body.Patch, Comment: body.Comment, Digest: body.Digest}
	switch {
	case len(body.Comment) > maxComment:
		d.Fail(w, r, rest.Invalid(fmt.Sprintf("comment: must not be longer than %d bytes", maxComment)))
		return
	case v.Decision == approval.EditFirst && len(body.Patch) == 0:
		d.Fail(w, r, rest.Invalid("patch: is missing; an edit says what is to change"))
		return
	case v.Decision != approval.EditFirst && len(body.Patch) > 0:
		d.Fail(w, r, rest.Invalid("patch: belongs to the decision edit only"))
		return
	}
	a, err := d.Options.Approvals.Decide(r.Context(), rest.Caller(r), id, v)
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	rest.WriteJSON(w, d.Options.Approvals.Show(a))
}

var approvalForm = regexp.MustCompile(`^call_[0-9a-f]{32}$`)

// approvalID is the id of the path, or the answer that it is none.
func approvalID(w http.ResponseWriter, r *http.Request) (string, bool) {
	id := r.PathValue("approval_id")
	if !approvalForm.MatchString(id) {
		problem.Write(w, r, problem.Problem{
			Status: http.StatusUnprocessableEntity, Code: "invalid_approval_id",
			Detail: "approval_id: must be the id of an approval such as call_0190f5a47c3e7b1a9f6e2d4c8a1b3e5f; GET /approvals lists them",
		})
		return "", false
	}
	return id, true
}

// moment is a time of an event; nil for none.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
