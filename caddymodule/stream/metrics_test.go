package stream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/svc-gateway/svc/policy"
)

func TestReasonOfTheEnd(t *testing.T) {
	for name, tt := range map[string]struct {
		ended    error // by this stage
		gone     bool  // the client is
		panicked bool
		err      error // of the handler
		want     string
	}{
		"regular":            {want: endedDone},
		"an error":           {err: errors.New("no"), want: endedHandler},
		"a panic":            {panicked: true, want: endedHandler},
		"the client left":    {gone: true, err: context.Canceled, want: endedClient},
		"a write failed":     {ended: errors.New("broken pipe"), panicked: true, want: endedClient},
		"a write timed out":  {ended: fmt.Errorf("writing: %w", os.ErrDeadlineExceeded), want: endedSlow},
		"expired":            {ended: policy.ErrExpired, panicked: true, want: endedExpired},
		"revoked":            {ended: policy.ErrRevoked, want: endedRevoked},
		"nobody can say who": {ended: fmt.Errorf("%w: %w", errUnresolved, errors.New("disk")), want: endedUnknown},
		"the process stops":  {ended: policy.ErrStopping, err: errors.New("x"), want: endedStopping},
	} {
		t.Run(name, func(t *testing.T) {
			client, leave := context.WithCancel(t.Context())
			defer leave()
			ctx, cancel := context.WithCancelCause(client)
			defer cancel(nil)
			r := httptest.NewRequest(http.MethodGet, "/", nil).WithContext(ctx)
			w := &writer{handler: new(Handler), request: r, cancel: cancel, returned: !tt.panicked}
			if tt.gone {
				leave()
			}
			if tt.ended != nil {
				w.end(tt.ended)
			}
			if got := w.reason(tt.err); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// Handlers of one configuration count together.
func TestMetricsAreShared(t *testing.T) {
	r := prometheus.NewPedanticRegistry()
	for range 2 {
		m, err := newMetrics(r)
		if err != nil {
			t.Fatal(err)
		}
		h := &Handler{metrics: m}
		c := h.begin(t.Context(), kindTunnel)
		c.wrote(3, 0)
		c.beat()
		c.end(endedDone)
	}
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			got[f.GetName()] += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	for name, want := range map[string]float64{
		"svc_stream_open": 0, "svc_stream_ended_total": 2, "svc_stream_bytes_total": 6, "svc_stream_keepalives_total": 2, "svc_stream_slowest_write_seconds": 2,
	} {
		if got[name] != want {
			t.Errorf("%s: got %v, want %v", name, got[name], want)
		}
	}
}
