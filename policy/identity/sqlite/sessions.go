package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/svc-gateway/svc/internal/store"
	"github.com/svc-gateway/svc/policy/identity"
)

const (
	querySession = `SELECT (SELECT revision FROM revision), ` + sessionColumns + `, ` + tokenColumns + `, ` + userColumns + `
		FROM sessions s JOIN users u ON u.name = s.user LEFT JOIN tokens t ON t.id = s.token `
	querySessionByHash = querySession + `WHERE s.hash = ?`
	querySessionByID   = querySession + `WHERE s.id = ?`

	querySessions = `SELECT ` + sessionColumns + `
		FROM sessions s JOIN users u ON u.name = s.user LEFT JOIN tokens t ON t.id = s.token `
	// works is what package identity asks of a session, source aside.
	works = `s.ended IS NULL AND s.expires > ?
		AND u.removed IS NULL AND u.disabled = 0 AND coalesce(u.expires > ?, 1) AND s.issued >= coalesce(u.valid_after, '')
		AND t.revoked IS NULL AND coalesce(t.expires > ?, 1)`

	addSession = `INSERT INTO sessions (hash, id, user, kind, source, token, role, member_of, issued,
			created, expires, address, agent, issuer, subject, sid, due, secrets)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	endSession = `UPDATE sessions SET ended = ? WHERE id = ? AND ended IS NULL`
	endTooMany = `UPDATE sessions SET ended = ?1 WHERE id IN (SELECT id FROM sessions
		WHERE user = ?2 AND ended IS NULL AND expires > ?1 ORDER BY created DESC, id LIMIT -1 OFFSET ?3)`
	queryRights  = `SELECT role, member_of FROM sessions WHERE id = ? AND ended IS NULL`
	renewSession = `UPDATE sessions SET role = ?, member_of = ?, issuer = ?, subject = ?, sid = ?, due = ?, secrets = ? WHERE id = ?`
	// Both terms have an index; with OR between them SQLite would use neither.
	pruneExpired = `DELETE FROM sessions WHERE expires < ?`
	pruneEnded   = `DELETE FROM sessions WHERE ended < ?`
)

// SessionByHash implements [identity.SessionStore].
func (s *Store) SessionByHash(ctx context.Context, h identity.Hash) (identity.Credential, error) {
	return scanSession(s.db.Read().QueryRowContext(ctx, querySessionByHash, h[:]))
}

// SessionByID implements [identity.SessionStore].
func (s *Store) SessionByID(ctx context.Context, id string) (identity.Credential, error) {
	return scanSession(s.db.Read().QueryRowContext(ctx, querySessionByID, id))
}

func scanSession(row *sql.Row) (identity.Credential, error) {
	var c identity.Credential
	err := row.Scan(slices.Concat([]any{&c.Revision}, ofSession(&c.Session), ofToken(&c.Token), ofUser(&c.User))...)
	if errors.Is(err, sql.ErrNoRows) {
		return identity.Credential{}, identity.ErrNotFound
	} else if err != nil {
		return identity.Credential{}, readError("looking up a session", err)
	}
	return c, nil
}

// Sessions implements [identity.SessionStore].
func (s *Store) Sessions(ctx context.Context, f identity.SessionFilter, then time.Time) ([]identity.StoredSession, error) {
	var c conditions
	c.require(f.User != "", `s.user = ?`, f.User)
	c.require(f.Issuer != "", `s.issuer <> '' AND s.issuer = ?`, f.Issuer)
	c.require(f.Subject != "", `s.subject = ?`, f.Subject)
	c.require(f.SID != "", `s.sid <> '' AND s.sid = ?`, f.SID)
	now := text(then)
	c.require(true, works, now, now, now)
	where, args := c.where()
	sessions := []identity.StoredSession{}
	err := each(ctx, s.db.Read(), querySessions+where+` ORDER BY s.user, s.created, s.id`, args, func(rows *sql.Rows) error {
		var x identity.StoredSession
		err := rows.Scan(ofSession(&x)...)
		sessions = append(sessions, x)
		return err
	})
	if err != nil {
		return nil, readError("reading sessions", err)
	}
	return sessions, nil
}

// OpenSession implements [identity.SessionStore].
func (s *Store) OpenSession(ctx context.Context, x identity.StoredSession, limit int) (int64, error) {
	groups, err := listText(x.Groups)
	if err != nil {
		return 0, fmt.Errorf("opening a session: %w", err)
	}
	u := x.Upstream
	var revision int64
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		if _, err := tx.Exec(addSession, x.Hash[:], x.ID, x.User, string(x.Kind), x.Source, orNull(x.TokenID), string(x.Role), groups,
			text(x.Issued), text(x.Created), text(x.Expires), x.Address, x.Agent,
			u.Issuer, u.Subject, u.SID, text(u.Due), u.Secrets); err != nil {
			return err
		}
		n, err := affected(tx.Exec(endTooMany, text(x.Created), x.User, limit))
		if err != nil {
			return err
		} else if n > 0 {
			revision, err = advanced(tx)
			return err
		}
		return tx.QueryRow(queryRevision).Scan(&revision)
	})
	if err != nil {
		return 0, writeError("opening a session", err)
	}
	return revision, nil
}

// RenewSession implements [identity.SessionStore].
func (s *Store) RenewSession(ctx context.Context, x identity.StoredSession) (int64, error) {
	groups, err := listText(x.Groups)
	if err != nil {
		return 0, fmt.Errorf("renewing a session: %w", err)
	}
	u := x.Upstream
	var revision int64
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		var role, member string
		if err := tx.QueryRow(queryRights, x.ID).Scan(&role, &member); errors.Is(err, sql.ErrNoRows) {
			return identity.ErrNotFound
		} else if err != nil {
			return err
		}
		if _, err := tx.Exec(renewSession, string(x.Role), groups, u.Issuer, u.Subject, u.SID, text(u.Due), u.Secrets, x.ID); err != nil {
			return err
		}
		if role != string(x.Role) || member != groups {
			revision, err = advanced(tx)
			return err
		}
		return tx.QueryRow(queryRevision).Scan(&revision)
	})
	if err != nil {
		return 0, writeError("renewing a session", err)
	}
	return revision, nil
}

// PruneSessions implements [identity.SessionStore].
func (s *Store) PruneSessions(ctx context.Context, then time.Time) error {
	err := s.db.Queue(ctx, func(tx *store.Tx) error {
		for _, query := range []string{pruneExpired, pruneEnded} {
			if _, err := tx.Exec(query, text(then)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return writeError("forgetting sessions", err)
	}
	return nil
}
