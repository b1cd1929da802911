package audit

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrLimit is wrapped by the error of a query that had more to say than Limits allow. The rows that
// come with it are the first ones, or those of the records that were copied.
var ErrLimit = errors.New("result is over the limit")

// Limits bound one query. A zero field takes its default.
type Limits struct {
	Rows  int           // rows returned; default 1,000
	Bytes int           // sum of the sizes of the values, 8 for a number; default 4 MiB
	Copy  int           // sum of the sizes of the values of records that are copied to be asked; default 64 MiB
	Time  time.Duration // until the query is interrupted, its copying included; default 5 s
}

func (l Limits) withDefaults() Limits {
	if l.Rows <= 0 {
		l.Rows = 1000
	}
	if l.Bytes <= 0 {
		l.Bytes = 4 << 20
	}
	if l.Copy <= 0 {
		l.Copy = 64 << 20
	}
	if l.Time <= 0 {
		l.Time = 5 * time.Second
	}
	return l
}

// Query runs one SELECT on the records that f selects and returns its columns and rows; see
// [Source.Query]. Whoever asks can see those records and nothing else, however the statement is
// written. Where it would be cut off by a limit it ends with an error that wraps [ErrLimit].
func (r *Reader) Query(ctx context.Context, f Filter, query string, l Limits) (columns []string, rows [][]any, err error) {
	l = l.withDefaults()
	late := fmt.Errorf("%w: the query ran for %v; narrow it down", ErrLimit, l.Time)
	ctx, cancel := context.WithTimeoutCause(ctx, l.Time, late)
	defer cancel()
	columns, rows, err = r.source.Query(ctx, f, query, l)
	if err != nil && ctx.Err() != nil { // a database only says that it was interrupted
		err = fmt.Errorf("querying the audit log: %w", context.Cause(ctx))
	}
	return columns, rows, err
}
