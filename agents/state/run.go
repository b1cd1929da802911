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
	insertRun   = `INSERT INTO runs (id, thread, status, version, data) VALUES (?, ?, ?, ?, ?)`
	updateRun   = `UPDATE runs SET status = ?, version = ?, data = ? WHERE id = ? AND version = ?`
	claimThread = `UPDATE threads SET status = 'busy', updated = ?, ephemeral = 0, messages = messages + ?
		WHERE id = ? AND status <> 'busy' RETURNING messages`
	freeThread = `UPDATE threads SET status = ?, updated = ?, messages = messages + ? WHERE id = ? RETURNING messages`
)

// CreateRun implements [agents.Store].
func (s *Store) CreateRun(ctx context.Context, r *agents.Run, input []model.Message, fresh *agents.Thread) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
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
		if _, err := tx.Exec(insertRun, r.ID, r.Thread, string(r.Status), r.Version, string(data)); err != nil {
			return fmt.Errorf("inserting the run: %w", err)
		}
		return nil
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
		return agents.ErrNotFound
	case err != nil:
		return fmt.Errorf("reading the thread: %w", err)
	}
	return agents.ErrBusy
}

// SaveRun implements [agents.Store].
func (s *Store) SaveRun(ctx context.Context, r *agents.Run) error {
	return s.db.Write(ctx, func(tx *store.Tx) error { return save(tx, r) })
}

// save is the compare-and-swap. The run's version grows only when it was saved.
func save(tx *store.Tx, r *agents.Run) error {
	next := *r
	next.Version++
	data, err := json.Marshal(&next)
	if err != nil {
		return fmt.Errorf("encoding the run: %w", err)
	}
	res, err := tx.Exec(updateRun, string(r.Status), next.Version, string(data), r.ID, r.Version)
	if err != nil {
		return fmt.Errorf("saving the run: %w", err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return fmt.Errorf("saving the run: %w", err)
	}
	if n == 0 {
		return agents.ErrConflict
	}
	r.Version = next.Version
	return nil
}

// FinishRun implements [agents.Store].
func (s *Store) FinishRun(ctx context.Context, r *agents.Run, messages []model.Message, events []agents.Event) error {
	return s.db.Write(ctx, func(tx *store.Tx) error {
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
	return one(s.db.Read().QueryContext(ctx, `SELECT data, version FROM runs WHERE id = ?`, id))
}

// LatestRun implements [agents.Store].
func (s *Store) LatestRun(ctx context.Context, thread string) (*agents.Run, error) {
	return one(s.db.Read().QueryContext(ctx,
		`SELECT data, version FROM runs WHERE thread = ? ORDER BY id DESC LIMIT 1`, thread))
}

// Unfinished implements [agents.Store]. A run whose data cannot be read, because another version
// wrote it, has its ids, its status and no harness version.
func (s *Store) Unfinished(ctx context.Context) ([]*agents.Run, error) {
	rows, err := s.db.Read().QueryContext(ctx,
		`SELECT id, thread, status, version, data FROM runs WHERE status IN ('pending', 'running', 'interrupted') ORDER BY id`)
	if err != nil {
		return nil, fmt.Errorf("reading runs: %w", err)
	}
	defer rows.Close()
	var runs []*agents.Run
	for rows.Next() {
		var data string
		var r, columns agents.Run
		if err := rows.Scan(&columns.ID, &columns.Thread, &columns.Status, &columns.Version, &data); err != nil {
			return nil, fmt.Errorf("reading a run: %w", err)
		}
		if err := json.Unmarshal([]byte(data), &r); err != nil {
			r = columns
		}
		r.Version = columns.Version
		runs = append(runs, &r)
	}
	return runs, rows.Err()
}

func one(rows *sql.Rows, err error) (*agents.Run, error) {
	runs, err := list(rows, err)
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		return nil, agents.ErrNotFound
	}
	return runs[0], nil
}

func list(rows *sql.Rows, err error) ([]*agents.Run, error) {
	if err != nil {
		return nil, fmt.Errorf("reading runs: %w", err)
	}
	defer rows.Close()
	var runs []*agents.Run
	for rows.Next() {
		var data string
		r := &agents.Run{}
		if err := rows.Scan(&data, &r.Version); err != nil {
			return nil, fmt.Errorf("reading a run: %w", err)
		}
		version := r.Version
		if err := json.Unmarshal([]byte(data), r); err != nil {
			return nil, fmt.Errorf("decoding a run: %w", err)
		}
		r.Version = version
		runs = append(runs, r)
	}
	return runs, rows.Err()
}
