package redact

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/svc-gateway/svc/caddymodule/metric"
)

// metrics are what all handlers of a configuration count together, and where this one stands. A nil one
// counts nothing.
type metrics struct {
	secrets *prometheus.CounterVec
	bytes   *prometheus.CounterVec
	held    *prometheus.CounterVec
	seconds *prometheus.HistogramVec
	place   metric.Place
}

// newMetrics registers the metrics, or finds those of another handler.
func newMetrics(r *prometheus.Registry) (*metrics, error) {
	set := metric.NewSet(r, "redact")
	return &metrics{
		secrets: set.Counter("total", "Secrets found in responses, by rule, by where they stood (header, body) and by mode (redact, observe).",
			"rule", "place", "mode"),
		bytes: set.Counter("bytes_total", "Bytes of bodies that were looked at."),
		held:  set.Counter("held_total", "Pieces of bodies of which nothing could be passed on before more had come."),
		seconds: set.Histogram("seconds", "How long it took to redact a body, all of its pieces together, without waiting for more.",
			[]float64{1e-5, 1e-4, 1e-3, 5e-3, 0.025, 0.1, 0.5, 2.5, 10}),
	}, set.Err()
}

// found counts a secret.
func (m *metrics) found(h *Handler, r *http.Request, rule, place string) {
	if m == nil { // a handler without an app
		return
	}
	server, site := m.place.Of(r.Context(), h)
	m.secrets.WithLabelValues(server, site, rule, place, h.Mode).Inc()
}

// work is what redacting a body was: bytes that came and that went, pieces that went nowhere by
// themselves, and time.
type work struct {
	read, written, held int
	took                time.Duration
}

// worked counts a body that has ended.
func (m *metrics) worked(h *Handler, r *http.Request, b work) {
	if m == nil || b.read == 0 {
		return
	}
	server, site := m.place.Of(r.Context(), h)
	m.bytes.WithLabelValues(server, site).Add(float64(b.read))
	m.held.WithLabelValues(server, site).Add(float64(b.held))
	m.seconds.WithLabelValues(server, site).Observe(b.took.Seconds())
}
