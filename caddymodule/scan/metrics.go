package scan

import (
	"errors"
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
	set, classifier := metric.NewSet(r, "scan"), metric.NewSet(r, "scan_classifier")
	return &metrics{
		findings: set.Counter("findings_total", "Findings in bodies by category and by what is done about them.", "side", "category", "action"),
		bytes:    set.Counter("bytes_total", "Bytes of bodies that were scanned.", "side"),
		seconds: set.Histogram("seconds", "How long it took to scan a body, waiting for other bodies included.",
			[]float64{1e-5, 1e-4, 1e-3, 5e-3, 0.025, 0.1, 0.5, 2.5, 10, 30}, "side"),
		calls: classifier.Calls("side"),
	}, errors.Join(set.Err(), classifier.Err())
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
