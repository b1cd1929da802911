package metric

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

// Sets of one stage make the same metrics, with the labels of a place.
func TestSet(t *testing.T) {
	r := prometheus.NewPedanticRegistry()
	for range 2 {
		s := NewSet(r, "test")
		s.Counter("things_total", "Things.", "kind").WithLabelValues("srv0", "*", "one").Inc()
		s.Gauge("open", "Open things.").WithLabelValues("srv0", "*").Inc()
		s.Histogram("seconds", "How long.", []float64{1}).WithLabelValues("srv0", "*").Observe(0.5)
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
	}
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range families {
		m := f.GetMetric()[0]
		line := fmt.Sprintf("%s (%s)", f.GetName(), f.GetHelp())
		for _, l := range m.GetLabel() {
			line += " " + l.GetName() + "=" + l.GetValue()
		}
		got = append(got, fmt.Sprintf("%s: %v", line, m.GetCounter().GetValue()+m.GetGauge().GetValue()+float64(m.GetHistogram().GetSampleCount())))
	}
	want := []string{
		"svc_test_open (Open things.) server=srv0 site=*: 2",
		"svc_test_seconds (How long.) server=srv0 site=*: 2",
		"svc_test_things_total (Things.) kind=one server=srv0 site=*: 2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Metrics that contradict others are told of, all of them.
func TestSetContradicts(t *testing.T) {
	r := prometheus.NewRegistry()
	s := NewSet(r, "test")
	s.Counter("a", "A.")
	s.Counter("b", "B.")
	again := NewSet(r, "test")
	again.Gauge("a", "A.")
	again.Counter("b", "B.", "kind")
	err := again.Err()
	if s.Err() != nil || err == nil || strings.Count(err.Error(), "registering the metric") != 2 {
		t.Errorf("got %v and %v", s.Err(), err)
	}
}
