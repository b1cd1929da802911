package auth

import (
	"context"
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/svc-gateway/svc/caddymodule/metric"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

// Outcomes of requests beside the reasons of refusals.
const (
	succeeded = "success"
	technical = "error"   // nobody could tell who sent it
	missing   = "missing" // it held no credentials
	opened    = "open"    // its path needs nobody to send it
	nobody    = "nobody"  // the label for "no provider decided"
)

// newOutcomes returns the counter of what became of requests, by site, by the provider that decided
// and by the outcome. All handlers of a configuration share one.
func newOutcomes(r *prometheus.Registry) (*prometheus.CounterVec, error) {
	set := metric.NewSet(r, "auth")
	return set.Counter("total", "Requests by the provider that decided about them and by what became of them.", "provider", "outcome"), set.Err()
}

// count counts what became of a request.
func (h *Handler) count(ctx context.Context, provider, outcome string) {
	server, site := h.place.Of(ctx, h)
	h.outcomes.WithLabelValues(server, site, provider, outcome).Inc()
}

// outcomeOf names what became of somebody whom a provider was asked about.
func outcomeOf(err error) string {
	if refused, ok := errors.AsType[*identity.Refused](err); ok {
		return refused.Reason
	}
	switch {
	case err == nil:
		return succeeded
	case errors.Is(err, identity.ErrNoCredentials):
		return missing
	}
	return technical
}

// countedPasswords counts the logins of the login page, where no provider decides.
type countedPasswords struct {
	identity.Passwords
	count func(ctx context.Context, provider, outcome string)
}

func (c countedPasswords) Check(ctx context.Context, user, password, address string) (policy.Principal, error) {
	p, err := c.Passwords.Check(ctx, user, password, address)
	c.count(ctx, policy.SourceLDAP, outcomeOf(err))
	return p, err
}
