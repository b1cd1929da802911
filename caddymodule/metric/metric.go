// Package metric registers the metrics of a stage, which all handlers of a configuration count together.
//
//	c, err := metric.Register(ctx.GetMetricsRegistry(), prometheus.NewCounterVec(…))
//
// [Place] says which server and site a handler counts for: a server may have many sites.
//
// All of it is safe for concurrent use.
package metric

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

// Register registers a metric, or returns the same one of another handler.
func Register[C prometheus.Collector](r *prometheus.Registry, c C) (C, error) {
	err := r.Register(c)
	if twice, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if there, ok := twice.ExistingCollector.(C); ok {
			return there, nil
		}
	}
	if err != nil {
		return c, fmt.Errorf("registering a metric: %w", err)
	}
	return c, nil
}
