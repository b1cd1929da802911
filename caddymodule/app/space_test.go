package app

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/svc-gateway/svc/internal/disk"
	"github.com/svc-gateway/svc/internal/health"
)

func TestSpaceIsTold(t *testing.T) {
	for _, tc := range []struct {
		name           string
		limit          int64
		status, reason string
		warnings       int
	}{
		{"enough", 1, health.OK, "", 0},
		{"low", 1 << 60, health.Degraded, "low", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := disk.NewWatch(t.TempDir(), tc.limit)
			if p := diskPart(w.Look()); p.Status != tc.status || p.Reason != tc.reason || p.Free == 0 || p.Since.IsZero() {
				t.Errorf("got %+v", p)
			}
			core, seen := observer.New(zap.InfoLevel)
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*lookAtDisk)
				defer cancel()
				followSpace(ctx, w, zap.New(core))
			})
			if got := seen.FilterMessageSnippet("nearly full").Len(); got != tc.warnings {
				t.Errorf("got %d warnings in ten looks, want %d", got, tc.warnings)
			}
			r := prometheus.NewRegistry()
			if err := exportSpace(r, w); err != nil {
				t.Fatal(err)
			}
			if err := exportSpace(r, w); err != nil {
				t.Errorf("a second time: %v", err)
			}
			metrics, err := r.Gather()
			if err != nil || len(metrics) != 2 {
				t.Fatalf("got %d metrics, %v, want two", len(metrics), err)
			}
			for _, m := range metrics {
				if !strings.HasPrefix(m.GetName(), "svc_disk_") || m.GetMetric()[0].GetGauge().GetValue() <= 0 {
					t.Errorf("got %v", m)
				}
			}
		})
	}
}
