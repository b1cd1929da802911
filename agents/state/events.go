package state

import (
	"context"
	"fmt"

	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/internal/store"
)

const (
	// A piece that begins where another began was written by somebody else: the run is not the
	// writer's any more.
	insertPiece  = `INSERT INTO events (run, first, last, data) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`
	selectPieces = `SELECT data FROM events WHERE run = ?1 AND last >= ?2 AND first >=
		(SELECT coalesce(max(first), 0) FROM events WHERE run = ?1 AND first <= ?2)
		ORDER BY first`
	selectNext = `SELECT coalesce(max(last) + 1, 0) FROM events WHERE run = ?`
)

// AppendEvents implements [agents.Store].
func (s *Store) AppendEvents(ctx context.Context, run string, events []eventlog.Event) error {
	if len(events) == 0 {
		return nil
	}
	p, err := s.newPiece(run, events)
	if err != nil {
		return err
	}
	return s.write(ctx, "appending events", p.insert)
}

// piece is a row of events. It is packed before the writer gets it, for whom everybody waits.
type piece struct {
	run         string
	first, last int
	data        any // nil: there are no events
}

func (s *Store) newPiece(run string, events []eventlog.Event) (piece, error) {
	if len(events) == 0 {
		return piece{}, nil
	}
	data, err := s.doc.pack(events)
	if err != nil {
		return piece{}, fmt.Errorf("encoding events: %w", err)
	}
	return piece{run, events[0].Seq, events[len(events)-1].Seq, data}, nil
}

func (p piece) insert(tx *store.Tx) error {
	if p.data == nil {
		return nil
	}
	res, err := tx.Exec(insertPiece, p.run, p.first, p.last, p.data)
	if err != nil {
		return fmt.Errorf("inserting events: %w", err)
	}
	return changed(res)
}

// Events implements [agents.Store].
func (s *Store) Events(ctx context.Context, run string, from, limit int) ([]eventlog.Event, error) {
	rows, err := s.db.Read().QueryContext(ctx, selectPieces, run, from)
	if err != nil {
		return nil, s.fault("reading events", err)
	}
	defer rows.Close()
	var events []eventlog.Event
	for len(events) < limit && rows.Next() {
		var data any
		if err := rows.Scan(&data); err != nil {
			return nil, s.fault("reading events", err)
		}
		var piece []eventlog.Event
		if err := s.doc.unpack(data, &piece); err != nil {
			return nil, fmt.Errorf("decoding events: %w", err)
		}
		for _, e := range piece {
			if e.Seq >= from && len(events) < limit {
				events = append(events, e)
			}
		}
	}
	return events, s.fault("reading events", rows.Err())
}

// NextEvent implements [agents.Store].
func (s *Store) NextEvent(ctx context.Context, run string) (next int, err error) {
	err = s.db.Read().QueryRowContext(ctx, selectNext, run).Scan(&next)
	return next, s.fault("reading events", err)
}
