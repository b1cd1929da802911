package store

import (
	"context"
	"database/sql"
	"sync"
)

// Reader is the pool of a database's read-only connections. It keeps each query's text prepared, because
// to compile one takes longer than most reads, up to maxStatements of them; the others are compiled
// every time, so that texts made of what users ask for get slow, not a leak. Safe for concurrent use.
type Reader struct {
	*sql.DB

	mu       sync.RWMutex
	prepared map[string]*sql.Stmt // never closed before the DB is
}

// QueryContext is [sql.DB.QueryContext] with a prepared statement.
func (r *Reader) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if s := r.prepare(ctx, query); s != nil {
		return s.QueryContext(ctx, args...)
	}
	return r.DB.QueryContext(ctx, query, args...)
}

// QueryRowContext is [sql.DB.QueryRowContext] with a prepared statement.
func (r *Reader) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if s := r.prepare(ctx, query); s != nil {
		return s.QueryRowContext(ctx, args...)
	}
	return r.DB.QueryRowContext(ctx, query, args...)
}

// prepare returns the statement of a query; nil when there is none, and the query itself will say why.
func (r *Reader) prepare(ctx context.Context, query string) *sql.Stmt {
	r.mu.RLock()
	s, full := r.prepared[query], len(r.prepared) >= maxStatements
	r.mu.RUnlock()
	if s != nil || full {
		return s
	}
	s, err := r.PrepareContext(ctx, query) // nobody else waits for the connection that it needs
	if err != nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if first := r.prepared[query]; first != nil {
		_ = s.Close() // somebody else was first
		return first
	}
	r.prepared[query] = s
	return s
}
