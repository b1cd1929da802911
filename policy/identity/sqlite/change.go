package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/svc-gateway/svc/internal/store"
	"github.com/svc-gateway/svc/policy/identity"
)

const (
	advance    = `UPDATE revision SET revision = revision + 1 WHERE revision = ?`
	advanceAny = `UPDATE revision SET revision = revision + 1`

	// A name that is another's but for capitals is as good as taken: people would mix them up. Who
	// an account belongs to changes only when it was removed.
	putUser = `INSERT INTO users (name, role, created, expires, disabled, source, issuer, subject, valid_after, removed)
		SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10 ` + freeName + `
		ON CONFLICT (name) DO UPDATE SET role = excluded.role, expires = excluded.expires, disabled = excluded.disabled,
			source = excluded.source, issuer = excluded.issuer, subject = excluded.subject,
			valid_after = excluded.valid_after, removed = excluded.removed,
			created = iif(users.removed IS NULL, users.created, excluded.created)
			WHERE users.removed IS NOT NULL OR users.source = excluded.source
				AND users.issuer = excluded.issuer AND users.subject = excluded.subject`
	insertToken = `INSERT INTO tokens (hash, id, user, name, role, created, expires, revoked, last_used) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	putToken    = `UPDATE tokens SET expires = ?, revoked = ? WHERE id = ?`

	// One account a link: what is there stays as it is.
	insertAccount = `INSERT INTO users (name, role, created, expires, disabled, source, issuer, subject, valid_after, removed)
		SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, NULL ` + freeName + ` ON CONFLICT DO NOTHING`
	restoreAccount = `UPDATE users SET role = ?, created = ?, removed = NULL
		WHERE name = ? AND removed IS NOT NULL AND source = ? AND issuer = ? AND subject = ?`
	freeName = `WHERE EXISTS (SELECT 1 FROM users WHERE name = ?1)
			OR NOT EXISTS (SELECT 1 FROM users WHERE name = ?1 COLLATE NOCASE)`

	touchToken   = `UPDATE tokens SET last_used = max(coalesce(last_used, ''), ?) WHERE id = ?`
	touchSession = `UPDATE sessions SET last_used = max(coalesce(last_used, ''), ?) WHERE id = ?`
	touchUser    = `UPDATE users SET last_login = ?1, role = ?2 WHERE name = ?3 AND source <> '' AND coalesce(last_login, '') < ?1`
)

// Apply implements [identity.Store].
func (s *Store) Apply(ctx context.Context, c identity.Change) (int64, error) {
	if err := s.db.Write(ctx, func(tx *store.Tx) error { return apply(tx, c) }); err != nil {
		return 0, writeError("writing users", err)
	}
	return c.Revision + 1, nil
}

func apply(tx *store.Tx, c identity.Change) error {
	if n, err := affected(tx.Exec(advance, c.Revision)); err != nil {
		return err
	} else if n != 1 {
		return identity.ErrConflict
	}
	for _, u := range c.Users {
		if n, err := affected(tx.Exec(putUser, u.Name, string(u.Role), text(u.Created), text(u.Expires), u.Disabled,
			u.Source, u.Issuer, u.Subject, text(u.ValidAfter), text(u.Removed))); err != nil {
			return err
		} else if n != 1 {
			return fmt.Errorf("%w: %s, in other capitals or of another source", identity.ErrUserExists, u.Name)
		}
	}
	for _, t := range c.NewTokens {
		if _, err := tx.Exec(insertToken, t.Hash[:], t.ID, t.User, t.Name, orNull(string(t.Role)),
			text(t.Created), text(t.Expires), text(t.Revoked), text(t.LastUsed)); err != nil {
			return err
		}
	}
	for _, e := range c.Sessions {
		if _, err := tx.Exec(endSession, text(e.Ended), e.ID); err != nil {
			return err
		}
	}
	for _, t := range c.Tokens {
		if n, err := affected(tx.Exec(putToken, text(t.Expires), text(t.Revoked), t.ID)); err != nil {
			return err
		} else if n != 1 {
			return fmt.Errorf("token %s: %w", t.ID, identity.ErrNotFound)
		}
	}
	return nil
}

func affected(r sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// AddAccount implements [identity.Store].
func (s *Store) AddAccount(ctx context.Context, u identity.User) (int64, error) {
	var revision int64
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		n, err := affected(tx.Exec(insertAccount, u.Name, string(u.Role), text(u.Created), text(u.Expires), u.Disabled,
			u.Source, u.Issuer, u.Subject, text(u.ValidAfter)))
		if err != nil {
			return err
		} else if n == 1 {
			return tx.QueryRow(queryRevision).Scan(&revision)
		}
		n, err = affected(tx.Exec(restoreAccount, string(u.Role), text(u.Created), u.Name, u.Source, u.Issuer, u.Subject))
		if err != nil {
			return err
		} else if n == 0 {
			return identity.ErrConflict
		}
		revision, err = advanced(tx)
		return err
	})
	if err != nil {
		return 0, writeError("adding an account", err)
	}
	return revision, nil
}

// advanced counts a change that does not depend on the revision, and returns the new one.
func advanced(tx *store.Tx) (revision int64, err error) {
	if _, err = tx.Exec(advanceAny); err != nil {
		return 0, err
	}
	err = tx.QueryRow(queryRevision).Scan(&revision)
	return revision, err
}

// Touch implements [identity.Store].
func (s *Store) Touch(ctx context.Context, u identity.Used) error {
	err := s.db.Queue(ctx, func(tx *store.Tx) error {
		for query, used := range map[string]map[string]time.Time{touchToken: u.Tokens, touchSession: u.Sessions} {
			for id, at := range used {
				if _, err := tx.Exec(query, text(at), id); err != nil {
					return err
				}
			}
		}
		for name, seen := range u.Logins {
			if _, err := tx.Exec(touchUser, text(seen.At), string(seen.Role), name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return writeError("noting what was used", err)
	}
	return nil
}
