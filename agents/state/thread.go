package state

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/internal/store"
)

const (
	insertThread = `INSERT INTO threads (id, owner, created, updated, status, metadata, messages, ephemeral, ttl)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`
	selectThreads  = `SELECT id, owner, created, updated, status, metadata, messages, ephemeral, ttl FROM threads`
	countThreads   = `SELECT count(*) FROM threads`
	countedThreads = `SELECT coalesce(sum(n), 0) FROM thread_counts`
	oneThread      = selectThreads + ` WHERE id = ? AND status <> 'deleted'`
	updateThread   = `UPDATE threads SET metadata = ?, ttl = ?, updated = ? WHERE id = ?`
)

// CreateThread implements [agents.Store].
func (s *Store) CreateThread(ctx context.Context, t agents.Thread) error {
	return s.write(ctx, "creating the thread", func(tx *store.Tx) error { return createThread(tx, t) })
}

func createThread(tx *store.Tx, t agents.Thread) error {
	if t.Metadata == nil {
		t.Metadata = map[string]any{}
	}
	metadata, err := json.Marshal(t.Metadata)
	if err != nil {
		return fmt.Errorf("writing the metadata: %w", err)
	}
	res, err := tx.Exec(insertThread, t.ID, t.Owner, t.Created.UnixMilli(), t.Updated.UnixMilli(),
		string(t.Status), string(metadata), t.Messages, t.Ephemeral, t.TTL.Milliseconds())
	if err != nil {
		return fmt.Errorf("inserting the thread: %w", err)
	}
	return changed(res)
}

// Thread implements [agents.Store].
func (s *Store) Thread(ctx context.Context, id string) (agents.Thread, error) {
	t, err := scanThread(s.db.Read().QueryRowContext(ctx, oneThread, id))
	if errors.Is(err, sql.ErrNoRows) {
		return t, agents.ErrThreadNotFound
	}
	return t, s.fault("reading the thread", err)
}

// UpdateThread implements [agents.Store].
func (s *Store) UpdateThread(ctx context.Context, id string, p agents.ThreadPatch, at time.Time) (t agents.Thread, err error) {
	err = s.write(ctx, "updating the thread", func(tx *store.Tx) error {
		if t, err = scanThread(tx.QueryRow(oneThread, id)); errors.Is(err, sql.ErrNoRows) {
			return agents.ErrThreadNotFound
		} else if err != nil {
			return fmt.Errorf("reading the thread: %w", err)
		}
		for name, v := range p.Metadata {
			if v == nil {
				delete(t.Metadata, name)
			} else {
				t.Metadata[name] = v
			}
		}
		if p.TTL != nil {
			t.TTL = *p.TTL
		}
		metadata, err := json.Marshal(t.Metadata)
		if err != nil {
			return fmt.Errorf("writing the metadata: %w", err)
		}
		t.Updated = at
		_, err = tx.Exec(updateThread, string(metadata), t.TTL.Milliseconds(), at.UnixMilli(), id)
		return err
	})
	return t, err
}

func scanThread(row interface{ Scan(...any) error }) (agents.Thread, error) {
	var (
		t                agents.Thread
		created, updated int64
		ttl              int64
		metadata         string
	)
	err := row.Scan(&t.ID, &t.Owner, &created, &updated, &t.Status, &metadata, &t.Messages, &t.Ephemeral, &ttl)
	if err != nil {
		return t, err
	}
	t.Created, t.Updated = time.UnixMilli(created).UTC(), time.UnixMilli(updated).UTC()
	t.TTL = time.Duration(ttl) * time.Millisecond
	if err := json.Unmarshal([]byte(metadata), &t.Metadata); err != nil {
		return t, fmt.Errorf("reading the metadata of thread %s: %w", t.ID, err)
	}
	return t, nil
}
