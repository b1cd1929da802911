package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/internal/store"
)

// removeRows is how many rows of a table are removed at a time: everybody else who writes waits
// meanwhile.
const removeRows = 200

// A thread that is being removed has the status deleted until its last row is gone: nobody finds it
// any more, and who was interrupted can go on.
const (
	takeThread = `UPDATE threads SET status = 'deleted' WHERE id = ? AND (status = 'deleted' OR updated < ? AND ` + unused + `)`
	// unused is a thread that no run has, and none waits for.
	unused     = `status NOT IN ('busy', 'interrupted', 'deleted') AND NOT EXISTS (SELECT 1 FROM runs WHERE thread = threads.id AND status = 'pending')`
	findThread = `SELECT status FROM threads WHERE id = ?`

	removeThread   = `DELETE FROM threads WHERE id = ? AND status = 'deleted'`
	staleThreads   = `SELECT id FROM threads WHERE ephemeral = 0` + olderUnused
	staleEnded     = `SELECT id FROM threads WHERE ephemeral = 1` + olderUnused
	olderUnused    = ` AND updated < ? AND ` + unused + ` ORDER BY updated LIMIT ?`
	expiredThreads = `SELECT id FROM threads WHERE ttl > 0 AND updated + ttl < ? AND ` + unused + ` ORDER BY updated + ttl LIMIT ?`
	halfRemoved    = `SELECT id FROM threads WHERE status = 'deleted' LIMIT ?`
	staleEvents    = `SELECT e.run, e.first FROM events e JOIN runs r ON r.id = e.run
		WHERE e.run < ?1 AND r.updated < ?2 AND r.status NOT IN ('pending', 'running', 'interrupted') ORDER BY e.run LIMIT ?3`
	removeEvents = `DELETE FROM events WHERE (run, first) IN (` + staleEvents + `)`
)

// removeParts removes what a thread consists of, from the leaves on.
var removeParts = []string{
	`DELETE FROM events WHERE (run, first) IN (SELECT e.run, e.first FROM runs r JOIN events e ON e.run = r.id WHERE r.thread = ?1 LIMIT ?2)`,
	`DELETE FROM approvals WHERE id IN (SELECT a.id FROM runs r JOIN approvals a ON a.run = r.id WHERE r.thread = ?1 LIMIT ?2)`,
	`DELETE FROM runs WHERE id IN (SELECT id FROM runs WHERE thread = ?1 LIMIT ?2)`,
	`DELETE FROM messages WHERE thread = ?1 AND seq IN (SELECT seq FROM messages WHERE thread = ?1 LIMIT ?2)`,
}

// removeRunParts removes what belongs to a run; what it said is its thread's.
var removeRunParts = []string{
	`DELETE FROM events WHERE (run, first) IN (SELECT run, first FROM events WHERE run = ?1 LIMIT ?2)`,
	`DELETE FROM approvals WHERE id IN (SELECT id FROM approvals WHERE run = ?1 LIMIT ?2)`,
}

const removeRun = `DELETE FROM runs WHERE id = ?`

// DeleteThread implements [agents.Store].
func (s *Store) DeleteThread(ctx context.Context, id string, before time.Time) error {
	updated := int64(math.MaxInt64)
	if !before.IsZero() {
		updated = before.UnixMilli()
	}
	begun := false
	for gone := false; !gone; {
		err := s.write(ctx, "deleting the thread", func(tx *store.Tx) (err error) {
			if !begun {
				if err := take(tx, id, updated); err != nil {
					return err
				}
			}
			gone, err = removePart(tx, removeParts, removeThread, id)
			return err
		})
		if err != nil {
			return err
		}
		begun = true
	}
	return nil
}

