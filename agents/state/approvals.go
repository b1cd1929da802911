package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/internal/store"
)

var _ approval.Store = (*Store)(nil)

const (
	insertApproval = `INSERT INTO approvals (id, run, owner, state, expires, version, data)
		SELECT ?, id, owner, ?, ?, 1, ? FROM runs WHERE id = ? AND ` + unfinished + ` ON CONFLICT DO NOTHING`
	updateApproval  = `UPDATE approvals SET state = ?, expires = ?, version = ?, data = ? WHERE id = ? AND version = ?`
	cancelApprovals = `UPDATE approvals SET state = 'cancelled', version = version + 1 WHERE run = ? AND ` + openApprovals
	selectApprovals = `SELECT run, owner, state, version, data FROM approvals`
	// openApprovals is the condition of the index approvals_open, word for word.
	openApprovals = `state IN ('pending', 'approved', 'edited', 'rejected', 'expired')`
)

// openStates are those of openApprovals.
var openStates = []approval.State{approval.Pending, approval.Approved, approval.Edited, approval.Rejected, approval.Expired}

// CreateApproval implements [approval.Store].
func (s *Store) CreateApproval(ctx context.Context, a approval.Approval) (approval.Approval, error) {
	data, err := s.doc.pack(a)
	if err != nil {
		return a, fmt.Errorf("encoding the approval: %w", err)
	}
	var stored approval.Approval
	err = s.writeLasting(ctx, "creating the approval", func(tx *store.Tx) error {
		if _, err := tx.Exec(insertApproval, a.ID, string(a.State), a.Expires.UnixMilli(), data, a.Run); err != nil {
			return err
		}
		var err error
		stored, err = s.scanApproval(tx.QueryRow(selectApprovals+` WHERE id = ?`, a.ID))
		if errors.Is(err, sql.ErrNoRows) {
			return approval.ErrRunOver
		}
		return err
	})
	return stored, err
}

// SaveApproval implements [approval.Store].
func (s *Store) SaveApproval(ctx context.Context, a *approval.Approval) error {
	data, err := s.doc.pack(a)
	if err != nil {
		return fmt.Errorf("encoding the approval: %w", err)
	}
	err = s.writeLasting(ctx, "saving the approval", func(tx *store.Tx) error {
		res, err := tx.Exec(updateApproval, string(a.State), a.Expires.UnixMilli(), a.Version+1, data, a.ID, a.Version)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, approval.ErrConflict)
		}
		return nil
	})
	if err == nil {
		a.Version++
	}
	return err
}

// writeLasting makes a change that a power cut does not undo.
func (s *Store) writeLasting(ctx context.Context, doing string, change func(*store.Tx) error) error {
	if err := s.write(ctx, doing, change); err != nil {
		return err
	}
	return s.fault(doing, s.db.Sync())
}

// Approval implements [approval.Store].
func (s *Store) Approval(ctx context.Context, id string) (approval.Approval, error) {
	a, err := s.scanApproval(s.db.Read().QueryRowContext(ctx, selectApprovals+` WHERE id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return a, approval.ErrNotFound
	}
	return a, s.fault("reading the approval", err)
}

// Approvals implements [approval.Store].
func (s *Store) Approvals(ctx context.Context, f approval.Filter) ([]approval.Approval, error) {
	query, args := approvalsQuery(f)
	rows, err := s.db.Read().QueryContext(ctx, query, args...)
	if err != nil {
		return nil, s.fault("listing approvals", err)
	}
	defer rows.Close()
	var list []approval.Approval
	for rows.Next() {
		a, err := s.scanApproval(rows)
		if err != nil {
			return nil, s.fault("listing approvals", err)
		}
		list = append(list, a)
	}
	return list, s.fault("listing approvals", rows.Err())
}

func approvalsQuery(f approval.Filter) (query string, args []any) {
	var where []string
	only := func(condition string, values ...any) {
		where, args = append(where, condition), append(args, values...)
	}
	if f.Run != "" {
		only("run = ?", f.Run)
	}
	if f.Owner != "" {
		only("owner = ?", f.Owner)
	}
	if len(f.State) > 0 {
		values := make([]any, len(f.State))
		for i, state := range f.State {
			values[i] = string(state)
		}
		only("state IN (?"+strings.Repeat(", ?", len(values)-1)+")", values...)
		if !slices.ContainsFunc(f.State, func(s approval.State) bool { return !slices.Contains(openStates, s) }) {
			only(openApprovals)
		}
	}
	if !f.Expired.IsZero() {
		only("expires <= ?", f.Expired.UnixMilli())
	}
	if f.Before != "" {
		only("id < ?", f.Before)
	}
	query = selectApprovals
	if len(where) > 0 {
		query += " WHERE " + strings.Join(where, " AND ")
	}
	return query + " ORDER BY id DESC LIMIT ?", append(args, f.Limit)
}

func (s *Store) scanApproval(row interface{ Scan(...any) error }) (a approval.Approval, err error) {
	var (
		run, owner, state string
		version           int64
		data              any
	)
	if err := row.Scan(&run, &owner, &state, &version, &data); err != nil {
		return a, err
	}
	if err := s.doc.unpack(data, &a); err != nil {
		return a, fmt.Errorf("decoding the approval: %w", err)
	}
	a.Run, a.Owner, a.State, a.Version = run, owner, approval.State(state), version
	return a, nil
}
