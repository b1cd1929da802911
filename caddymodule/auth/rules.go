package auth

import (
	"context"
	"net/http"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
)

// requestOf is a request as expressions see it.
func requestOf(r *http.Request) policy.Request {
	return policy.Request{
		Method: r.Method, Scheme: scheme(r), Host: r.Host, Path: cleaned(r.URL.Path), Query: r.URL.RawQuery, Time: time.Now(),
	}
}

// ruled asks the rules on requests, and answers a request that they deny. What they say is on record.
func (h *Handler) ruled(rec *recorder, r *http.Request, p policy.Principal) (outcome string) {
	d := h.policy.Engine().DecideRequest(p, requestOf(r))
	if d.Effect == policy.Allow && len(d.Observed) == 0 {
		return succeeded
	}
	method, path := asked(r)
	h.logger.Info("a rule applied to a request", zap.String("effect", string(d.Effect)), zap.String("rule", d.Rule), zap.String("code", d.Code),
		zap.String("user", p.User), zap.String("method", method), zap.String("path", path), zap.String("request_id", p.RequestID), zap.Strings("reasons", d.Reasons))
	rec.ruled(d)
	if d.Effect != policy.Deny {
		return succeeded
	}
	rec.reason = d.Code
	err := h.audit.Queue(context.WithoutCancel(r.Context()), audit.Event{
		Type: audit.PermissionDenied, User: p.User, Role: string(p.Role), TokenID: p.TokenID, OnBehalfOf: p.OnBehalfOf,
		Address: p.Address, RequestID: p.RequestID, Method: method, Path: path, Status: "denied",
		Decision: string(policy.Deny), Rule: d.Rule, Reasons: d.Reasons, PolicyHash: d.PolicyHash,
	})
	if err != nil {
		h.logger.Error("accounting for a request", zap.Error(err))
	}
	h.answer(rec, r, problem.Problem{
		Status: http.StatusForbidden, Code: d.Code, Detail: strings.TrimSpace(d.Message + " " + d.Remedy()),
	})
	return d.Code
}
