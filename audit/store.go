package audit

import (
	"context"
	"errors"
	"iter"
	"time"
)

// ErrUnavailable is wrapped by every error that says that the log cannot be written: disk full,
// read-only, closed. Whoever gets it must not do what could not be recorded.
var ErrUnavailable = errors.New("audit log cannot be written")

// Store keeps prepared records. The embedded one is SQLite; package audittest holds the suite that
// every implementation passes. A Store is safe for concurrent use.
type Store interface {
	Source

	// Append writes the batch, all of it or nothing, and returns when it is durable. Its error wraps
	// ErrUnavailable when the storage is to blame. Seq numbers grow in the order of Appends.
	Append(ctx context.Context, b Batch) error

	// Enqueue accepts the batch and writes it within 100 ms and before every Append and Flush that
	// begin later. When too much is waiting it waits too, until ctx ends. What was accepted is kept
	// while the storage cannot be written.
	Enqueue(ctx context.Context, b Batch) error

	// Flush returns when everything accepted before is durable. It tells, once, of a batch that was
	// accepted and then refused because of what it holds (a Seq that is taken); so does Close.
	Flush(ctx context.Context) error

	// Healthy returns nil while the storage can be written, otherwise an error that wraps
	// ErrUnavailable. It finds out by itself when that changes.
	Healthy(ctx context.Context) error

	// Backup writes a complete copy to a new file and refuses an existing one.
	Backup(ctx context.Context, path string) error

	// Close writes what is waiting and lets go of the storage.
	Close() error
}

// Source is the reading half of a Store.
type Source interface {
	// Events yields the events that f selects, in the order of Seq. It stops after an error.
	Events(ctx context.Context, f Filter) iter.Seq2[Event, error]

	// Runs yields the run records that f selects, in the order of Seq.
	Runs(ctx context.Context, f Filter) iter.Seq2[RunRecord, error]
}

// Batch is what is written together.
type Batch struct {
	Events []Event
	Runs   []RunRecord
}

// Filter selects records. The zero value selects all of them, oldest first.
type Filter struct {
	User   string    // exactly this user
	Run    string    // exactly this run
	Since  time.Time // at or after
	Until  time.Time // before
	After  int64     // Seq above this one
	Limit  int       // at most so many; 0: all
	Newest bool      // newest first, so that Limit keeps the newest
}
