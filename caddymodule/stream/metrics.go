package stream

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/svc-gateway/svc/caddymodule/metric"
	"github.com/svc-gateway/svc/internal/media"
	"github.com/svc-gateway/svc/policy"
)

// The kinds of streams, as labels.
const kindTunnel = "tunnel" // a connection that was given away, such as a WebSocket

var kinds = map[media.Kind]string{
	media.Events: "events", media.JSONLines: "lines", media.JSONSequence: "sequence", media.GRPC: "grpc",
}

// Why streams end, as labels.
const (
	endedDone     = "done"       // the handler returned
	endedHandler  = "handler"    // it broke off, or the server behind it did
	endedClient   = "client"     // the client went away
	endedSlow     = "slow"       // it did not read, for write_timeout
	endedExpired  = "expired"    // the credential did
	endedRevoked  = "revoked"    // the credential was, or some of what it permits
	endedUnknown  = "unresolved" // nobody could say any more whose it is
	endedStopping = "stopping"   // the process goes down
)

// metrics are what all handlers of a configuration count together, and where this one stands.
type metrics struct {
	open       *prometheus.GaugeVec
	ended      *prometheus.CounterVec
	bytes      *prometheus.CounterVec
	keepalives *prometheus.CounterVec
	seconds    *prometheus.HistogramVec
	place      metric.Place
}

// newMetrics registers the metrics, or finds those of another handler.
func newMetrics(r *prometheus.Registry) (*metrics, error) {
	set := metric.NewSet(r, "stream")
	return &metrics{
		open:       set.Gauge("open", "Streams that are open.", "kind"),
		ended:      set.Counter("ended_total", "Streams that have ended, by what ended them.", "kind", "reason"),
		bytes:      set.Counter("bytes_total", "Bytes written into streams.", "kind"),
		keepalives: set.Counter("keepalives_total", "Keepalives written into silent streams."),
		seconds: set.Histogram("slowest_write_seconds",
			"How long the slowest piece of a stream took from the handler to the client's connection, each keepalive interval and at the end.",
			[]float64{1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10}, "kind"),
	}, set.Err()
}

// counts counts one stream. A nil one counts nothing. What is written is summed up here and counted from
// time to time, because an event is little work.
type counts struct {
	open       prometheus.Gauge
	ended      func(reason string) prometheus.Counter
	bytes      prometheus.Counter
	keepalives prometheus.Counter
	seconds    prometheus.Observer

	written int           // since the last time
	slowest time.Duration // piece of it
}

// begin counts a stream that opens. It looks the labels up once for all that is counted of it.
func (h *Handler) begin(ctx context.Context, kind string) *counts {
	m := h.metrics
	if m == nil { // a handler without an app
		return nil
	}
	server, site := m.place.Of(ctx, h)
	c := &counts{
		open:       m.open.WithLabelValues(server, site, kind),
		ended:      func(reason string) prometheus.Counter { return m.ended.WithLabelValues(server, site, kind, reason) },
		bytes:      m.bytes.WithLabelValues(server, site, kind),
		keepalives: m.keepalives.WithLabelValues(server, site),
		seconds:    m.seconds.WithLabelValues(server, site, kind),
	}
	c.open.Inc()
	return c
}

// wrote notes what was written.
func (c *counts) wrote(n int, took time.Duration) {
	if c != nil {
		c.written += n
		c.slowest = max(c.slowest, took)
	}
}

// flush counts what was noted.
func (c *counts) flush() {
	if c == nil || c.written == 0 {
		return
	}
	c.bytes.Add(float64(c.written))
	c.seconds.Observe(c.slowest.Seconds())
	c.written, c.slowest = 0, 0
}

// beat counts a keepalive.
func (c *counts) beat() {
	if c != nil {
		c.keepalives.Inc()
	}
}

// end counts a stream that has ended.
func (c *counts) end(reason string) {
	if c != nil {
		c.flush()
		c.open.Dec()
		c.ended(reason).Inc()
	}
}

// reason says why the stream ends. err is what the handler returned, if it did.
func (w *writer) reason(err error) string {
	switch cause := context.Cause(w.request.Context()); {
	case w.over() && errors.Is(cause, policy.ErrStopping):
		return endedStopping
	case w.over() && errors.Is(cause, policy.ErrExpired):
		return endedExpired
	case w.over() && errors.Is(cause, policy.ErrRevoked):
		return endedRevoked
	case w.over() && errors.Is(cause, errUnresolved):
		return endedUnknown
	case w.over() && errors.Is(cause, os.ErrDeadlineExceeded):
		return endedSlow
	case w.over() || cause != nil:
		return endedClient
	case err != nil || !w.returned:
		return endedHandler
	}
	return endedDone
}
