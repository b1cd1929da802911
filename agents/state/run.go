package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/internal/store"
)

const (
	insertRun = `INSERT INTO runs (id, thread, owner, assistant, status, version, created, updated, data)
		VALUES (?, ?, (SELECT owner FROM threads WHERE id = ?), ?, ?, ?, ?, ?, ?)`
	updateRun   = `UPDATE runs SET status = ?, version = ?, updated = ?, data = ? WHERE id = ? AND version = ?`
	claimThread = `UPDATE threads SET status = 'busy', updated = ?, ephemeral = 0, messages = messages + ?
		WHERE id = ? AND status NOT IN ('busy', 'interrupted', 'deleted') RETURNING messages`
	markThread = `UPDATE threads SET status = ?, updated = ? WHERE id = ?`
	freeThread = `UPDATE threads SET status = ?, updated = ?, messages = messages + ? WHERE id = ? RETURNING messages`
)

// CreateRun implements [agents.Store].
func (s *Store) CreateRun(ctx context.Context, r *agents.Run, input []model.Message, fresh *agents.Thread) error {
	said, err := s.packMessages(input)
	if err != nil {
		return err
	}
	return s.write(ctx, "creating the run", func(tx *store.Tx) error {
		if fresh != nil {
			t := *fresh
			t.Messages = len(input)
			if err := createThread(tx, t); err != nil {
				return err
			}
			r.Base = 0
		} else if err := claim(tx, r, len(input)); err != nil {
			return err
		}
		if err := insertMessages(tx, r.Thread, r.Base, said); err != nil {
			return err
		}
		r.Version = 1
		data, err := s.encode(r)
		if err != nil {
			return err
		}
		_, err = tx.Exec(insertRun, r.ID, r.Thread, r.Thread, r.Assistant, string(r.Status), r.Version,
			r.Created.UnixMilli(), r.Updated.UnixMilli(), data)
		return err
	})
}

// claim takes the thread for the run and sets the run's base.
func claim(tx *store.Tx, r *agents.Run, added int) error {
	var messages int
	err := tx.QueryRow(claimThread, r.Updated.UnixMilli(), added, r.Thread).Scan(&messages)
	if err == nil {
		r.Base = messages - added
		return nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("claiming the thread: %w", err)
	}
	var one int
	err = tx.QueryRow(`SELECT 1 FROM threads WHERE id = ? AND status <> 'deleted'`, r.Thread).Scan(&one)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return agents.ErrThreadNotFound
	case err != nil:
		return fmt.Errorf("reading the thread: %w", err)
	}
	return agents.ErrBusy
}

// SaveRun implements [agents.Store].
func (s *Store) SaveRun(ctx context.Context, r *agents.Run) error {
	c, err := s.newChange(r)
	if err != nil {
		return err
	}
	return c.done(s.write(ctx, "saving the run", c.save))
}

// SuspendRun implements [agents.Store].
func (s *Store) SuspendRun(ctx context.Context, r *agents.Run) error {
	return s.mark(ctx, "suspending the run", r, agents.ThreadInterrupted)
}

// ResumeRun implements [agents.Store].
func (s *Store) ResumeRun(ctx context.Context, r *agents.Run) error {
	return s.mark(ctx, "resuming the run", r, agents.ThreadBusy)
}

// mark saves a run and the status that its thread has from now on.
func (s *Store) mark(ctx context.Context, doing string, r *agents.Run, status agents.ThreadStatus) error {
	c, err := s.newChange(r)
	if err != nil {
		return err
	}
	return c.done(s.write(ctx, doing, func(tx *store.Tx) error {
		if err := c.save(tx); err != nil {
			return err
		}
		_, err := tx.Exec(markThread, string(status), r.Updated.UnixMilli(), r.Thread)
		return err
	}))
}

// change is the compare-and-swap of a run. It is packed before the writer gets it, for whom everybody
// waits.
type change struct {
	run  *agents.Run
	data any
}

func (s *Store) newChange(r *agents.Run) (change, error) {
	next := *r
	next.Version++
	data, err := s.encode(&next)
	return change{r, data}, err
}

// encode returns the value of a run's column. While a run is at work its row is replaced before long,
// so packing it costs more than it saves.
func (s *Store) encode(r *agents.Run) (any, error) {
	write := s.doc.pack
	if r.Status == agents.Pending || r.Status == agents.Running {
		write = text
	}
	data, err := write(r)
	if err != nil {
		return nil, fmt.Errorf("encoding the run: %w", err)
	}
	return data, nil
}

func (c change) save(tx *store.Tx) error {
	r := c.run
	res, err := tx.Exec(updateRun, string(r.Status), r.Version+1, r.Updated.UnixMilli(), c.data, r.ID, r.Version)
	if err != nil {
		return err
	}
	return changed(res)
}

// done raises the run's version when it was saved.
func (c change) done(err error) error {
	if err == nil {
		c.run.Version++
	}
	return err
}

// changed is ErrConflict for a statement that changed nothing.
func changed(res sql.Result) error {
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		err = agents.ErrConflict
	}
	return err
}

// FinishRun implements [agents.Store].
func (s *Store) FinishRun(ctx context.Context, r *agents.Run, messages []model.Message, events []agents.Event) error {
	c, err := s.newChange(r)
	if err != nil {
		return err
	}
	said, err := s.packMessages(messages)
	if err != nil {
		return err
	}
	last, err := s.newPiece(r.ID, events)
	if err != nil {
		return err
	}
	status := agents.ThreadIdle
	if r.Status == agents.Error || r.Status == agents.Timeout {
		status = agents.ThreadError
	}
	return c.done(s.write(ctx, "finishing the run", func(tx *store.Tx) error {
		if err := c.save(tx); err != nil {
			return err
		}
		if _, err := tx.Exec(cancelApprovals, r.ID); err != nil {
			return fmt.Errorf("cancelling the run's approvals: %w", err)
		}
		var total int
		err := tx.QueryRow(freeThread, string(status), r.Updated.UnixMilli(), len(messages), r.Thread).Scan(&total)
		if err != nil {
			return fmt.Errorf("freeing the thread: %w", err)
		}
		if err := insertMessages(tx, r.Thread, total-len(messages), said); err != nil {
			return err
		}
		return last.insert(tx)
	}))
}

// Run implements [agents.Store].
func (s *Store) Run(ctx context.Context, id string) (*agents.Run, error) {
	var (
		data any
		row  agents.Run // what the columns say
	)
	err := s.db.Read().QueryRowContext(ctx, `SELECT id, thread, assistant, status, version, data FROM runs WHERE id = ?`, id).
		Scan(&row.ID, &row.Thread, &row.Assistant, &row.Status, &row.Version, &data)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, agents.ErrRunNotFound
	case err != nil:
		return nil, s.fault("reading the run", err)
	}
	var r agents.Run
	if err := s.doc.unpack(data, &r); err != nil {
		return &row, fmt.Errorf("%w: %w", agents.ErrUnreadable, err)
	}
	r.Version = row.Version
	return &r, nil
}
