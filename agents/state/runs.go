package state

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/svc-gateway/svc/agents"
)

const (
	selectRuns = `SELECT id, thread, owner, assistant, status, version, created, updated, hidden, about, failure FROM runs`
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
		only("status IN (" + literals(f.Status) + ")")
		if !slices.ContainsFunc(f.Status, agents.Status.Final) {
			only(unfinished)
		}
	}
	if f.Before != "" {
		only("id < ?", f.Before)
	}
	only("hidden = 0")
	query = selectRuns
	query += " WHERE " + strings.Join(where, " AND ")
	return query + " ORDER BY id DESC LIMIT ?", append(args, f.Limit)
}

// literals are words as a query spells them. A parameter that a partial index could be about makes SQLite
// compile the query each time it is asked.
func literals[S ~string](words []S) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = "'" + strings.ReplaceAll(string(w), "'", "''") + "'"
	}
	return strings.Join(quoted, ", ")
}

func scanRun(row interface{ Scan(...any) error }) (agents.RunInfo, error) {
	var (
		i                agents.RunInfo
		created, updated int64
		more, failure    sql.NullString
	)
	err := row.Scan(&i.ID, &i.Thread, &i.Owner, &i.Assistant, &i.Status, &i.Version, &created, &updated, &i.Hidden, &more, &failure)
	i.Created, i.Updated = time.UnixMilli(created).UTC(), time.UnixMilli(updated).UTC()
	if err == nil && more.Valid {
		var a about
		err = json.Unmarshal([]byte(more.String), &a)
		i.Metadata, i.Kwargs, i.Multitask = a.Metadata, a.Kwargs, a.Multitask
	}
	if err == nil && failure.Valid {
		err = json.Unmarshal([]byte(failure.String), &i.Failure)
	}
	return i, err
}

// about is what a run is listed with beside the columns.
type about struct {
	Metadata  map[string]any   `json:"metadata,omitempty"`
	Kwargs    json.RawMessage  `json:"kwargs,omitempty"`
	Multitask agents.Multitask `json:"multitask,omitempty"`
}

// packAbout returns the value of the column: nil when there is nothing to say.
func packAbout(r *agents.Run) (any, error) {
	if len(r.Metadata) == 0 && len(r.Kwargs) == 0 && r.Multitask == "" {
		return nil, nil
	}
	column, err := text(about{r.Metadata, r.Kwargs, r.Multitask})
	if err != nil {
		return nil, fmt.Errorf("encoding what the run is listed with: %w", err)
	}
	return column, nil
}
