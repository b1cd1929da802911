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

// Store keeps prepared records. Package sqlite has the embedded one; package audittest holds the
// suite that every implementation passes. A Store is safe for concurrent use. Its Close writes what
// is waiting first, and tells what could not be written.
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

	// Removable looks at n records after the Seq s.Seen, of any type, and tells of those that Remove
	// would remove: of s.Types and before s.Before.
	Removable(ctx context.Context, s Span, n int) (Span, error)

	// Remove removes the records of a span and returns how many there were. Records that are new
	// meanwhile are written between. It is called once the removal is on record.
	Remove(ctx context.Context, s Span) (int, error)

	// Over returns runs that are over and behind after, at most n, in the order of the time and Seq of
	// their end: those with a RunEnd, with no event of p.Types and no run record at or after p.Before.
	// The run that the newest run record belongs to is left out.
	Over(ctx context.Context, after Over, p Past, n int) ([]Over, error)

	// RemoveRuns removes the events of p.Types and the run records of some runs, those before
	// p.Before, and writes the batch: both, durably, or neither. Unless there are exactly count of
	// them the error wraps ErrOtherRecords. The batch has an event, so that the newest Seq stays.
	RemoveRuns(ctx context.Context, runs []string, p Past, count int, b Batch) error

	// Size is what the log takes, in bytes, without what removed records have left free.
	Size(ctx context.Context) (int64, error)

	// Backup writes a complete copy, in a form of the storage's own, to a new file with mode 0600 and
	// refuses an existing one (fs.ErrExist). Recording goes on meanwhile.
	Backup(ctx context.Context, path string) error
}

// Source is the reading half of a Store. A program that only reads a log has one as well, beside the
// service that writes it.
type Source interface {
	// Events yields the events that f selects, in the order of Seq. It stops after an error.
	Events(ctx context.Context, f Filter) iter.Seq2[Event, error]

	// Runs yields the run records that f selects, in the order of Seq.
	Runs(ctx context.Context, f Filter) iter.Seq2[RunRecord, error]

	// Query runs one SELECT. The tables audit_events and audit_runs, whose columns have the names of
	// the JSON members of Event and RunRecord, and the views tool_calls and denials hold the records
	// that f selects and no others, however the statement is written; the zero Filter selects all.
	// Nothing can be changed and nothing else be reached, and what is not one reading statement is
	// refused. Values are int64, float64, string, []byte or nil. No field of l is zero, and ctx ends
	// after l.Time; a result that is cut to l comes with an error that wraps ErrLimit.
	Query(ctx context.Context, f Filter, query string, l Limits) (columns []string, rows [][]any, err error)

	// Mark returns which log it is and the Seq of its last event, which is durable. A log keeps its id
	// for life, and its backups have it too.
	Mark(ctx context.Context) (Mark, error)

	// Check looks at the whole of the storage for damage. Its error says what is wrong, for people.
	Check(ctx context.Context) error

	// Close lets go of the storage. A second Close does nothing.
	Close() error
}

// ErrOtherRecords is wrapped by the error of a removal that would not remove what it should.
var ErrOtherRecords = errors.New("the log has other records of these runs")

// Past selects records of runs.
type Past struct {
	Types  []string  // of events
	Before time.Time // when they happened
}

// Over is a run that is over.
type Over struct {
	Run  string
	Time time.Time // of its RunEnd
	Seq  int64     // of the same
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
	Limit  int       // at most so many of each kind; 0: all
	Newest bool      // newest first, so that Limit keeps the newest
}
