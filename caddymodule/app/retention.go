package app

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/settings"
)

const (
	pruneEvery = time.Minute
	pruneTime  = 5 * time.Second // for how long records are removed at a time
)

// watchRecords removes records of requests that are older than the settings want, until stop is
// called. The data folder is this process's own, and so is the log.
func (a *App) watchRecords() (stop func()) {
	keep := a.settings.Retention
	if keep.Requests == 0 && keep.RequestsSize == 0 {
		return func() {}
	}
	return inBackground(a.ctx, func(ctx context.Context) {
		again(ctx, pruneEvery, func() { prune(ctx, a.Audit(), keep, a.logger) })
	})
}

func prune(ctx context.Context, l *audit.Log, keep settings.Retention, log *zap.Logger) {
	some, cancel := context.WithTimeout(ctx, pruneTime)
	defer cancel()
	var before time.Time // none is older
	if keep.Requests > 0 {
		before = time.Now().Add(-keep.Requests)
	}
	removed, err := l.Prune(some, before, keep.RequestsSize)
	switch {
	case err != nil && some.Err() == nil:
		log.Error("removing old records of requests", zap.Error(err))
	case removed > 0:
		log.Info("removed old records of requests", zap.Int("records", removed))
	}
}
