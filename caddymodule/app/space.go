package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/disk"
	"github.com/svc-gateway/svc/internal/health"
)

// lookAtDisk is how often the space that is left is looked at.
const lookAtDisk = 15 * time.Second

// newSpace watches the disk that the databases are on, and has metrics say what is left.
func (a *App) newSpace(metrics prometheus.Registerer) error {
	a.space = disk.NewWatch(filepath.Dir(a.home.AuditDB()), a.settings.Limits.DiskFree)
	return exportSpace(metrics, a.space)
}

func exportSpace(metrics prometheus.Registerer, w *disk.Watch) error {
	gauge := func(name, help string, value func(disk.State) float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "svc", Subsystem: "disk", Name: name, Help: help},
			func() float64 { return value(w.Look()) })
	}
	for _, g := range []prometheus.Collector{
		gauge("free_bytes", "Bytes that are left on the disk with the databases.", func(s disk.State) float64 { return float64(s.Free) }),
		gauge("limit_bytes", "Bytes below which space is low.", func(s disk.State) float64 { return float64(s.Limit) }),
	} {
		if err := metrics.Register(g); err != nil && !errors.As(err, new(prometheus.AlreadyRegisteredError)) {
			return fmt.Errorf("registering the metrics of the disk: %w", err)
		}
	}
	return nil
}

// watchSpace warns when little space is left, and says when there is enough again, until stop is
// called.
func (a *App) watchSpace() (stop func()) {
	return inBackground(a.ctx, func(ctx context.Context) { followSpace(ctx, a.space, a.logger) })
}

func followSpace(ctx context.Context, w *disk.Watch, log *zap.Logger) {
	low := false
	again(ctx, lookAtDisk, func() {
		s := w.Look()
		if s.Low == low {
			return
		}
		low = s.Low
		fields := []zap.Field{zap.Uint64("free_bytes", s.Free), zap.Uint64("limit_bytes", s.Limit)}
		if low {
			log.Warn("the disk with the databases is nearly full: once it is, every request is refused", fields...)
		} else {
			log.Info("the disk with the databases has space again", fields...)
		}
	})
}

func diskPart(s disk.State) health.Part {
	reason := ""
	if s.Low {
		reason = "low"
	}
	p := health.NewPart("databases", s.Since, reason)
	p.Free = s.Free
	return p
}
