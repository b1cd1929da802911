package identity

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/svc-gateway/svc/internal/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

// sqlite is the embedded [Store]: one file, every change on disk before it is acknowledged.
type sqlite struct {
	db                         *store.DB
	revision                   *sql.Stmt
	byHash, byID               *sql.Stmt
	sessionByHash, sessionByID *sql.Stmt
	byName, byLink             *sql.Stmt
	standing, familiar         *sql.Stmt
}

const (
	userColumns  = `u.name, u.role, u.created, u.expires, u.disabled, u.source, u.issuer, u.subject, u.valid_after, u.last_login, u.removed`
	tokenColumns = `t.id, t.user, t.name, t.role, t.created, t.expires, t.revoked, t.last_used`

	queryCredential = `SELECT (SELECT revision FROM revision), ` + tokenColumns + `, ` + userColumns + `
		FROM tokens t JOIN users u ON u.name = t.user `
	queryByHash = queryCredential + `WHERE t.hash = ?`
	queryByID   = queryCredential + `WHERE t.id = ?`
	queryUser   = `SELECT (SELECT revision FROM revision), ` + userColumns + ` FROM users u `
	queryByName = queryUser + `WHERE u.name = ?`
	// The partial index is used where its own condition is repeated.
	queryByLink   = queryUser + `WHERE u.source <> '' AND u.source = ? AND u.issuer = ? AND u.subject = ?`
	queryRevision = `SELECT revision FROM revision`

	advance = `UPDATE revision SET revision = revision + 1 WHERE revision = ?`

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
	advanceAny = `UPDATE revision SET revision = revision + 1`

	touchToken   = `UPDATE tokens SET last_used = max(coalesce(last_used, ''), ?) WHERE id = ?`
	touchSession = `UPDATE sessions SET last_used = max(coalesce(last_used, ''), ?) WHERE id = ?`
	touchUser    = `UPDATE users SET last_login = ?1, role = ?2 WHERE name = ?3 AND source <> '' AND coalesce(last_login, '') < ?1`
)

// OpenStore opens the embedded store at path and creates it when it is missing.
func OpenStore(ctx context.Context, path string) (Store, error) {
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, fmt.Errorf("opening the embedded migrations: %w", err)
	}
	db, err := store.Open(ctx, path, dir, store.Options{Full: true})
	if err != nil {
		return nil, err
	}
	s := &sqlite{db: db}
	for query, stmt := range s.prepared() {
		if *stmt, err = db.Read().PrepareContext(ctx, query); err != nil {
			return nil, errors.Join(fmt.Errorf("preparing %s: %w", path, err), s.Close())
		}
	}
	return s, nil
}

// prepared are the queries that requests and logins wait for.
func (s *sqlite) prepared() map[string]**sql.Stmt {
	return map[string]**sql.Stmt{
		queryRevision: &s.revision, queryByHash: &s.byHash, queryByID: &s.byID,
		querySessionByHash: &s.sessionByHash, querySessionByID: &s.sessionByID,
		queryByName: &s.byName, queryByLink: &s.byLink,
		queryStanding: &s.standing, queryFamiliar: &s.familiar,
	}
}

func (s *sqlite) Close() error {
	var errs []error
	for _, stmt := range s.prepared() {
		if *stmt != nil {
			errs = append(errs, (*stmt).Close())
		}
	}
	return errors.Join(append(errs, s.db.Close())...)
}

func (s *sqlite) Revision(ctx context.Context) (int64, error) {
	var n int64
	if err := s.revision.QueryRowContext(ctx).Scan(&n); err != nil {
		return 0, fmt.Errorf("reading the revision of users: %w", err)
	}
	return n, nil
}

func (s *sqlite) ByHash(ctx context.Context, h Hash) (Credential, error) {
	return scanCredential(s.byHash.QueryRowContext(ctx, h[:]))
}

func (s *sqlite) ByID(ctx context.Context, id string) (Credential, error) {
	return scanCredential(s.byID.QueryRowContext(ctx, id))
}

func (s *sqlite) ByName(ctx context.Context, name string) (Credential, error) {
	return scanUser(s.byName.QueryRowContext(ctx, name))
}

func (s *sqlite) ByLink(ctx context.Context, l Link) (Credential, error) {
	return scanUser(s.byLink.QueryRowContext(ctx, l.Source, l.Issuer, l.Subject))
}

func scanUser(row *sql.Row) (Credential, error) {
	var c Credential
	err := row.Scan(append([]any{&c.Revision}, c.User.columns()...)...)
	if errors.Is(err, sql.ErrNoRows) {
		return Credential{}, ErrNotFound
	} else if err != nil {
		return Credential{}, fmt.Errorf("looking up a user: %w", err)
	}
	return c, nil
}

func scanCredential(row *sql.Row) (Credential, error) {
	var c Credential
	err := row.Scan(append(append([]any{&c.Revision}, c.Token.columns()...), c.User.columns()...)...)
	if errors.Is(err, sql.ErrNoRows) {
		return Credential{}, ErrNotFound
	} else if err != nil {
		return Credential{}, fmt.Errorf("looking up a token: %w", err)
	}
	return c, nil
}

// columns are where userColumns are scanned to.
func (u *User) columns() []any {
	return []any{
		&u.Name, &u.Role,
		stamp{&u.Created},
		stamp{&u.Expires},
		&u.Disabled,
		&u.Source, &u.Issuer, &u.Subject,
		stamp{&u.ValidAfter},
		stamp{&u.LastLogin},
		stamp{&u.Removed},
	}
}

// columns are where tokenColumns are scanned to.
func (t *Token) columns() []any {
	return []any{
		optional{&t.ID},
		optional{&t.User},
		optional{&t.Name},
		optional{(*string)(&t.Role)},
		stamp{&t.Created},
		stamp{&t.Expires},
		stamp{&t.Revoked},
		stamp{&t.LastUsed},
	}
}

func (s *sqlite) Apply(ctx context.Context, c Change) (int64, error) {
	if err := s.db.Write(ctx, func(tx *store.Tx) error { return apply(tx, c) }); err != nil {
		return 0, fmt.Errorf("writing users: %w", err)
	}
	return c.Revision + 1, nil
}

func apply(tx *store.Tx, c Change) error {
	if n, err := affected(tx.Exec(advance, c.Revision)); err != nil {
		return err
	} else if n != 1 {
		return ErrConflict
	}
	for _, u := range c.Users {
		if n, err := affected(tx.Exec(putUser, u.Name, string(u.Role), text(u.Created), text(u.Expires), u.Disabled,
			u.Source, u.Issuer, u.Subject, text(u.ValidAfter), text(u.Removed))); err != nil {
			return err
		} else if n != 1 {
			return fmt.Errorf("%w: %s, in other capitals or of another source", ErrUserExists, u.Name)
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
			return fmt.Errorf("token %s: %w", t.ID, ErrNotFound)
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

func (s *sqlite) AddAccount(ctx context.Context, u User) (int64, error) {
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
			return ErrConflict
		}
		revision, err = advanced(tx)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("adding an account: %w", err)
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

func (s *sqlite) Touch(ctx context.Context, u Used) error {
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
		return fmt.Errorf("noting what was used: %w", err)
	}
	return nil
}
