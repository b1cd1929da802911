// Package sqlite keeps the audit log in an SQLite database: the embedded [audit.Store].
//
//	store, err := sqlite.Open(ctx, path)
//	log := audit.New(store, node) // closes it
//
// An appended record survives a power cut (package store, with Options.Full), and callers who append
// side by side share a commit. Other programs may read the database at any time with `sqlite3
// -readonly`; migrations/ documents each column. [OpenReader] reads it from another process of ours.
//
// Queries that see all records run on the database, read-only and fenced in; those that see some of
// them run on a copy in memory ([QueryCopy]). Everything here is safe for concurrent use.
package sqlite

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/store"
)

//go:embed migrations/*.sql
var files embed.FS

// migrations are the numbered schema files.
func migrations() fs.FS {
	f, err := fs.Sub(files, "migrations")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return f
}

// Store is the embedded store. Make it with [Open].
type Store struct {
	reader
	db      *store.DB
	dropped atomic.Pointer[error] // the first accepted record that could not be written because of what it holds
}

var _ audit.Store = (*Store)(nil)

// Option tunes a Store.
type Option func(*store.Options)

// WithTrouble has f told when the log can no longer be written, with a stable word and the error, and
// with "" and nil when it can again. f must not block.
func WithTrouble(f func(reason string, err error)) Option {
	return func(o *store.Options) { o.Trouble = f }
}

// Open opens the database at path, which it creates when it is missing, with synchronous=FULL. The
// caller closes the Store, or hands it to [audit.New].
func Open(ctx context.Context, path string, options ...Option) (*Store, error) {
	s := &Store{}
	o := store.Options{Full: true, Dropped: func(err error) { s.dropped.CompareAndSwap(nil, &err) }}
	for _, set := range options {
		set(&o)
	}
	db, err := store.Open(ctx, path, migrations(), o)
	if err != nil {
		return nil, fmt.Errorf("opening the audit log: %w", err)
	}
	s.db, s.reader = db, reader{db.Read().DB, path}
	return s, nil
}

// Append implements [audit.Store].
func (s *Store) Append(ctx context.Context, b audit.Batch) error {
	if one := single(b); one != nil {
		return unavailable(s.db.WriteExec(ctx, one))
	}
	return unavailable(s.db.Write(ctx, func(tx *store.Tx) error { return insertAll(tx, b) }))
}

// Enqueue implements [audit.Store].
func (s *Store) Enqueue(ctx context.Context, b audit.Batch) error {
	if one := single(b); one != nil {
		return unavailable(s.db.QueueExec(ctx, one))
	}
	return unavailable(s.db.Queue(ctx, func(tx *store.Tx) error { return insertAll(tx, b) }))
}

// Flush implements [audit.Store].
func (s *Store) Flush(ctx context.Context) error {
	if err := s.db.Flush(ctx); err != nil {
		return unavailable(err)
	}
	return s.refused()
}

// refused tells once of a dropped record.
func (s *Store) refused() error {
	if err := s.dropped.Swap(nil); err != nil {
		return fmt.Errorf("writing an accepted record: %w", *err)
	}
	return nil
}

// Healthy implements [audit.Store]. It needs no probe of its own: after a failure the writer of
// package store tries again, with a real write, every 250 ms.
func (s *Store) Healthy(context.Context) error { return unavailable(s.db.Err()) }

// Backup implements [audit.Store]. The copy is a database as well, and compact.
func (s *Store) Backup(ctx context.Context, path string) error { return s.db.Backup(ctx, path) }

// Close implements [audit.Store].
func (s *Store) Close() error {
	err := s.db.Close() // writes what is queued, so it goes first
	return errors.Join(err, s.refused())
}

// unavailable translates the store's errors into the seam's.
func unavailable(err error) error {
	if errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrClosed) {
		return fmt.Errorf("%w: %w", audit.ErrUnavailable, err)
	}
	return err
}
