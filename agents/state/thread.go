package state

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/internal/store"
)

const (
	insertThread = `INSERT INTO threads (id, owner, created, updated, status, metadata, messages, ephemeral)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`
	selectThreads = `SELECT id, owner, created, updated, status, metadata, messages, ephemeral FROM threads`
	countThreads  = `SELECT count(*) FROM threads`
	listed        = ` WHERE ephemeral = 0 AND status <> 'deleted' AND (?1 = '' OR owner = ?1) AND (?2 = '' OR status = ?2)`
	insertMessage = `INSERT INTO messages (thread, seq, data) VALUES (?, ?, ?)`
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
		string(t.Status), string(metadata), t.Messages, t.Ephemeral)
	if err != nil {
		return fmt.Errorf("inserting the thread: %w", err)
	}
	return changed(res)
}

// Thread implements [agents.Store].
func (s *Store) Thread(ctx context.Context, id string) (agents.Thread, error) {
	t, err := scanThread(s.db.Read().QueryRowContext(ctx, selectThreads+` WHERE id = ? AND status <> 'deleted'`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return t, agents.ErrThreadNotFound
	}
	return t, s.fault("reading the thread", err)
}

// Threads implements [agents.Store].
func (s *Store) Threads(ctx context.Context, f agents.ThreadFilter) ([]agents.Thread, int, error) {
	var total int
	err := s.db.Read().QueryRowContext(ctx, countThreads+listed, f.Owner, string(f.Status)).Scan(&total)
	if err != nil {
		return nil, 0, s.fault("counting threads", err)
	}
	rows, err := s.db.Read().QueryContext(ctx,
		selectThreads+listed+` ORDER BY updated DESC, id DESC LIMIT ?3 OFFSET ?4`,
		f.Owner, string(f.Status), f.Limit, f.Offset)
	if err != nil {
		return nil, 0, s.fault("listing threads", err)
	}
	defer rows.Close()
	threads := []agents.Thread{}
	for rows.Next() {
		t, err := scanThread(rows)
		if err != nil {
			return nil, 0, s.fault("listing threads", err)
		}
		threads = append(threads, t)
	}
	return threads, total, s.fault("listing threads", rows.Err())
}

func scanThread(row interface{ Scan(...any) error }) (agents.Thread, error) {
	var (
		t                agents.Thread
		created, updated int64
		metadata         string
	)
	err := row.Scan(&t.ID, &t.Owner, &created, &updated, &t.Status, &metadata, &t.Messages, &t.Ephemeral)
	if err != nil {
		return t, err
	}
	t.Created, t.Updated = time.UnixMilli(created).UTC(), time.UnixMilli(updated).UTC()
	if err := json.Unmarshal([]byte(metadata), &t.Metadata); err != nil {
		return t, fmt.Errorf("reading the metadata of thread %s: %w", t.ID, err)
	}
	return t, nil
}

// Messages implements [agents.Store].
func (s *Store) Messages(ctx context.Context, thread string, n int) ([]model.Message, error) {
	rows, err := s.db.Read().QueryContext(ctx,
		`SELECT data FROM messages WHERE thread = ? ORDER BY seq LIMIT ?`, thread, n)
	if err != nil {
		return nil, s.fault("reading messages", err)
	}
	defer rows.Close()
	var messages []model.Message
	for rows.Next() {
		var data any
		if err := rows.Scan(&data); err != nil {
			return nil, s.fault("reading messages", err)
		}
		var m model.Message
		if err := s.doc.unpack(data, &m); err != nil {
			return nil, fmt.Errorf("decoding a message: %w", err)
		}
		messages = append(messages, m)
	}
	return messages, s.fault("reading messages", rows.Err())
}

// packMessages returns the values of their columns.
func (s *Store) packMessages(messages []model.Message) ([]any, error) {
	packed := make([]any, len(messages))
	for i, m := range messages {
		var err error
		if packed[i], err = s.doc.pack(m); err != nil {
			return nil, fmt.Errorf("encoding a message: %w", err)
		}
	}
	return packed, nil
}

func insertMessages(tx *store.Tx, thread string, from int, packed []any) error {
	for i, data := range packed {
		if _, err := tx.Exec(insertMessage, thread, from+i, data); err != nil {
			return fmt.Errorf("inserting a message: %w", err)
		}
	}
	return nil
}
