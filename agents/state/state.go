// Package state keeps threads, runs and event logs in the embedded database state.db.
//
// [Open] returns an [agents.Store]. Claims of threads and saves of runs are compare-and-swap
// statements, so that several processes may share a store of this shape. A commit survives a
// crash of the process; after a power cut the newest ones may be missing, never half of one
// (the audit log, which must not miss any, is written with full synchronisation). A Store is
// safe for concurrent use.
//
// Long documents are kept compressed, with a dictionary of what they are made of.
package state

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/internal/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Store is the embedded store. Make it with [Open].
type Store struct {
	db  *store.DB
	doc *packer
}

var _ agents.Store = (*Store)(nil)

// Option tunes a Store.
type Option func(*store.Options)

// WithTrouble has f told when the state can no longer be written, with a stable word and the error,
// and with "" and nil when it can again. f must not block.
func WithTrouble(f func(reason string, err error)) Option {
	return func(o *store.Options) { o.Trouble = f }
}

// Open opens or creates the database file.
func Open(ctx context.Context, path string, options ...Option) (*Store, error) {
	numbered, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, fmt.Errorf("reading the migrations: %w", err)
	}
	o := store.Options{Erase: true}
	for _, set := range options {
		set(&o)
	}
	db, err := store.Open(ctx, path, numbered, o)
	if err != nil {
		return nil, fmt.Errorf("opening the state: %w", err)
	}
	p, err := newPacker()
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Store{db, p}, nil
}

// write makes a change; doing says which one in the error.
func (s *Store) write(ctx context.Context, doing string, change func(*store.Tx) error) error {
	return s.fault(doing, s.db.Write(ctx, change))
}

// Close writes what is queued and closes the file.
func (s *Store) Close() error { return errors.Join(s.db.Close(), s.doc.close()) }