// take makes a thread one that nobody finds, if nothing has happened in it since.
func take(tx *store.Tx, id string, since int64) error {
	res, err := tx.Exec(takeThread, id, since)
	if err != nil {
		return fmt.Errorf("taking the thread: %w", err)
	}
	if err := changed(res); !errors.Is(err, agents.ErrConflict) {
		return err
	}
	var status string
	switch err := tx.QueryRow(findThread, id).Scan(&status); {
	case errors.Is(err, sql.ErrNoRows):
		return agents.ErrThreadNotFound
	case err != nil:
		return fmt.Errorf("reading the thread: %w", err)
	}
	return agents.ErrBusy
}

// removePart removes some rows of what something consists of, and last the thing itself; it reports
// whether these were the last.
func removePart(tx *store.Tx, parts []string, last, id string) (gone bool, err error) {
	for _, part := range parts {
		res, err := tx.Exec(part, id, removeRows)
		if err != nil {
			return false, fmt.Errorf("removing a part: %w", err)
		}
		if n, err := res.RowsAffected(); err != nil || n == removeRows {
			return false, err
		}
	}
	if _, err := tx.Exec(last, id); err != nil {
		return false, fmt.Errorf("removing what is left: %w", err)
	}
	return true, nil
}

// HalfRemoved implements [agents.Store].
func (s *Store) HalfRemoved(ctx context.Context, limit int) ([]string, error) {
	return s.ids(ctx, halfRemoved, limit)
}

// StaleThreads implements [agents.Store].
func (s *Store) StaleThreads(ctx context.Context, ephemeral bool, before time.Time, limit int) ([]string, error) {
	query := staleThreads
	if ephemeral {
		query = staleEnded
	}
	return s.ids(ctx, query, before.UnixMilli(), limit)
}

// ExpiredThreads implements [agents.Store].
func (s *Store) ExpiredThreads(ctx context.Context, now time.Time, limit int) ([]string, error) {
	return s.ids(ctx, expiredThreads, now.UnixMilli(), limit)
}

func (s *Store) ids(ctx context.Context, query string, args ...any) (ids []string, err error) {
	rows, err := s.db.Read().QueryContext(ctx, query, args...)
	if err != nil {
		return nil, s.fault("looking for what is due", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, s.fault("looking for what is due", err)
		}
		ids = append(ids, id)
	}
	return ids, s.fault("looking for what is due", rows.Err())
}

// StaleEvents implements [agents.Store]. The ids of runs begin with the time of their start, so that
// the oldest are found by the key.
func (s *Store) StaleEvents(ctx context.Context, before time.Time) (bool, error) {
	var run string
	var first int
	err := s.db.Read().QueryRowContext(ctx, staleEvents, idAt(before), before.UnixMilli(), 1).Scan(&run, &first)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, s.fault("looking for old events", err)
}

// DeleteEvents implements [agents.Store].
func (s *Store) DeleteEvents(ctx context.Context, before time.Time) (int, error) {
	return s.remove(ctx, "removing old events", func(tx *store.Tx) (sql.Result, error) {
		return tx.Exec(removeEvents, idAt(before), before.UnixMilli(), removeRows)
	})
}

// remove writes what removes rows, and returns how many there were.
func (s *Store) remove(ctx context.Context, doing string, remove func(*store.Tx) (sql.Result, error)) (n int, err error) {
	err = s.write(ctx, doing, func(tx *store.Tx) error {
		res, err := remove(tx)
		if err != nil {
			return err
		}
		rows, err := res.RowsAffected()
		n = int(rows)
		return err
	})
	return n, err
}

// idAt is below every id that is made from a time on.
func idAt(t time.Time) string {
	var id uuid.UUID
	ms := uint64(max(t.UnixMilli(), 0))
	for i := range 6 {
		id[i] = byte(ms >> (8 * (5 - i)))
	}
	return id.String()
}

// Size implements [agents.Store]. Pages that are free are not counted: they are used again.
func (s *Store) Size(ctx context.Context) (bytes int64, err error) {
	bytes, err = s.db.Size(ctx)
	return bytes, s.fault("measuring the database", err)
}
