package agents

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
)

// asker is who sends a request on the control socket. One who may not is answered with refusal.
func asker(w http.ResponseWriter, r *http.Request, may func(policy.Role) bool, refusal string) (policy.Principal, bool) {
	by, ok := policy.PrincipalFrom(r.Context())
	if !ok || !may(by.Role) {
		problem.Write(w, r, problem.Problem{Status: http.StatusForbidden, Detail: refusal})
		return by, false
	}
	return by, true
}

func isAdmin(role policy.Role) bool { return role == policy.Admin }

// outcome is how a change went that was to be recorded before and after.
type outcome struct {
	began bool  // false: it could not be recorded, and was not made
	why   error // why the change failed
	err   error // that, or why it is not on record
}

// change makes a change that somebody asks for, and records it. What it was, unless nil, is the record's output.
func change(ctx context.Context, log *audit.Log, by policy.Principal, e audit.Event, do func() (was any, err error)) (o outcome) {
	e.Type, e.User, e.Role, e.Address, e.RequestID = audit.Admin, by.User, string(by.Role), by.Address, by.RequestID
	o.err = log.Around(ctx, e, func(end *audit.Event) error {
		o.began = true
		var was any
		if was, o.why = do(); was != nil {
			end.Output = text(was)
		}
		return o.why
	})
	return o
}

// text is a document for a record; empty when it cannot be written as JSON.
func text(v any) string {
	doc, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(doc)
}

// unrecorded answers that a change was not made, since nothing would tell of it.
func unrecorded(w http.ResponseWriter, r *http.Request, detail string) {
	problem.Write(w, r, problem.Problem{Status: http.StatusServiceUnavailable, Code: "audit_unavailable", Detail: detail})
}

// answer writes what a request on the control socket asks for.
func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a client that has gone needs no answer
}
