package identity

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/svc-gateway/svc/internal/store"
)

const (
	sessionColumns = `s.hash, s.id, s.user, s.kind, s.source, s.token, s.role, s.member_of, s.issued,
		s.created, s.expires, s.ended, s.last_used, s.address, s.agent, s.issuer, s.subject, s.sid, s.due, s.secrets`

	querySession = `SELECT (SELECT revision FROM revision), ` + sessionColumns + `, ` + tokenColumns + `, ` + userColumns + `
		FROM sessions s JOIN users u ON u.name = s.user LEFT JOIN tokens t ON t.id = s.token `
	querySessionByHash = querySession + `WHERE s.hash = ?`
	querySessionByID   = querySession + `WHERE s.id = ?`

	querySessions = `SELECT ` + sessionColumns + `
		FROM sessions s JOIN users u ON u.name = s.user LEFT JOIN tokens t ON t.id = s.token `
	// works is what sessionOf asks for, source aside.
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

func (s *sqlite) SessionByHash(ctx context.Context, h Hash) (Credential, error) {
	return scanSession(s.sessionByHash.QueryRowContext(ctx, h[:]))
}

func (s *sqlite) SessionByID(ctx context.Context, id string) (Credential, error) {
	return scanSession(s.sessionByID.QueryRowContext(ctx, id))
}

func scanSession(row *sql.Row) (Credential, error) {
	var c Credential
	err := row.Scan(slices.Concat([]any{&c.Revision}, c.Session.columns(), c.Token.columns(), c.User.columns())...)
	if errors.Is(err, sql.ErrNoRows) {
		return Credential{}, ErrNotFound
	} else if err != nil {
		return Credential{}, fmt.Errorf("looking up a session: %w", err)
	}
	return c, nil
}

// columns are where sessionColumns are scanned to.
func (s *StoredSession) columns() []any {
	u := &s.Upstream
	return []any{
		&s.Hash, &s.ID, &s.User, &s.Kind, &s.Source,
		optional{&s.TokenID},
		&s.Role,
		list{&s.Groups},
		stamp{&s.Issued},
		stamp{&s.Created},
		stamp{&s.Expires},
		stamp{&s.Ended},
		stamp{&s.LastUsed},
		&s.Address, &s.Agent,
		&u.Issuer, &u.Subject, &u.SID,
		stamp{&u.Due},
		&u.Secrets,
	}
}

// Scan implements sql.Scanner.
func (h *Hash) Scan(v any) error {
	b, ok := v.([]byte)
	if !ok || len(b) != len(h) {
		return fmt.Errorf("reading a hash: got %T of another length than %d", v, len(h))
	}
	copy(h[:], b)
	return nil
}

// list scans a JSON list; an empty one is nil.
type list struct{ to *[]string }

// Scan implements sql.Scanner.
func (l list) Scan(v any) error {
	doc, ok := v.(string)
	if !ok {
		return fmt.Errorf("reading a list: got %T, want text", v)
	}
	if doc == "[]" {
		*l.to = nil
		return nil
	}
	return json.Unmarshal([]byte(doc), l.to)
}

// listText is the database's form of a list.
func listText(l []string) (string, error) {
	if len(l) == 0 {
		return "[]", nil
	}
	doc, err := json.Marshal(l)
	return string(doc), err
}

func (s *sqlite) Sessions(ctx context.Context, f SessionFilter, then time.Time) ([]StoredSession, error) {
	var c conditions
	c.add(f.User != "", `s.user = ?`, f.User)
	c.add(f.Issuer != "", `s.issuer <> '' AND s.issuer = ?`, f.Issuer)
	c.add(f.Subject != "", `s.subject = ?`, f.Subject)
	c.add(f.SID != "", `s.sid <> '' AND s.sid = ?`, f.SID)
	now := text(then)
	c.add(true, works, now, now, now)
	where, args := c.where()
	sessions := []StoredSession{}
	err := each(ctx, s.db.Read(), querySessions+where+` ORDER BY s.user, s.created, s.id`, args, func(rows *sql.Rows) error {
		var x StoredSession
		err := rows.Scan(x.columns()...)
		sessions = append(sessions, x)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading sessions: %w", err)
	}
	return sessions, nil
}

func (s *sqlite) OpenSession(ctx context.Context, x StoredSession, limit int) (int64, error) {
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
		return 0, fmt.Errorf("opening a session: %w", err)
	}
	return revision, nil
}

func (s *sqlite) RenewSession(ctx context.Context, x StoredSession) (int64, error) {
	groups, err := listText(x.Groups)
	if err != nil {
		return 0, fmt.Errorf("renewing a session: %w", err)
	}
	u := x.Upstream
	var revision int64
	err = s.db.Write(ctx, func(tx *store.Tx) error {
		var role, member string
		if err := tx.QueryRow(queryRights, x.ID).Scan(&role, &member); errors.Is(err, sql.ErrNoRows) {
			return ErrNotFound
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
		return 0, fmt.Errorf("renewing a session: %w", err)
	}
	return revision, nil
}

func (s *sqlite) PruneSessions(ctx context.Context, then time.Time) error {
	err := s.db.Queue(ctx, func(tx *store.Tx) error {
		for _, query := range []string{pruneExpired, pruneEnded} {
			if _, err := tx.Exec(query, text(then)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("forgetting sessions: %w", err)
	}
	return nil
}
