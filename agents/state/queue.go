package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/internal/store"
)

const (
	countQueued  = `SELECT count(*) FROM runs WHERE owner = (SELECT owner FROM threads WHERE id = ?) AND status = 'pending'`
	otherRuns    = `SELECT id FROM runs WHERE thread = ? AND ` + unfinished + ` ORDER BY id DESC`
	requestedRun = `SELECT id FROM runs WHERE request = ?`
	runData      = `SELECT status, hidden, data FROM runs WHERE id = ? AND thread = ?`
	nextDue      = `SELECT due FROM runs WHERE status = 'pending' AND due > ? ORDER BY due LIMIT 1`
	// A run whose turn it is has a free thread, and nobody before it.
	queue = `SELECT r.id FROM runs r JOIN threads t ON t.id = r.thread WHERE r.status = 'pending' AND r.due <= ?1
		AND (t.status NOT IN ('busy', 'interrupted', 'deleted')
			AND NOT EXISTS (SELECT 1 FROM runs b WHERE b.thread = r.thread AND b.status = 'pending' AND (b.due, b.id) < (r.due, r.id))
			OR json_extract(r.about, '$.multitask') IN ('interrupt', 'rollback'))
		ORDER BY r.due, r.id LIMIT ?2`

	hideRun  = `UPDATE runs SET hidden = 1 WHERE id = ?`
	hideRows = `UPDATE messages SET gone = 1 WHERE thread = ? AND run = ?`
	rowsPast = `SELECT EXISTS (SELECT 1 FROM messages WHERE thread = ?1 AND seq >= ?2 AND run <> ?3 AND gone = 0)`
)

// requested is ErrRequested when there is a run for the same request.
func requested(tx *store.Tx, request string) error {
	if request == "" {
		return nil
	}
	var id string
	switch err := tx.QueryRow(requestedRun, request).Scan(&id); {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("looking for the request's run: %w", err)
	}
	return agents.ErrRequested
}

// enqueue notes what a run displaces, if there is room for one more that waits.
func enqueue(tx *store.Tx, r *agents.Run) error {
	if _, err := readPlace(tx.QueryRow(selectPlace, r.Thread)); err != nil {
		return err
	}
	var n int
	if err := tx.QueryRow(countQueued, r.Thread).Scan(&n); err != nil {
		return fmt.Errorf("counting runs that wait: %w", err)
	}
	if n >= agents.MaxQueued {
		return agents.ErrQueueFull
	}
	if r.Multitask != agents.MultitaskInterrupt && r.Multitask != agents.MultitaskRollback {
		return nil
	}
	rows, err := tx.Query(otherRuns, r.Thread)
	if err != nil {
		return fmt.Errorf("looking for runs of the thread: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return fmt.Errorf("looking for runs of the thread: %w", err)
		}
		r.Displaces = append(r.Displaces, id)
	}
	return rows.Err()
}

// StartRun implements [agents.Store].
func (s *Store) StartRun(ctx context.Context, r *agents.Run, input []model.Message) error {
	said, err := s.packInput(r, input)
	if err != nil {
		return err
	}
	was := *r
	err = s.write(ctx, "starting the run", func(tx *store.Tx) error {
		*r = was // of an attempt before
		if r.Multitask == agents.MultitaskRollback {
			for _, id := range r.Displaces {
				if err := s.takeBack(tx, r.Thread, id); err != nil && !errors.Is(err, agents.ErrBusy) {
					return err
				}
			}
		}
		p, err := claim(tx, r, said)
		if err != nil {
			return err
		}
		if err := begin(tx, r, said, p); err != nil {
			return err
		}
		c, err := s.newChange(r)
		if err != nil {
			return err
		}
		return c.save(tx)
	})
	if err != nil {
		*r = was
		return err
	}
	r.Version++
	return nil
}

// Queue implements [agents.Store].
func (s *Store) Queue(ctx context.Context, now time.Time, limit int) ([]string, error) {
	return s.ids(ctx, queue, now.UnixMilli(), limit)
}

