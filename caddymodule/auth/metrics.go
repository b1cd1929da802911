package auth

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// Outcomes of requests beside the reasons of refusals.
const (
	succeeded = "success"
	technical = "error"   // nobody could tell who sent it
	missing   = "missing" // it held no credentials
	nobody    = "nobody"  // the label for "no provider decided"
)

// newOutcomes returns the counter of what became of requests, by the provider that decided and
// the outcome. All handlers of a configuration share one.
func newOutcomes(r *prometheus.Registry) (*prometheus.CounterVec, error) {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "svc", Subsystem: "auth", Name: "total",
		Help: "Requests by the provider that decided about them and by what became of them.",
	}, []string{"provider", "outcome"})
	err := r.Register(c)
	if twice, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		c, ok = twice.ExistingCollector.(*prometheus.CounterVec)
		if ok {
			return c, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("registering svc_auth_total: %w", err)
	}
	return c, nil
}
