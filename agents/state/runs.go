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
	selectRuns = `SELECT id, thread, owner, assistant, status, version, created, updated FROM runs`
	// unfinished is the condition of the index runs_unfinished, word for word.
	unfinished = `status IN ('pending', 'running', 'interrupted')`
)

// RunInfo implements [agents.Store].
func (s *Store) RunInfo(ctx context.Context, id string) (agents.RunInfo, error) {
	i, err := scanRun(s.db.Read().QueryRowContext(ctx, selectRuns+` WHERE id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return i, agents.ErrRunNotFound
	}
	return i, s.fault("reading the run", err)
}

// Runs implements [agents.Store].
func (s *Store) Runs(ctx context.Context, f agents.RunFilter) ([]agents.RunInfo, error) {
	query, args := runsQuery(f)
	rows, err := s.db.Read().QueryContext(ctx, query, args...)
	if err != nil {
		return nil, s.fault("listing runs", err)
	}
	defer rows.Close()
	var runs []agents.RunInfo
	for rows.Next() {
		i, err := scanRun(rows)
		if err != nil {
			return nil, s.fault("listing runs", err)
		}
		runs = append(runs, i)
	}
	return runs, s.fault("listing runs", rows.Err())
}

func runsQuery(f agents.RunFilter) (query string, args []any) {
	var where []string
	only := func(condition string, values ...any) {
		where, args = append(where, condition), append(args, values...)
	}
	if f.Thread != "" {
		only("thread = ?", f.Thread)
	}
	if f.Owner != "" {
		only("owner = ?", f.Owner)
	}
	if len(f.Status) > 0 {
		values := make([]any, len(f.Status))
		for i, status := range f.Status {
			values[i] = string(status)
		}
		only("status IN (?"+strings.Repeat(", ?", len(values)-1)+")", values...)
		if !slices.ContainsFunc(f.Status, agents.Status.Final) {
			only(unfinished)
		}
	}
	if f.Before != "" {
		only("id < ?", f.Before)
	}
	query = selectRuns
	if len(where) > 0 {
		query += " WHERE " + strings.Join(where, " AND ")
	}
	return query + " ORDER BY id DESC LIMIT ?", append(args, f.Limit)
}

func scanRun(row interface{ Scan(...any) error }) (agents.RunInfo, error) {
	var i agents.RunInfo
	var created, updated int64
	err := row.Scan(&i.ID, &i.Thread, &i.Owner, &i.Assistant, &i.Status, &i.Version, &created, &updated)
	i.Created, i.Updated = time.UnixMilli(created).UTC(), time.UnixMilli(updated).UTC()
	return i, err
}
