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
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "svc", Subsystem: "redact", Name: name, Help: help}, labels)
	}
	m := &metrics{
		secrets: counter("total", "Secrets found in responses, by rule, by where they stood (header, body) and by mode (redact, observe).",
			"server", "site", "rule", "place", "mode"),
		bytes: counter("bytes_total", "Bytes of bodies that were looked at.", "server", "site"),
		held:  counter("held_total", "Pieces of bodies of which nothing could be passed on before more had come.", "server", "site"),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "svc", Subsystem: "redact", Name: "seconds",
			Help:    "How long it took to redact a body, all of its pieces together, without waiting for more.",
			Buckets: []float64{1e-5, 1e-4, 1e-3, 5e-3, 0.025, 0.1, 0.5, 2.5, 10},
		}, []string{"server", "site"}),
	}
	var err error
	for _, c := range []**prometheus.CounterVec{&m.secrets, &m.bytes, &m.held} {
		if *c, err = metric.Register(r, *c); err != nil {
			return nil, err
		}
	}
	m.seconds, err = metric.Register(r, m.seconds)
	return m, err
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
