package state

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/internal/store"
)

const (
	insertPiece  = `INSERT INTO events (run, first, last, data) VALUES (?, ?, ?, ?)`
	selectPieces = `SELECT data FROM events WHERE run = ?1 AND last >= ?2 AND first >=
		(SELECT coalesce(max(first), 0) FROM events WHERE run = ?1 AND first <= ?2)
		ORDER BY first`
)

// AppendEvents implements [agents.Store].
func (s *Store) AppendEvents(ctx context.Context, run string, events []agents.Event) error {
	return s.db.Write(ctx, func(tx *store.Tx) error { return insertEvents(tx, run, events) })
}

func insertEvents(tx *store.Tx, run string, events []agents.Event) error {
	if len(events) == 0 {
		return nil
	}
	data, err := json.Marshal(events)
	if err != nil {
		return fmt.Errorf("encoding events: %w", err)
	}
	if _, err := tx.Exec(insertPiece, run, events[0].Seq, events[len(events)-1].Seq, string(data)); err != nil {
		return fmt.Errorf("inserting events: %w", err)
	}
	return nil
}

// Events implements [agents.Store].
func (s *Store) Events(ctx context.Context, run string, from, limit int) ([]agents.Event, error) {
	rows, err := s.db.Read().QueryContext(ctx, selectPieces, run, from)
	if err != nil {
		return nil, fmt.Errorf("reading events: %w", err)
	}
	defer rows.Close()
	var events []agents.Event
	for len(events) < limit && rows.Next() {
		var data string
		if err := rows.Scan(&data); err != nil {
			return nil, fmt.Errorf("reading events: %w", err)
		}
		var piece []agents.Event
		if err := json.Unmarshal([]byte(data), &piece); err != nil {
			return nil, fmt.Errorf("decoding events: %w", err)
		}
		for _, e := range piece {
			if e.Seq >= from && len(events) < limit {
				events = append(events, e)
			}
		}
	}
	return events, rows.Err()
}
