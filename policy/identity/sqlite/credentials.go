package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/svc-gateway/svc/policy/identity"
)

const (
	queryRevision   = `SELECT revision FROM revision`
	queryCredential = `SELECT (SELECT revision FROM revision), ` + tokenColumns + `, ` + userColumns + `
		FROM tokens t JOIN users u ON u.name = t.user `
	queryByHash = queryCredential + `WHERE t.hash = ?`
	queryByID   = queryCredential + `WHERE t.id = ?`
	queryUser   = `SELECT (SELECT revision FROM revision), ` + userColumns + ` FROM users u `
	queryByName = queryUser + `WHERE u.name = ?`
	// The partial index is used where its own condition is repeated.
	queryByLink = queryUser + `WHERE u.source <> '' AND u.source = ? AND u.issuer = ? AND u.subject = ?`
)

// Revision implements [identity.Store].
func (s *Store) Revision(ctx context.Context) (int64, error) {
	var n int64
	if err := s.db.Read().QueryRowContext(ctx, queryRevision).Scan(&n); err != nil {
		return 0, readError("reading the revision of users", err)
	}
	return n, nil
}

// ByHash implements [identity.Store].
func (s *Store) ByHash(ctx context.Context, h identity.Hash) (identity.Credential, error) {
	return scanCredential(s.db.Read().QueryRowContext(ctx, queryByHash, h[:]))
}

// ByID implements [identity.Store].
func (s *Store) ByID(ctx context.Context, id string) (identity.Credential, error) {
	return scanCredential(s.db.Read().QueryRowContext(ctx, queryByID, id))
}

// ByName implements [identity.Store].
func (s *Store) ByName(ctx context.Context, name string) (identity.Credential, error) {
	return scanUser(s.db.Read().QueryRowContext(ctx, queryByName, name))
}

// ByLink implements [identity.Store].
func (s *Store) ByLink(ctx context.Context, l identity.Link) (identity.Credential, error) {
	return scanUser(s.db.Read().QueryRowContext(ctx, queryByLink, l.Source, l.Issuer, l.Subject))
}

func scanUser(row *sql.Row) (identity.Credential, error) {
	var c identity.Credential
	err := row.Scan(append([]any{&c.Revision}, ofUser(&c.User)...)...)
	if errors.Is(err, sql.ErrNoRows) {
		return identity.Credential{}, identity.ErrNotFound
	} else if err != nil {
		return identity.Credential{}, readError("looking up a user", err)
	}
	return c, nil
}

func scanCredential(row *sql.Row) (identity.Credential, error) {
	var c identity.Credential
	err := row.Scan(append(append([]any{&c.Revision}, ofToken(&c.Token)...), ofUser(&c.User)...)...)
	if errors.Is(err, sql.ErrNoRows) {
		return identity.Credential{}, identity.ErrNotFound
	} else if err != nil {
		return identity.Credential{}, readError("looking up a token", err)
	}
	return c, nil
}
