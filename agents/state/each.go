package state

import (
	"context"
	"iter"
	"time"
)

// each yields the rows of a query, read by scan. An error is the last that it yields.
func each[T any](ctx context.Context, s *Store, doing string, scan func(interface{ Scan(...any) error }) (T, error), query string, args ...any) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		rows, err := s.db.Read().QueryContext(ctx, query, args...)
		if err != nil {
			yield(none, s.fault(doing, err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			v, err := scan(rows)
			if err != nil {
				yield(none, s.fault(doing, err))
				return
			}
			if !yield(v, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(none, s.fault(doing, err))
		}
	}
}

func scanText(row interface{ Scan(...any) error }) (text string, err error) {
	err = row.Scan(&text)
	return text, err
}

// milli is a time as a column has it; the zero time is 0.
func milli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// timeOf is the time of a column that [milli] wrote.
func timeOf(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
