package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/store"
)

// removeRows is the length of the stretches that are removed at a time: everybody who records
// something waits meanwhile.
const removeRows = 500

// Removable implements [audit.Store]. It reads, and so holds up nobody.
func (s *Store) Removable(ctx context.Context, after audit.Span, n int) (audit.Span, error) {
	types, args := oneOf(after.Types)
	before := after.Before.UTC().Format(audit.TimeFormat)
	found := audit.Span{Types: after.Types, Before: after.Before}
	var from, to, seen sql.NullInt64
	var newest sql.NullString
	query := `WITH seen AS (SELECT seq, time, type FROM audit_events WHERE seq > ? ORDER BY seq LIMIT ?),
		old AS (SELECT seq FROM seen WHERE time < ? AND type IN ` + types + `)
		SELECT (SELECT count(*) FROM old), (SELECT min(seq) FROM old), (SELECT max(seq) FROM old),
			(SELECT max(seq) FROM seen), (SELECT time FROM seen ORDER BY seq DESC LIMIT 1)`
	err := s.db.Read().QueryRowContext(ctx, query, append([]any{after.Seen, n, before}, args...)...).
		Scan(&found.Count, &from, &to, &seen, &newest)
	if err != nil {
		return found, err
	}
	found.From, found.To, found.Seen, found.Newer = from.Int64, to.Int64, seen.Int64, newest.String >= before
	return found, nil
}

// Remove implements [audit.Store].
func (s *Store) Remove(ctx context.Context, span audit.Span) (removed int, err error) {
	types, args := oneOf(span.Types)
	query := `DELETE FROM audit_events WHERE seq BETWEEN ? AND ? AND time < ? AND type IN ` + types
	before := span.Before.UTC().Format(audit.TimeFormat)
	for from := span.From; from <= span.To; from += removeRows {
		err := s.db.Write(ctx, func(tx *store.Tx) error {
			res, err := tx.Exec(query, append([]any{from, min(from+removeRows-1, span.To), before}, args...)...)
			if err != nil {
				return fmt.Errorf("removing records: %w", err)
			}
			n, err := res.RowsAffected()
			removed += int(n)
			return err
		})
		if err != nil {
			return removed, unavailable(err)
		}
	}
	return removed, nil
}

// Size implements [audit.Store].
func (s *Store) Size(ctx context.Context) (int64, error) {
	n, err := s.db.Size(ctx)
	return n, unavailable(err)
}

// oneOf is the right side of IN, and its values.
func oneOf(words []string) (list string, values []any) {
	for _, w := range words {
		values = append(values, w)
	}
	return "(" + strings.TrimSuffix(strings.Repeat("?, ", len(words)), ", ") + ")", values
}
