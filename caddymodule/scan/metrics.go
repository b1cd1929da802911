package scan

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/svc-gateway/svc/caddymodule/metric"
	"github.com/svc-gateway/svc/scanner"
)

// metrics are what all handlers of a configuration count together.
type metrics struct {
	findings *prometheus.CounterVec
	bytes    *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	calls    metric.Calls // of the classifier
}

// newMetrics registers the metrics, or finds those of another handler.
func newMetrics(r *prometheus.Registry) (*metrics, error) {
	m := &metrics{
		findings: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "svc", Subsystem: "scan", Name: "findings_total",
			Help: "Findings in bodies by category and by what is done about them.",
		}, []string{"server", "site", "side", "category", "action"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "svc", Subsystem: "scan", Name: "bytes_total",
			Help: "Bytes of bodies that were scanned.",
		}, []string{"server", "site", "side"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "svc", Subsystem: "scan", Name: "seconds",
			Help:    "How long it took to scan a body, waiting for other bodies included.",
			Buckets: []float64{1e-5, 1e-4, 1e-3, 5e-3, 0.025, 0.1, 0.5, 2.5, 10, 30},
		}, []string{"server", "site", "side"}),
	}
	var err error
	if m.findings, err = metric.Register(r, m.findings); err != nil {
		return nil, err
	}
	if m.bytes, err = metric.Register(r, m.bytes); err != nil {
		return nil, err
	}
	if m.seconds, err = metric.Register(r, m.seconds); err != nil {
		return nil, err
	}
	m.calls, err = metric.NewCalls(r, "scan_classifier", "server", "site", "side")
	return m, err
}

// found counts findings.
func (m *metrics) found(rep *report, fresh []scanner.Finding) {
	if m == nil { // a handler without an app
		return
	}
	server, site := rep.handler.place.Of(rep.request.Context(), rep.handler)
	for _, f := range fresh {
		action := actionLog
		if f.Confidence == scanner.High {
			action = rep.handler.actionFor(kindOf(f))
		}
		m.findings.WithLabelValues(server, site, string(rep.side), string(f.Category), action).Inc()
	}
}

// observe counts a call of the classifier.
func (rep *report) observe(result string, took time.Duration, open bool) {
	if m := rep.handler.metrics; m != nil {
		server, site := rep.handler.place.Of(rep.request.Context(), rep.handler)
		m.calls.Observe(result, took, open, server, site, string(rep.side))
	}
}

// close counts a body that has ended, if there was one.
func (rep *report) close() {
	rep.mu.Lock()
	defer rep.mu.Unlock()
	if m := rep.handler.metrics; m != nil && rep.bytes > 0 {
		server, site := rep.handler.place.Of(rep.request.Context(), rep.handler)
		m.bytes.WithLabelValues(server, site, string(rep.side)).Add(float64(rep.bytes))
		m.seconds.WithLabelValues(server, site, string(rep.side)).Observe(rep.took.Seconds())
	}
}
