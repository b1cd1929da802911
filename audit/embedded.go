package audit

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"

	"github.com/svc-gateway/svc/internal/store"
)

//go:embed migrations/*.sql
var files embed.FS

// Migrations returns the numbered schema files of the embedded store, for goose.
func Migrations() fs.FS {
	f, err := fs.Sub(files, "migrations")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return f
}

// sqlite is the embedded Store.
type sqlite struct {
	reader
	db      *store.DB
	dropped atomic.Pointer[error] // the first accepted record that could not be written because of what it holds
}

// OpenStore opens the embedded store, an SQLite database at path, with synchronous=FULL.
func OpenStore(ctx context.Context, path string) (Store, error) {
	s := &sqlite{}
	db, err := store.Open(ctx, path, Migrations(), store.Options{
		Full:    true,
		Dropped: func(err error) { s.dropped.CompareAndSwap(nil, &err) },
	})
	if err != nil {
		return nil, fmt.Errorf("opening the audit log: %w", err)
	}
	s.db, s.reader.db = db, db.Read()
	return s, nil
}

func (s *sqlite) Append(ctx context.Context, b Batch) error {
	if one := b.single(); one != nil {
		return unavailable(s.db.WriteExec(ctx, one))
	}
	return unavailable(s.db.Write(ctx, b.insert))
}

func (s *sqlite) Enqueue(ctx context.Context, b Batch) error {
	if one := b.single(); one != nil {
		return unavailable(s.db.QueueExec(ctx, one))
	}
	return unavailable(s.db.Queue(ctx, b.insert))
}

func (s *sqlite) Flush(ctx context.Context) error {
	if err := s.db.Flush(ctx); err != nil {
		return unavailable(err)
	}
	return s.refused()
}

// refused tells once of a dropped record.
func (s *sqlite) refused() error {
	if err := s.dropped.Swap(nil); err != nil {
		return fmt.Errorf("writing an accepted record: %w", *err)
	}
	return nil
}

// Healthy needs no probe of its own: after a failure the writer of package store tries again, with a
// real write, every 250 ms.
func (s *sqlite) Healthy(context.Context) error { return unavailable(s.db.Err()) }

func (s *sqlite) Backup(ctx context.Context, path string) error { return s.db.Backup(ctx, path) }

func (s *sqlite) Close() error {
	err := s.db.Close() // writes what is queued, so it goes first
	return errors.Join(err, s.refused())
}

// unavailable translates the store's errors into the seam's.
func unavailable(err error) error {
	if errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrClosed) {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}
