package sqlite

import (
	"context"
	"fmt"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/store"
)

// Over implements [audit.Store]. The ends of runs have an index by time, so that it costs what it
// finds, however long the log is.
func (s *Store) Over(ctx context.Context, after audit.Over, p audit.Past, n int) (all []audit.Over, err error) {
	types, args := oneOf(p.Types)
	before := p.Before.UTC().Format(audit.TimeFormat)
	since := ""
	if !after.Time.IsZero() {
		since = after.Time.UTC().Format(audit.TimeFormat)
	}
	query := `SELECT e.run, e.time, e.seq FROM audit_events e
		WHERE e.type = '` + audit.RunEnd + `' AND e.time < ? AND (e.time, e.seq) > (?, ?) AND e.run IS NOT NULL
			AND NOT EXISTS (SELECT 1 FROM audit_events o WHERE o.run = e.run AND o.time >= ? AND o.type IN ` + types + `)
			AND NOT EXISTS (SELECT 1 FROM audit_runs o WHERE o.run = e.run AND (o.time >= ? OR o.seq = (SELECT max(seq) FROM audit_runs)))
		ORDER BY e.time, e.seq LIMIT ?`
	values := append([]any{before, since, after.Seq, before}, args...)
	rows, err := s.db.Read().QueryContext(ctx, query, append(values, before, n)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		o, err := scanOver(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, rows.Err()
}

// RemoveRuns implements [audit.Store].
func (s *Store) RemoveRuns(ctx context.Context, runs []string, p audit.Past, count int, b audit.Batch) error {
	types, args := oneOf(p.Types)
	removeEvents := `DELETE FROM audit_events WHERE run = ? AND time < ? AND type IN ` + types
	before := p.Before.UTC().Format(audit.TimeFormat)
	return unavailable(s.db.Write(ctx, func(tx *store.Tx) error {
		removed := 0
		remove := func(query string, args ...any) error {
			res, err := tx.Exec(query, args...)
			if err != nil {
				return fmt.Errorf("removing the records of runs: %w", err)
			}
			n, err := res.RowsAffected()
			removed += int(n)
			return err
		}
		for _, run := range runs {
			if err := remove(removeEvents, append([]any{run, before}, args...)...); err != nil {
				return err
			}
			if err := remove(`DELETE FROM audit_runs WHERE run = ? AND time < ?`, run, before); err != nil {
				return err
			}
		}
		if removed != count {
			return fmt.Errorf("%w: there are %d, want %d", audit.ErrOtherRecords, removed, count)
		}
		return insertAll(tx, b)
	}))
}
