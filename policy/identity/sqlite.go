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
	db           *store.DB
	revision     *sql.Stmt
	byHash, byID *sql.Stmt
}

const (
	credentialColumns = `SELECT (SELECT revision FROM revision),
		t.id, t.user, t.name, t.created, t.expires, t.revoked, t.last_used,
		u.name, u.role, u.created, u.expires, u.disabled
		FROM tokens t JOIN users u ON u.name = t.user `
	queryByHash   = credentialColumns + `WHERE t.hash = ?`
	queryByID     = credentialColumns + `WHERE t.id = ?`
	queryRevision = `SELECT revision FROM revision`
	queryUsers    = `SELECT name, role, created, expires, disabled FROM users
		WHERE (?1 = '' OR name = ?1) AND (?2 = '' OR role = ?2) ORDER BY name`
	queryTokens = `SELECT id, user, name, created, expires, revoked, last_used FROM tokens
		WHERE user IN (SELECT name FROM users WHERE (?1 = '' OR name = ?1) AND (?2 = '' OR role = ?2))
		ORDER BY user, created, id`

	advance = `UPDATE revision SET revision = revision + 1 WHERE revision = ?`
	putUser = `INSERT INTO users (name, role, created, expires, disabled) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (name) DO UPDATE SET role = excluded.role, expires = excluded.expires, disabled = excluded.disabled`
	addToken = `INSERT INTO tokens (hash, id, user, name, created, expires, revoked, last_used) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
	putToken = `UPDATE tokens SET expires = ?, revoked = ? WHERE id = ?`
	touch    = `UPDATE tokens SET last_used = max(coalesce(last_used, ''), ?) WHERE id = ?`
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
	for query, stmt := range map[string]**sql.Stmt{
		queryRevision: &s.revision, queryByHash: &s.byHash, queryByID: &s.byID,
	} {
		if *stmt, err = db.Read().PrepareContext(ctx, query); err != nil {
			return nil, errors.Join(fmt.Errorf("preparing %s: %w", path, err), s.Close())
		}
	}
	return s, nil
}

func (s *sqlite) Close() error {
	var errs []error
	for _, stmt := range []*sql.Stmt{s.revision, s.byHash, s.byID} {
		if stmt != nil {
			errs = append(errs, stmt.Close())
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

func scanCredential(row *sql.Row) (Credential, error) {
	var c Credential
	t, u := &c.Token, &c.User
	err := row.Scan(&c.Revision,
		&t.ID, &t.User, &t.Name, stamp{&t.Created}, stamp{&t.Expires}, stamp{&t.Revoked}, stamp{&t.LastUsed},
		&u.Name, &u.Role, stamp{&u.Created}, stamp{&u.Expires}, &u.Disabled)
	if errors.Is(err, sql.ErrNoRows) {
		return Credential{}, ErrNotFound
	} else if err != nil {
		return Credential{}, fmt.Errorf("looking up a token: %w", err)
	}
	return c, nil
}

func (s *sqlite) Accounts(ctx context.Context, f Filter) ([]Account, int64, error) {
	tx, err := s.db.Read().BeginTx(ctx, nil) // one snapshot for the three queries
	if err != nil {
		return nil, 0, fmt.Errorf("reading users: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	accounts, revision, err := readAccounts(ctx, tx, f)
	if err != nil {
		return nil, 0, fmt.Errorf("reading users: %w", err)
	}
	return accounts, revision, nil
}

func readAccounts(ctx context.Context, tx *sql.Tx, f Filter) ([]Account, int64, error) {
	var revision int64
	if err := tx.QueryRowContext(ctx, queryRevision).Scan(&revision); err != nil {
		return nil, 0, err
	}
	accounts := []Account{}
	at := map[string]int{}
	err := each(ctx, tx, queryUsers, f, func(rows *sql.Rows) error {
		a := Account{Tokens: []Token{}}
		err := rows.Scan(&a.Name, &a.Role, stamp{&a.Created}, stamp{&a.Expires}, &a.Disabled)
		at[a.Name] = len(accounts)
		accounts = append(accounts, a)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	err = each(ctx, tx, queryTokens, f, func(rows *sql.Rows) error {
		var t Token
		err := rows.Scan(&t.ID, &t.User, &t.Name, stamp{&t.Created}, stamp{&t.Expires}, stamp{&t.Revoked}, stamp{&t.LastUsed})
		a := &accounts[at[t.User]]
		a.Tokens = append(a.Tokens, t)
		return err
	})
	return accounts, revision, err
}

func each(ctx context.Context, tx *sql.Tx, query string, f Filter, scan func(*sql.Rows) error) error {
	rows, err := tx.QueryContext(ctx, query, f.Name, string(f.Role))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
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
		if _, err := tx.Exec(putUser, u.Name, string(u.Role), text(u.Created), text(u.Expires), u.Disabled); err != nil {
			return err
		}
	}
	for _, t := range c.NewTokens {
		if _, err := tx.Exec(addToken, t.Hash[:], t.ID, t.User, t.Name,
			text(t.Created), text(t.Expires), text(t.Revoked), text(t.LastUsed)); err != nil {
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

func (s *sqlite) Touch(ctx context.Context, used map[string]time.Time) error {
	err := s.db.Queue(ctx, func(tx *store.Tx) error {
		for id, at := range used {
			if _, err := tx.Exec(touch, text(at), id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("noting the use of tokens: %w", err)
	}
	return nil
}
