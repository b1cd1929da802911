package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/budget"
	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

// Fail answers with what a client may know of an error.
func (s *Server) Fail(w http.ResponseWriter, r *http.Request, err error) {
	p, ok := errors.AsType[problem.Problem](err)
	if !ok {
		p = fault(err)
	}
	if limit, ok := errors.AsType[*agents.LimitError](err); ok {
		problem.RetryAfter(w.Header(), limit.RetryAfter)
	} else if errors.Is(err, bus.ErrUnavailable) {
		problem.RetryAfter(w.Header(), busRetry)
	} else if p.Status == http.StatusServiceUnavailable {
		problem.RetryAfter(w.Header(), time.Second)
	}
	problem.Write(w, r, p)
}

// busRetry is when a client may ask again while the live bus is away. It is found back within a second.
const busRetry = 5 * time.Second

func fault(err error) problem.Problem {
	if p, ok := refusal(err); ok {
		return p
	}
	if p, ok := stateFault(err); ok {
		return p
	}
	switch {
	case errors.Is(err, agents.ErrAutoApprove):
		return problem.Problem{
			Status: http.StatusForbidden, Code: "auto_approve_forbidden",
			Detail: "auto_approve: only the role admin may skip approvals, in its own runs and threads",
		}
	case errors.Is(err, agents.ErrUnknownAssistant):
		return problem.Problem{
			Status: http.StatusNotFound, Code: "assistant_not_found",
			Detail: "assistant_id: there is no such agent; " + agents.Default + " routes to the right one",
		}
	case errors.Is(err, agents.ErrBusy):
		return problem.Problem{
			Status: http.StatusConflict, Code: "thread_busy",
			Detail: "another run is active on this thread; wait for its end or join it with GET on this path",
		}
	case errors.Is(err, agents.ErrThreadNotFound):
		return problem.Problem{Status: http.StatusNotFound, Code: "thread_not_found", Detail: "thread_id: there is no such thread; POST /threads creates one"}
	case errors.Is(err, agents.ErrRunNotFound):
		return problem.Problem{Status: http.StatusNotFound, Code: "run_not_found", Detail: "run_id: the thread has no such run"}
	case errors.Is(err, agents.ErrOver):
		return problem.Problem{Status: http.StatusConflict, Code: "run_over", Detail: "the run is already over, or about to be"}
	case errors.Is(err, agents.ErrForbidden):
		return problem.Problem{Status: http.StatusForbidden, Code: "forbidden", Detail: "your role may not use this agent"}
	case errors.Is(err, agents.ErrTooManyRuns):
		return problem.Problem{Status: http.StatusTooManyRequests, Code: "too_many_runs", Detail: err.Error()}
	case errors.Is(err, identity.ErrUserNotFound):
		return problem.Problem{
			Status: http.StatusUnprocessableEntity, Code: "unknown_user", Detail: "user_id: there is no such user",
		}
	case errors.Is(err, identity.ErrForbidden):
		return problem.Problem{
			Status: http.StatusForbidden, Code: "user_id_forbidden",
			Detail: "user_id: only the role admin may act for another user; leave it out or give your own name",
		}
	case errors.Is(err, agents.ErrInactiveUser):
		return problem.Problem{
			Status: http.StatusUnprocessableEntity, Code: "inactive_user", Detail: "user_id: the user is disabled or expired",
		}
	case errors.Is(err, policy.ErrRevoked), errors.Is(err, policy.ErrExpired):
		return problem.Problem{Status: http.StatusUnauthorized, Code: "credential_ended", Detail: "the credential is no longer valid"}
	case errors.Is(err, agents.ErrStopping):
		return problem.Problem{Status: http.StatusServiceUnavailable, Code: "stopping", Detail: "the service is stopping"}
	case errors.Is(err, audit.ErrUnavailable):
		return problem.Problem{
			Status: http.StatusServiceUnavailable, Code: "audit_unavailable",
			Detail: "the audit log cannot be written, and nothing is done without it; try again later",
		}
	case errors.Is(err, agents.ErrUnavailable):
		return problem.Problem{Status: http.StatusServiceUnavailable, Code: "state_unavailable", Detail: "the service cannot write its state"}
	case errors.Is(err, budget.ErrFull):
		return problem.Problem{
			Status: http.StatusServiceUnavailable, Code: "overloaded",
			Detail: "too many large bodies are being read at once (setting limits.decode_memory); try again",
		}
	case errors.Is(err, agents.ErrUnreachable):
		return problem.Problem{Status: http.StatusServiceUnavailable, Code: "run_unreachable", Detail: "the process that has the run does not answer; try again"}
	case errors.Is(err, bus.ErrUnavailable):
		return problem.Problem{Status: http.StatusServiceUnavailable, Code: "bus_unavailable", Detail: "the service cannot reach what its processes share; try again"}
	}
	return problem.Problem{Status: http.StatusInternalServerError, Code: "internal", Detail: "the request failed"}
}

// WriteJSON answers with a value of ours.
func WriteJSON(w http.ResponseWriter, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Errorf("encoding %T: %w", v, err)) // our own types always encode
	}
	WriteBody(w, body)
}

// WriteBody answers with a document.
func WriteBody(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", MediaJSON)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	// A client that has gone is told nothing.
	_, _ = w.Write(body)
}

// refusal is a decision that does not count as an answer.
func refusal(err error) (problem.Problem, bool) {
	if errors.Is(err, approval.ErrNotFound) {
		return problem.Problem{Status: http.StatusNotFound, Code: "approval_not_found", Detail: "approval_id: there is no such approval; GET /approvals lists them"}, true
	}
	r, ok := errors.AsType[*approval.Refusal](err)
	if !ok {
		return problem.Problem{}, false
	}
	status := map[approval.Kind]int{
		approval.Forbidden: http.StatusForbidden, approval.Conflict: http.StatusConflict, approval.Invalid: http.StatusUnprocessableEntity,
	}[r.Kind]
	return problem.Problem{Status: status, Code: r.Code, Detail: r.Detail}, true
}