// NextDue implements [agents.Store].
func (s *Store) NextDue(ctx context.Context, after time.Time) (time.Time, error) {
	var due int64
	err := s.db.Read().QueryRowContext(ctx, nextDue, after.UnixMilli()).Scan(&due)
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, nil
	}
	return time.UnixMilli(due).UTC(), s.fault("looking for runs that wait", err)
}

// Requested implements [agents.Store].
func (s *Store) Requested(ctx context.Context, request string) (*agents.Run, error) {
	var id string
	err := s.db.Read().QueryRowContext(ctx, requestedRun, request).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, agents.ErrRunNotFound
	}
	if err != nil {
		return nil, s.fault("looking for the request's run", err)
	}
	return s.Run(ctx, id)
}

// RollBack implements [agents.Store].
func (s *Store) RollBack(ctx context.Context, run string) error {
	return s.write(ctx, "taking the run back", func(tx *store.Tx) error {
		var thread string
		switch err := tx.QueryRow(`SELECT thread FROM runs WHERE id = ?`, run).Scan(&thread); {
		case errors.Is(err, sql.ErrNoRows):
			return agents.ErrRunNotFound
		case err != nil:
			return fmt.Errorf("reading the run: %w", err)
		}
		return s.takeBack(tx, thread, run)
	})
}

// takeBack hides a run that is over, and has its thread stand where it stood before it, if nothing
// has followed. The error is ErrBusy when something has, or the run is not over.
func (s *Store) takeBack(tx *store.Tx, thread, run string) error {
	var (
		status agents.Status
		hidden bool
		data   any
		r      agents.Run
	)
	switch err := tx.QueryRow(runData, run, thread).Scan(&status, &hidden, &data); {
	case errors.Is(err, sql.ErrNoRows), hidden:
		return nil
	case err != nil:
		return fmt.Errorf("reading the run: %w", err)
	case !status.Final():
		return agents.ErrBusy
	}
	if err := s.doc.unpack(data, &r); err != nil {
		return fmt.Errorf("%w: %w", agents.ErrUnreadable, err)
	}
	if !r.Queued {
		var past bool
		if err := tx.QueryRow(rowsPast, thread, r.Base, run).Scan(&past); err != nil {
			return fmt.Errorf("looking for what followed the run: %w", err)
		}
		var state agents.ThreadStatus
		if err := tx.QueryRow(`SELECT status FROM threads WHERE id = ?`, thread).Scan(&state); err != nil {
			return fmt.Errorf("reading the thread: %w", err)
		}
		if past || state == agents.ThreadBusy || state == agents.ThreadInterrupted {
			return agents.ErrBusy
		}
		if _, err := tx.Exec(hideRows, thread, run); err != nil {
			return fmt.Errorf("hiding messages: %w", err)
		}
		if _, err := tx.Exec(`UPDATE threads SET head = ?, status = 'idle' WHERE id = ?`, r.StoodAt(), thread); err != nil {
			return fmt.Errorf("moving the thread's head: %w", err)
		}
		if err := revalue(tx, thread, r.StoodAt(), true); err != nil {
			return err
		}
	}
	_, err := tx.Exec(hideRun, run)
	return err
}

// RemoveRun implements [agents.Store].
func (s *Store) RemoveRun(ctx context.Context, run string) error {
	begun := false
	for gone := false; !gone; {
		err := s.write(ctx, "removing the run", func(tx *store.Tx) (err error) {
			if !begun {
				if err := takeRun(tx, run); err != nil {
					return err
				}
			}
			gone, err = removePart(tx, removeRunParts, removeRun, run)
			return err
		})
		if err != nil {
			return err
		}
		begun = true
	}
	return nil
}

// takeRun makes a run one that nobody finds, if it is over.
func takeRun(tx *store.Tx, run string) error {
	var status agents.Status
	switch err := tx.QueryRow(`SELECT status FROM runs WHERE id = ?`, run).Scan(&status); {
	case errors.Is(err, sql.ErrNoRows):
		return agents.ErrRunNotFound
	case err != nil:
		return fmt.Errorf("reading the run: %w", err)
	case !status.Final():
		return agents.ErrBusy
	}
	_, err := tx.Exec(hideRun, run)
	return err
}
