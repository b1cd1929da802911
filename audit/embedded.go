package audit

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"iter"

	"github.com/svc-gateway/svc/internal/store"
)

//go:embed migrations/*.sql
var files embed.FS

// Migrations returns the numbered schema files of the embedded store, for goose.
func Migrations() fs.FS {
	f, err := fs.Sub(files, "migrations")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return f
}

// sqlite is the embedded Store.
type sqlite struct {
	reader
	db *store.DB
}

// OpenStore opens the embedded store, an SQLite database at path, with synchronous=FULL.
func OpenStore(ctx context.Context, path string) (Store, error) {
	db, err := store.Open(ctx, path, Migrations(), store.Options{Full: true})
	if err != nil {
		return nil, fmt.Errorf("opening the audit log: %w", err)
	}
	return &sqlite{reader: reader{db.Read()}, db: db}, nil
}

func (s *sqlite) Append(ctx context.Context, b Batch) error {
	return unavailable(s.db.Write(ctx, b.insert))
}

func (s *sqlite) Enqueue(ctx context.Context, b Batch) error {
	return unavailable(s.db.Queue(ctx, b.insert))
}

func (s *sqlite) Flush(ctx context.Context) error { return unavailable(s.db.Flush(ctx)) }

// Healthy needs no probe of its own: after a failure the writer of package store tries again, with a
// real write, every 250 ms.
func (s *sqlite) Healthy(context.Context) error { return unavailable(s.db.Err()) }

func (s *sqlite) Backup(ctx context.Context, path string) error { return s.db.Backup(ctx, path) }

func (s *sqlite) Close() error { return s.db.Close() }

// unavailable translates the store's errors into the seam's.
func unavailable(err error) error {
	if errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrClosed) {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}

// Column lists, in the order of the tables and of the functions below.
const (
	eventColumns = `seq, time, node, type, run, thread, agent, user, role, on_behalf_of, address, token_id, call, tool, action,
input, output, duration, error, traceback, decision, rule, reasons, policy_hash, digest, findings, labels, status, method, path, code, hash`
	runColumns = `seq, time, node, run, thread, agent, model, user, prompt_tokens, completion_tokens, total_tokens, estimated, duration, hash`

	insertEvent = `INSERT INTO audit_events (` + eventColumns + `) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`
	insertRun   = `INSERT INTO audit_runs (` + runColumns + `) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)`
)

func (b Batch) insert(tx *store.Tx) error {
	for i := range b.Events {
		if _, err := tx.Exec(insertEvent, eventValues(&b.Events[i])...); err != nil {
			return err
		}
	}
	for i := range b.Runs {
		if _, err := tx.Exec(insertRun, runValues(&b.Runs[i])...); err != nil {
			return err
		}
	}
	return nil
}

func eventValues(e *Event) []any {
	return []any{
		integer(e.Seq), e.Time.Format(timeFormat), e.Node, e.Type, text(e.Run), text(e.Thread), text(e.Agent), text(e.User), text(e.Role),
		text(e.OnBehalfOf), text(e.Address), text(e.TokenID), text(e.Call), text(e.Tool), text(e.Action), text(e.Input), text(e.Output),
		number(e.Duration), text(e.Error), text(e.Traceback), text(e.Decision), text(e.Rule), list(e.Reasons), text(e.PolicyHash),
		text(e.Digest), text(string(e.Findings)), list(e.Labels), text(e.Status), text(e.Method), text(e.Path), integer(int64(e.Code)), e.Hash,
	}
}

func runValues(r *RunRecord) []any {
	return []any{
		integer(r.Seq), r.Time.Format(timeFormat), r.Node, r.Run, text(r.Thread), text(r.Agent), text(r.Model), text(r.User),
		r.PromptTokens, r.CompletionTokens, r.TotalTokens, int64(btoi(r.Estimated)), number(r.Duration), r.Hash,
	}
}

// The empty values of an Event are NULL in its row.

func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func integer(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

func number(f float64) any {
	if f == 0 {
		return nil
	}
	return f
}

func list(l []string) any {
	if len(l) == 0 {
		return nil
	}
	return string(appendList(nil, l))
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
