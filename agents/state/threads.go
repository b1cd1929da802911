package state

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/agents"
)

// Threads implements [agents.Store].
func (s *Store) Threads(ctx context.Context, f agents.ThreadFilter) ([]agents.Thread, int, error) {
	where, args, err := threadsWhere(f)
	if err != nil {
		return nil, 0, err
	}
	order, err := threadsOrder(f)
	if err != nil {
		return nil, 0, err
	}
	total, err := s.countThreads(ctx, f, where, args)
	if err != nil {
		return nil, 0, s.fault("counting threads", err)
	}
	rows, err := s.db.Read().QueryContext(ctx, selectThreads+where+order+` LIMIT ? OFFSET ?`, append(args, f.Limit, f.Offset)...)
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

// countThreads counts the threads of a filter. All of a user's, or of everybody's, have been counted already.
func (s *Store) countThreads(ctx context.Context, f agents.ThreadFilter, where string, args []any) (total int, err error) {
	query := countThreads + where
	switch {
	case f.Status != "" || f.IDs != nil || len(f.Metadata) > 0 || len(f.Values) > 0:
	case f.Owner != "":
		query, args = countedThreads+` WHERE owner = ?`, []any{f.Owner}
	default:
		query, args = countedThreads, nil
	}
	err = s.db.Read().QueryRowContext(ctx, query, args...).Scan(&total)
	return total, err
}

func threadsWhere(f agents.ThreadFilter) (string, []any, error) {
	q := conditions{}
	q.add(`ephemeral = 0 AND status <> 'deleted'`)
	if f.Owner != "" {
		q.add("owner = ?", f.Owner)
	}
	if f.Status != "" {
		q.add("status = " + literals([]agents.ThreadStatus{f.Status}))
	}
	if f.IDs != nil {
		ids, err := json.Marshal(f.IDs)
		if err != nil {
			return "", nil, err
		}
		q.add("id IN (SELECT value FROM json_each(?))", string(ids))
	}
	for _, c := range []struct {
		name, column string
		v            map[string]any
	}{{"metadata", "metadata", f.Metadata}, {"values", "coalesce(vals, '{}')", f.Values}} {
		if err := q.contains(c.name, c.column, c.v); err != nil {
			return "", nil, err
		}
	}
	return " WHERE " + strings.Join(q.all, " AND "), q.args, nil
}

// sortColumns are the columns that threads can be sorted by.
var sortColumns = map[agents.SortBy]string{
	"": "updated", agents.SortUpdated: "updated", agents.SortCreated: "created", agents.SortID: "id", agents.SortStatus: "status",
}

func threadsOrder(f agents.ThreadFilter) (string, error) {
	column, ok := sortColumns[f.SortBy]
	if !ok {
		return "", &agents.FieldError{Field: "sort_by", Message: "must be one of thread_id, status, created_at, updated_at"}
	}
	way := " DESC"
	if f.Ascending {
		way = ""
	}
	columns := slices.Compact([]string{column, "id"})
	return " ORDER BY " + strings.Join(columns, way+", ") + way, nil
}
