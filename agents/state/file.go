package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/store"
)

// Witness notes how far the audit log has come that the threads and runs belong to.
func (s *Store) Witness(ctx context.Context, m audit.Mark) error {
	return s.db.Note(ctx, store.Noted(m))
}

// Witnessed returns what was noted last in the database at path; the zero Mark when there is none, or
// nothing was noted. Nothing is changed, and the database may be in use.
func Witnessed(ctx context.Context, path string) (audit.Mark, error) {
	n, err := store.ReadNoted(ctx, path)
	return audit.Mark(n), err
}

// WitnessAt notes the same in the database at path, in which something was noted before and which is
// not open in this process.
func WitnessAt(ctx context.Context, path string, m audit.Mark) error {
	return store.NoteAt(ctx, path, store.Noted(m))
}

// Unfinished returns the ids of the runs that are not over in the database at path, which may be in
// use; none when there is no database.
func Unfinished(ctx context.Context, path string) (runs []string, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	db, err := store.OpenReadOnly(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("reading database %s: %w", path, err)
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, `SELECT id FROM runs WHERE status IN ('pending', 'running', 'interrupted')`)
	if err != nil {
		return nil, fmt.Errorf("reading database %s: %w", path, err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("reading database %s: %w", path, err)
		}
		runs = append(runs, id)
	}
	return runs, rows.Err()
}

// Check looks at the whole database at path for damage. It may be in use.
func Check(ctx context.Context, path string) error { return store.Check(ctx, path) }

// Backup writes a consistent copy of the database at path, which may be in use, to a new file with
// mode 0600. An existing file is refused (fs.ErrExist).
func Backup(ctx context.Context, path, to string) error { return store.Backup(ctx, path, to) }
