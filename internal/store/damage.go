package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// ErrDamaged is wrapped by errors about a file that is no database, or whose pages were overwritten.
var ErrDamaged = errors.New("the file is damaged")

// maxFaults is how many faults of a file are told.
const maxFaults = 20

// damaged adds to an error of opening or reading the file at path that the file is damaged, if it
// is, and what to do.
func damaged(path string, err error) error {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok || errors.Is(err, ErrDamaged) {
		return err
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%w: %w: %s", ErrDamaged, err, remedy(path))
	}
	return err
}

func remedy(path string) string {
	return fmt.Sprintf("stop the service, move %s, %[1]s-wal and %[1]s-shm away, and put a backup in its place", path)
}

// quickCheck looks at the structure of the file for at most the given time: a large database is not
// looked at to its end.
func quickCheck(ctx context.Context, db *sql.DB, path string, most time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	err := check(ctx, db, `PRAGMA quick_check(3)`, path)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) && !errors.Is(err, ErrDamaged) {
		return nil
	}
	return err
}

// Check looks at every page and index entry of the database at path, also of one that is in use, and
// returns an error that wraps ErrDamaged and says what is wrong.
func Check(ctx context.Context, path string) error {
	db, err := OpenReadOnly(ctx, path)
	if err == nil {
		err = errors.Join(check(ctx, db, fmt.Sprintf(`PRAGMA integrity_check(%d)`, maxFaults), path), db.Close())
	}
	if err != nil {
		return fmt.Errorf("checking database %s: %w", path, damaged(path, err))
	}
	return nil
}

// check runs one of the checks of SQLite, whose answer is ok, or a fault a row.
func check(ctx context.Context, db *sql.DB, pragma, path string) error {
	rows, err := db.QueryContext(ctx, pragma)
	if err != nil {
		return err
	}
	defer rows.Close()
	var faults []string
	for rows.Next() {
		var fault string
		if err := rows.Scan(&fault); err != nil {
			return err
		}
		if fault != "ok" {
			faults = append(faults, strings.ReplaceAll(strings.TrimSpace(fault), "\n", "; "))
		}
	}
	if len(faults) > 0 {
		return fmt.Errorf("%w: %s: %s", ErrDamaged, strings.Join(faults, "; "), remedy(path))
	}
	return rows.Err()
}
