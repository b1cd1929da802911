// Package metric makes the metrics of a stage, which all handlers of a configuration count together.
//
//	set := metric.NewSet(ctx.GetMetricsRegistry(), "scan")
//	h.bytes = set.Counter("bytes_total", "Bytes of bodies that were scanned.", "side")
//	if err := set.Err(); err != nil { … }
//
// [Place] says which server and site a handler counts for: a server may have many sites.
//
// A [Set] belongs to one goroutine. All else, and what it makes, is safe for concurrent use.
package metric

import (
	"errors"
	"fmt"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// namespace begins the names of all metrics.
const namespace = "svc"

// Set makes the metrics of one stage and registers them. Their names are svc, that of the stage and their
// own, joined with underscores; their first labels are server and site, see [Place].
type Set struct {
	registry *prometheus.Registry
	stage    string
	place    []string // labels
	err      error
}

// NewSet begins the metrics of a stage.
func NewSet(r *prometheus.Registry, stage string) *Set {
	return &Set{registry: r, stage: stage, place: []string{"server", "site"}}
}

// NewCommonSet begins the metrics of a part that all servers and sites have together: theirs have no
// labels of a place.
func NewCommonSet(r *prometheus.Registry, part string) *Set { return &Set{registry: r, stage: part} }

// Err returns what went wrong with the metrics so far, nil if nothing did. They cannot be used then.
func (s *Set) Err() error { return s.err }

// Counter makes a counter.
func (s *Set) Counter(name, help string, labels ...string) *prometheus.CounterVec {
	return register(s, name, prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: namespace, Subsystem: s.stage, Name: name, Help: help,
	}, slices.Concat(s.place, labels)))
}

// Gauge makes a gauge.
func (s *Set) Gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return register(s, name, prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: namespace, Subsystem: s.stage, Name: name, Help: help,
	}, slices.Concat(s.place, labels)))
}

// Histogram makes a histogram with the upper bounds of its buckets.
func (s *Set) Histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return register(s, name, prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: namespace, Subsystem: s.stage, Name: name, Help: help, Buckets: buckets,
	}, slices.Concat(s.place, labels)))
}

// register registers a metric, or returns the same one of another handler.
func register[C prometheus.Collector](s *Set, name string, c C) C {
	err := s.registry.Register(c)
	if twice, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if there, ok := twice.ExistingCollector.(C); ok {
			return there
		}
	}
	if err != nil {
		s.err = errors.Join(s.err, fmt.Errorf("registering the metric %s of the stage %s: %w", name, s.stage, err))
	}
	return c
}
