package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/caddymodule/refusal"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

// refuse answers a request that the providers did not let pass, and returns why.
func (h *Handler) refuse(rec *recorder, r *http.Request, err error) (outcome string) {
	p := h.chain.Problem(err)
	rec.reason = p.Code
	outcome = outcomeOf(err)
	if h.toLogin(rec, r, p) {
		return outcome
	}
	for _, c := range h.challenges(r, err) {
		rec.Header().Add("WWW-Authenticate", h.resource.point(r, c))
	}
	if refused, ok := errors.AsType[*identity.Refused](err); ok && refused.RetryAfter > 0 {
		problem.RetryAfter(rec.Header(), refused.RetryAfter)
	} else if outcome == technical {
		h.logger.Error("authenticating a request", zap.Error(err))
	}
	h.answer(rec, r, p)
	return outcome
}

// answer answers a request that is refused. Where handle_errors has no answer, a person gets a page.
func (h *Handler) answer(w http.ResponseWriter, r *http.Request, p problem.Problem) {
	refusal.Or(w, r, p, func(w http.ResponseWriter) { h.web.Problem(w, arriving(r, h.Prefix), p) })
}

func (h *Handler) permits(p policy.Principal) bool {
	return h.Require == "" || p.Role.May(h.Require)
}

// forbid refuses a principal whose role does not permit what is required, on record.
func (h *Handler) forbid(w http.ResponseWriter, r *http.Request, p policy.Principal) {
	method, path := asked(r)
	err := h.audit.Queue(context.WithoutCancel(r.Context()), audit.Event{
		Type: audit.PermissionDenied, User: p.User, Role: string(p.Role), TokenID: p.TokenID, OnBehalfOf: p.OnBehalfOf,
		Address: p.Address, RequestID: p.RequestID, Method: method, Path: path, Action: string(h.Require), Status: "denied",
		Decision: string(policy.Deny), Rule: policy.RulePermission,
		Reasons: []string{fmt.Sprintf("permission: role %s may not %s", p.Role, h.Require)},
	})
	if err != nil {
		h.logger.Error("accounting for a request", zap.Error(err))
	}
	h.answer(w, r, problem.Problem{
		Status: http.StatusForbidden, Code: roleInsufficient,
		Detail: fmt.Sprintf("This needs the permission %q, which the role %q does not have.", h.Require, p.Role),
	})
}

func (h *Handler) unaudited(rec *recorder, r *http.Request, err error) (outcome string) {
	h.logger.Error("request refused because the audit log cannot be written", zap.Error(err))
	rec.reason = unavailable
	rec.Header().Set("Retry-After", "5")
	refusal.Write(rec, r, problem.Problem{
		Status: http.StatusServiceUnavailable, Code: unavailable,
		Detail: "The audit log cannot be written, and nothing is done without it; try again later.",
	})
	return unavailable
}
