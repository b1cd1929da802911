package metric

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Calls are the metrics of a server outside that is asked: how many calls had which result, how long they took,
// and whether the server is left alone at present.
type Calls struct {
	total   *prometheus.CounterVec
	seconds *prometheus.HistogramVec
	open    *prometheus.GaugeVec
}

// NewCalls registers the metrics svc_<subsystem>_calls_total, which has the label result beside the given ones,
// svc_<subsystem>_seconds and svc_<subsystem>_open, or finds those of another handler.
func NewCalls(r *prometheus.Registry, subsystem string, labels ...string) (c Calls, err error) {
	if c.total, err = Register(r, prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "svc", Subsystem: subsystem, Name: "calls_total",
		Help: "Calls of the classifier by their result.",
	}, append(slices.Clone(labels), "result"))); err != nil {
		return c, err
	}
	if c.seconds, err = Register(r, prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: "svc", Subsystem: subsystem, Name: "seconds",
		Help:    "How long calls of the classifier took, waiting for a place included.",
		Buckets: []float64{1e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60},
	}, labels)); err != nil {
		return c, err
	}
	c.open, err = Register(r, prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: "svc", Subsystem: subsystem, Name: "open",
		Help: "1 while the classifier is left alone because it has failed, else 0. It changes with the next call.",
	}, labels))
	return c, err
}

// Observe counts a call. The values are those of the labels.
func (c Calls) Observe(result string, took time.Duration, open bool, values ...string) {
	state := 0.0
	if open {
		state = 1
	}
	c.total.WithLabelValues(append(slices.Clone(values), result)...).Inc()
	c.seconds.WithLabelValues(values...).Observe(took.Seconds())
	c.open.WithLabelValues(values...).Set(state)
}
