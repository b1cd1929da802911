package audit

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Log records events. New makes one.
type Log struct {
	Reader
	store    Store
	node     string
	flood    flood
	pruned   pruning
	archived archiving
}

// New makes a log on a store, which it closes at its end. node is the machine's id and goes into
// every record.
func New(s Store, node string) *Log {
	return &Log{Reader: Reader{s}, store: s, node: node, flood: flood{node: node, write: func(e []Event) error {
		ctx, cancel := context.WithTimeout(context.Background(), floodPatient)
		defer cancel()
		return s.Enqueue(ctx, Batch{Events: e})
	}}}
}

// Record writes events, all of them or none, and returns when they are durable. It takes them over,
// fills in Time and Node, redacts and hashes them: a slice that was passed must not be used again,
// while what the events refer to is never changed. An error means that nothing was recorded, and that
// what was to be recorded must not happen; it wraps ErrUnavailable when the storage is to blame.
func (l *Log) Record(ctx context.Context, e ...Event) error {
	b, err := l.batch(e)
	if err != nil || len(e) == 0 {
		return err
	}
	if err := l.store.Append(ctx, b); err != nil {
		return fmt.Errorf("recording a %s event: %w", e[0].Type, err)
	}
	return nil
}

// Queue takes events over, as Record does, and writes them within 100 ms, together, and before every
// Record that begins later; what is waiting is written by Flush and Close. When too many are waiting the caller waits
// until ctx ends. While the log cannot be written, accepted events are kept.
//
// Some are counted once they are many: requests and injections of unknown senders and requests with the
// reason RateLimited after the first 20 of a sender in a minute, failed logins after 100, and each of the
// four after 500 of all senders. A record with the counts, of the type Flood, FloodLogin or
// FloodInjection, follows when the minute ends or at Close.
func (l *Log) Queue(ctx context.Context, e ...Event) error {
	e = l.uncounted(e)
	b, err := l.batch(e)
	if err != nil || len(e) == 0 {
		return err
	}
	if err := l.store.Enqueue(ctx, b); err != nil {
		return fmt.Errorf("queueing a %s event: %w", e[0].Type, err)
	}
	return nil
}

// RecordRun queues what a model used for one turn.
func (l *Log) RecordRun(ctx context.Context, r RunRecord) error {
	if err := prepareRun(&r, l.node, time.Now()); err != nil {
		return err
	}
	if err := l.store.Enqueue(ctx, Batch{Runs: []RunRecord{r}}); err != nil {
		return fmt.Errorf("queueing a model's turn: %w", err)
	}
	return nil
}

// uncounted is what is left of events when those of a flood are counted.
func (l *Log) uncounted(e []Event) []Event {
	now := time.Now()
	left := e[:0]
	for i := range e {
		if !l.flood.take(&e[i], now) {
			left = append(left, e[i])
		}
	}
	return left
}

// batch prepares events.
func (l *Log) batch(e []Event) (Batch, error) {
	now := time.Now()
	for i := range e {
		if err := prepare(&e[i], l.node, now); err != nil {
			return Batch{}, err
		}
	}
	return Batch{Events: e}, nil
}

// Healthy returns nil while the log can be written, otherwise an error that wraps ErrUnavailable.
func (l *Log) Healthy(ctx context.Context) error { return l.store.Healthy(ctx) }

// Flush returns when every event accepted before is durable.
func (l *Log) Flush(ctx context.Context) error {
	if err := l.store.Flush(ctx); err != nil {
		return fmt.Errorf("flushing the audit log: %w", err)
	}
	return nil
}

// Backup writes a complete copy of the log to a new file at path, with mode 0600, while recording
// goes on. An existing file is refused.
func (l *Log) Backup(ctx context.Context, path string) error {
	return l.store.Backup(ctx, path)
}

// Close writes what is waiting or counted and closes the log. Its error tells what could not be
// written. A second Close does nothing.
func (l *Log) Close() error {
	err := l.flood.close()
	return errors.Join(err, l.store.Close())
}
