package state

import (
	"context"
	"database/sql"
	"encoding/json"
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
		WHERE id = ? AND status NOT IN ('busy', 'interrupted') RETURNING messages`
	markThread = `UPDATE threads SET status = ?, updated = ? WHERE id = ?`
	freeThread = `UPDATE threads SET status = ?, updated = ?, messages = messages + ? WHERE id = ? RETURNING messages`
)

// CreateRun implements [agents.Store].
func (s *Store) CreateRun(ctx context.Context, r *agents.Run, input []model.Message, fresh *agents.Thread) error {
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
		if err := insertMessages(tx, r.Thread, r.Base, input); err != nil {
			return err
		}
		r.Version = 1
		data, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("encoding the run: %w", err)
		}
		_, err = tx.Exec(insertRun, r.ID, r.Thread, r.Thread, r.Assistant, string(r.Status), r.Version,
			r.Created.UnixMilli(), r.Updated.UnixMilli(), string(data))
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
	err = tx.QueryRow(`SELECT 1 FROM threads WHERE id = ?`, r.Thread).Scan(&one)
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
	return s.write(ctx, "saving the run", func(tx *store.Tx) error { return save(tx, r) })
}

// SuspendRun implements [agents.Store].
func (s *Store) SuspendRun(ctx context.Context, r *agents.Run) error {
	return s.write(ctx, "suspending the run", func(tx *store.Tx) error { return mark(tx, r, agents.ThreadInterrupted) })
}

// ResumeRun implements [agents.Store].
func (s *Store) ResumeRun(ctx context.Context, r *agents.Run) error {
	return s.write(ctx, "resuming the run", func(tx *store.Tx) error { return mark(tx, r, agents.ThreadBusy) })
}

// mark saves a run and the status that its thread has from now on.
func mark(tx *store.Tx, r *agents.Run, status agents.ThreadStatus) error {
	if err := save(tx, r); err != nil {
		return err
	}
	_, err := tx.Exec(markThread, string(status), r.Updated.UnixMilli(), r.Thread)
	return err
}

// save is the compare-and-swap. The run's version grows only when it was saved.
func save(tx *store.Tx, r *agents.Run) error {
	next := *r
	next.Version++
	data, err := json.Marshal(&next)
	if err != nil {
		return fmt.Errorf("encoding the run: %w", err)
	}
	res, err := tx.Exec(updateRun, string(r.Status), next.Version, r.Updated.UnixMilli(), string(data), r.ID, r.Version)
	if err != nil {
		return err
	}
	if err := changed(res); err != nil {
		return err
	}
	r.Version = next.Version
	return nil
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
	return s.write(ctx, "finishing the run", func(tx *store.Tx) error {
		if err := save(tx, r); err != nil {
			return err
		}
		status := agents.ThreadIdle
		if r.Status == agents.Error || r.Status == agents.Timeout {
			status = agents.ThreadError
		}
		var total int
		err := tx.QueryRow(freeThread, string(status), r.Updated.UnixMilli(), len(messages), r.Thread).Scan(&total)
		if err != nil {
			return fmt.Errorf("freeing the thread: %w", err)
		}
		if err := insertMessages(tx, r.Thread, total-len(messages), messages); err != nil {
			return err
		}
		return insertEvents(tx, r.ID, events)
	})
}

// Run implements [agents.Store].
func (s *Store) Run(ctx context.Context, id string) (*agents.Run, error) {
	var (
		data string
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
	if err := json.Unmarshal([]byte(data), &r); err != nil {
		return &row, fmt.Errorf("%w: %w", agents.ErrUnreadable, err)
	}
	r.Version = row.Version
	return &r, nil
}
