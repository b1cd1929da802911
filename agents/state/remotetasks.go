package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/svc-gateway/svc/agents/remote"
	"github.com/svc-gateway/svc/internal/store"
)

var _ remote.Store = (*Store)(nil)

const (
	insertTask = `INSERT INTO remote_tasks (id, owner, thread, open, unread, created, version, data) VALUES (?, ?, ?, ?, ?, ?, 1, ?)`
	openTasks  = `SELECT count(*) FROM remote_tasks WHERE owner = ? AND open = 1`
	trimTasks  = `DELETE FROM remote_tasks WHERE open = 0 AND rowid IN
		(SELECT rowid FROM remote_tasks WHERE owner = ? ORDER BY created DESC, rowid DESC LIMIT -1 OFFSET ?)`
	selectTasks = `SELECT version, data FROM remote_tasks`
	updateTask  = `UPDATE remote_tasks SET open = ?, unread = ?, version = version + 1, data = ? WHERE id = ? AND version = ?`
)

// CreateTask implements [remote.Store].
func (s *Store) CreateTask(ctx context.Context, t remote.Task) error {
	data, err := s.doc.pack(t)
	if err != nil {
		return fmt.Errorf("encoding the task: %w", err)
	}
	return s.write(ctx, "keeping the task", func(tx *store.Tx) error {
		if _, err := tx.Exec(insertTask, t.ID, t.Owner, t.Thread, !t.Status.Final(), t.Unread, t.Created.UnixMilli(), data); err != nil {
			return err
		}
		var open int
		if err := tx.QueryRow(openTasks, t.Owner).Scan(&open); err != nil {
			return fmt.Errorf("counting the user's tasks: %w", err)
		}
		if open > remote.MaxOpen {
			return remote.ErrFull
		}
		_, err := tx.Exec(trimTasks, t.Owner, remote.MaxKept)
		return err
	})
}

// RemoteTask implements [remote.Store].
func (s *Store) RemoteTask(ctx context.Context, id string) (remote.Task, error) {
	t, err := s.scanTask(s.db.Read().QueryRowContext(ctx, selectTasks+` WHERE id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return t, remote.ErrNotFound
	}
	return t, s.fault("reading the task", err)
}

// RemoteTasks implements [remote.Store].
func (s *Store) RemoteTasks(ctx context.Context, f remote.Filter) (list []remote.Task, err error) {
	var where []string
	var args []any
	for _, c := range []struct {
		is    bool
		where string
		value []any
	}{{f.Owner != "", "owner = ?", []any{f.Owner}}, {f.Thread != "", "thread = ?", []any{f.Thread}}, {f.Open, "open = 1", nil}, {f.Unread, "unread = 1", nil}} {
		if c.is {
			where, args = append(where, c.where), append(args, c.value...)
		}
	}
	query := selectTasks
	if len(where) > 0 {
		query += ` WHERE ` + strings.Join(where, ` AND `)
	}
	for t, err := range each(ctx, s, "listing tasks", s.scanTask, query+` ORDER BY created DESC, rowid DESC LIMIT ?`, append(args, f.Limit)...) {
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}

// SaveTask implements [remote.Store].
func (s *Store) SaveTask(ctx context.Context, t *remote.Task) error {
	data, err := s.doc.pack(t)
	if err != nil {
		return fmt.Errorf("encoding the task: %w", err)
	}
	err = s.write(ctx, "saving the task", func(tx *store.Tx) error {
		res, err := tx.Exec(updateTask, !t.Status.Final(), t.Unread, data, t.ID, t.Version)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, remote.ErrConflict)
		}
		return nil
	})
	if err == nil {
		t.Version++
	}
	return err
}

func (s *Store) scanTask(row interface{ Scan(...any) error }) (t remote.Task, err error) {
	var version int64
	var data any
	if err := row.Scan(&version, &data); err != nil {
		return t, err
	}
	if err := s.doc.unpack(data, &t); err != nil {
		return t, fmt.Errorf("decoding the task: %w", err)
	}
	t.Version = version
	return t, nil
}
