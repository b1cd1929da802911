package audit

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"
)

// reader is the Source of an SQLite database.
type reader struct{ db *sql.DB }

func (r reader) Events(ctx context.Context, f Filter) iter.Seq2[Event, error] {
	return scan(ctx, r.db, `SELECT `+eventColumns+` FROM audit_events`, f, scanEvent)
}

func (r reader) Runs(ctx context.Context, f Filter) iter.Seq2[RunRecord, error] {
	return scan(ctx, r.db, `SELECT `+turnColumns+` FROM audit_runs`, f, scanRun)
}

// where turns a filter into the rest of a SELECT. Both tables have the columns it names.
func (f Filter) where() (string, []any) {
	var terms []string
	var args []any
	add := func(term string, arg any) {
		terms = append(terms, term)
		args = append(args, arg)
	}
	if f.User != "" {
		add("user = ?", f.User)
	}
	if f.Run != "" {
		add("run = ?", f.Run)
	}
	if !f.Since.IsZero() {
		add("time >= ?", ceil(f.Since).Format(timeFormat))
	}
	if !f.Until.IsZero() {
		add("time < ?", ceil(f.Until).Format(timeFormat))
	}
	if f.After > 0 {
		add("seq > ?", f.After)
	}
	var b strings.Builder
	for i, term := range terms {
		b.WriteString([]string{" WHERE ", " AND "}[min(i, 1)])
		b.WriteString(term)
	}
	b.WriteString(" ORDER BY seq")
	if f.Newest {
		b.WriteString(" DESC")
	}
	if f.Limit > 0 {
		b.WriteString(" LIMIT ?")
		args = append(args, f.Limit)
	}
	return b.String(), args
}

// ceil rounds a bound up to the precision of the column: a stored time is a whole millisecond, and
// compares with the bound as with the next whole one.
func ceil(t time.Time) time.Time {
	t = t.UTC()
	if d := t.Truncate(time.Millisecond); d.Before(t) {
		return d.Add(time.Millisecond)
	}
	return t
}

func scan[T any](ctx context.Context, db *sql.DB, query string, f Filter, one func(*sql.Rows) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		rest, args := f.where()
		rows, err := db.QueryContext(ctx, query+rest, args...)
		if err != nil {
			yield(none, fmt.Errorf("reading the audit log: %w", err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			v, err := one(rows)
			if err != nil {
				yield(none, fmt.Errorf("reading the audit log: %w", err))
				return
			}
			if !yield(v, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(none, fmt.Errorf("reading the audit log: %w", err))
		}
	}
}

func scanEvent(rows *sql.Rows) (e Event, err error) {
	var when, reasons, findings, labels maybe
	err = rows.Scan(&e.Seq, &when, &e.Node, &e.Type, &e.Hash,
		(*maybe)(&e.User), (*maybe)(&e.Role), (*maybe)(&e.OnBehalfOf), (*maybe)(&e.Address), (*maybe)(&e.TokenID),
		(*maybe)(&e.Run), (*maybe)(&e.Thread), (*maybe)(&e.Agent),
		(*maybe)(&e.Call), (*maybe)(&e.Tool), (*maybe)(&e.Action), (*maybe)(&e.Input), (*maybe)(&e.Decision), (*maybe)(&e.Rule),
		&reasons, (*maybe)(&e.PolicyHash), (*maybe)(&e.Digest),
		(*maybe)(&e.Output), (*float)(&e.Duration), (*maybe)(&e.Error), (*maybe)(&e.Traceback), (*maybe)(&e.Status),
		(*maybe)(&e.Method), (*maybe)(&e.Path), (*whole)(&e.Code),
		&findings, &labels)
	if err != nil {
		return e, err
	}
	if findings != "" {
		e.Findings = json.RawMessage(findings)
	}
	if e.Time, err = time.Parse(timeFormat, string(when)); err != nil {
		return e, fmt.Errorf("event %d: time: %w", e.Seq, err)
	}
	if e.Reasons, err = parseList(reasons); err != nil {
		return e, fmt.Errorf("event %d: reasons: %w", e.Seq, err)
	}
	if e.Labels, err = parseList(labels); err != nil {
		return e, fmt.Errorf("event %d: labels: %w", e.Seq, err)
	}
	return e, nil
}

func scanRun(rows *sql.Rows) (r RunRecord, err error) {
	var when maybe
	err = rows.Scan(&r.Seq, &when, &r.Node, &r.Run, (*maybe)(&r.Thread), (*maybe)(&r.Agent), (*maybe)(&r.Model), (*maybe)(&r.User),
		&r.PromptTokens, &r.CompletionTokens, &r.TotalTokens, &r.Estimated, (*float)(&r.Duration), &r.Hash)
	if err != nil {
		return r, err
	}
	if r.Time, err = time.Parse(timeFormat, string(when)); err != nil {
		return r, fmt.Errorf("run record %d: time: %w", r.Seq, err)
	}
	return r, nil
}

func parseList(s maybe) (l []string, err error) {
	if s == "" {
		return nil, nil
	}
	err = json.Unmarshal([]byte(s), &l)
	return l, err
}

// maybe scans text, NULL as the empty string.
type maybe string

// Scan implements sql.Scanner.
func (m *maybe) Scan(v any) error {
	var s sql.Null[string]
	if err := s.Scan(v); err != nil {
		return err
	}
	*m = maybe(s.V)
	return nil
}

// float and whole scan numbers, NULL as 0.
type (
	float float64
	whole int
)

// Scan implements sql.Scanner.
func (f *float) Scan(v any) error {
	var n sql.Null[float64]
	if err := n.Scan(v); err != nil {
		return err
	}
	*f = float(n.V)
	return nil
}

// Scan implements sql.Scanner.
func (w *whole) Scan(v any) error {
	var n sql.Null[int]
	if err := n.Scan(v); err != nil {
		return err
	}
	*w = whole(n.V)
	return nil
}

// collect gathers what a Source yields.
func collect[T any](seq iter.Seq2[T, error]) ([]T, error) {
	var all []T
	for v, err := range seq {
		if err != nil {
			return all, err
		}
		all = append(all, v)
	}
	return all, nil
}
