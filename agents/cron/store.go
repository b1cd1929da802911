package cron

import (
	"context"
	"iter"
	"time"
)

// Store keeps crons. Implementations are safe for concurrent use by several processes. What a method has
// returned without error is there after a crash of the process. Errors of the storage itself match
// [agents.ErrUnavailable].
type Store interface {
	// CreateCron keeps a new cron. The error is ErrFull when its owner has as many as allowed.
	CreateCron(ctx context.Context, c Cron, most int) error
	Cron(ctx context.Context, id string) (Cron, error)
	// Crons yields those of an owner, everybody's when it is empty, in the order of their ids.
	Crons(ctx context.Context, owner string) iter.Seq2[Cron, error]
	// DueCrons are some of those that are due at a time, the longest due first. It uses an index.
	DueCrons(ctx context.Context, now time.Time, limit int) ([]Cron, error)
	// SaveCron replaces a cron if its version is still c.Version, and raises it; otherwise the error is
	// ErrConflict.
	SaveCron(ctx context.Context, c *Cron) error
	// DeleteCron removes a cron. That there is none is no error.
	DeleteCron(ctx context.Context, id string) error
}
