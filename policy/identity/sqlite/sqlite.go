// Package sqlite keeps users, tokens, sessions and lockouts in an SQLite database: the embedded
// [identity.Store].
//
//	users, err := sqlite.Open(ctx, path)
//	s, err := identity.New(ctx, users, log, bus) // closes it
//
// A change is on disk before it is acknowledged (package store, with Options.Full); several changes
// that arrive together share a commit. The queries that requests wait for are prepared. Several
// processes may open one file: each sees what the others have applied.
//
// An error that the database is to blame for wraps [identity.ErrUnavailable]. A [Store] is safe for
// concurrent use.
package sqlite

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/svc-gateway/svc/internal/store"
	"github.com/svc-gateway/svc/policy/identity"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Store is the embedded store. Make it with [Open].
type Store struct {
	db *store.DB
}

var _ identity.Store = (*Store)(nil)

// Option tunes a Store.
type Option func(*store.Options)

// WithTrouble has f told when the users can no longer be changed, with a stable word and the error,
// and with "" and nil when they can again. f must not block.
func WithTrouble(f func(reason string, err error)) Option {
	return func(o *store.Options) { o.Trouble = f }
}

// Open opens the database at path, which it creates when it is missing, and brings its schema up to
// date. The caller closes the Store, or hands it to [identity.New].
func Open(ctx context.Context, path string, options ...Option) (*Store, error) {
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, fmt.Errorf("opening the embedded migrations: %w", err)
	}
	o := store.Options{Full: true}
	for _, set := range options {
		set(&o)
	}
	db, err := store.Open(ctx, path, dir, o)
	if err != nil {
		return nil, fmt.Errorf("opening the users: %w", err)
	}
	return &Store{db: db}, nil
}

// Close implements [identity.Store].
func (s *Store) Close() error { return s.db.Close() }

// readError is the error of a read. Unless ctx ended, what the database says means that it cannot
// be read now: the statements are ours and fit the schema.
func readError(doing string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return fmt.Errorf("%s: %w: %w", doing, identity.ErrUnavailable, err)
}

// writeError is the error of a write. Package store knows which ones the database is to blame for;
// the others are what the seam says of the change.
func writeError(doing string, err error) error {
	if errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrClosed) {
		return fmt.Errorf("%s: %w: %w", doing, identity.ErrUnavailable, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}
