package state

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/svc-gateway/svc/agents"
)

const (
	selectRuns = `SELECT id, thread, owner, assistant, status, created, updated FROM runs`
	// unfinished is the condition of the index runs_unfinished, word for word.
	unfinished = `status IN ('pending', 'running', 'interrupted')`
)

// RunInfo implements [agents.Store].
func (s *Store) RunInfo(ctx context.Context, id string) (agents.RunInfo, error) {
	i, err := scanRun(s.db.Read().QueryRowContext(ctx, selectRuns+` WHERE id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return i, agents.ErrRunNotFound
	}
	return i, fault("reading the run", err)
}

// Runs implements [agents.Store].
func (s *Store) Runs(ctx context.Context, f agents.RunFilter) ([]agents.RunInfo, error) {
	var where []string
	var args []any
	both := func(condition string, values ...any) {
		where, args = append(where, condition), append(args, values...)
	}
	if f.Thread != "" {
		both("thread = ?", f.Thread)
	}
	if f.Owner != "" {
		both("owner = ?", f.Owner)
	}
	if len(f.Status) > 0 {
		values := make([]any, len(f.Status))
		for i, status := range f.Status {
			values[i] = string(status)
		}
		both("status IN (?"+strings.Repeat(", ?", len(values)-1)+")", values...)
		if !slices.ContainsFunc(f.Status, agents.Status.Final) {
			both(unfinished)
		}
	}
	if f.Before != "" {
		both("id < ?", f.Before)
	}
	query := selectRuns
	if len(where) > 0 {
		query += " WHERE " + strings.Join(where, " AND ")
	}
	rows, err := s.db.Read().QueryContext(ctx, query+" ORDER BY id DESC LIMIT ?", append(args, f.Limit)...)
	if err != nil {
		return nil, fault("listing runs", err)
	}
	defer rows.Close()
	var runs []agents.RunInfo
	for rows.Next() {
		i, err := scanRun(rows)
		if err != nil {
			return nil, fault("listing runs", err)
		}
		runs = append(runs, i)
	}
	return runs, fault("listing runs", rows.Err())
}

func scanRun(row interface{ Scan(...any) error }) (agents.RunInfo, error) {
	var i agents.RunInfo
	var created, updated int64
	err := row.Scan(&i.ID, &i.Thread, &i.Owner, &i.Assistant, &i.Status, &created, &updated)
	i.Created, i.Updated = time.UnixMilli(created).UTC(), time.UnixMilli(updated).UTC()
	return i, err
}
