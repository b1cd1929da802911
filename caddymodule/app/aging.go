package app

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/policy/identity"
)

// watchTokens warns of tokens that should be rotated, now and once a day, until stop is called.
func (a *App) watchTokens() (stop func()) {
	return inBackground(a.ctx, func(ctx context.Context) {
		again(ctx, 24*time.Hour, func() { warnOfOldTokens(ctx, a.Identity(), a.logger) })
	})
}

func warnOfOldTokens(ctx context.Context, s *identity.Service, log *zap.Logger) {
	tokens, err := s.OldTokens(ctx)
	if err != nil && ctx.Err() == nil {
		log.Error("looking for old tokens", zap.Error(err))
	}
	for _, t := range tokens {
		log.Warn("a token should be rotated", zap.String("user", t.User), zap.String("token", t.Name),
			zap.String("token_id", t.ID), zap.Int("age_days", t.Days(time.Now())))
	}
}
