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

// Calls makes the metrics of calls: calls_total, which has the label result beside the others, seconds and
// open.
func (s *Set) Calls(labels ...string) Calls {
	return Calls{
		total: s.Counter("calls_total", "Calls of the classifier by their result.", append(slices.Clone(labels), "result")...),
		seconds: s.Histogram("seconds", "How long calls of the classifier took, waiting for a place included.",
			[]float64{1e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60}, labels...),
		open: s.Gauge("open", "1 while the classifier is left alone because it has failed, else 0. It changes with the next call.", labels...),
	}
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
