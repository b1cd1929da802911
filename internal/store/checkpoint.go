package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Checkpoint writes all of the write-ahead log into the database and empties it, so that no page is left in
// it as it was before. Readers that are at work hold it up; after some seconds that is an error.
func (d *DB) Checkpoint(ctx context.Context) error {
	if err := d.Flush(ctx); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", dsn(d.path, "mode=rw&_pragma=busy_timeout(5000)"))
	if err != nil {
		return fmt.Errorf("emptying the log of database %s: %w", d.path, err)
	}
	const attempts, pause = 20, 100 * time.Millisecond
	var busy, left, done int
	for range attempts { // it fails at once while another checkpoint is under way
		err = db.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &left, &done)
		if err != nil || busy == 0 {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	if err == nil && busy != 0 {
		err = errors.New("others read it all the time")
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("emptying the log of database %s: %w", d.path, err)
	}
	return nil
}
