package sqlite

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/svc-gateway/svc/policy/identity"
)

const queryOldTokens = `SELECT ` + tokenColumns + ` FROM tokens t JOIN users u ON u.name = t.user
	WHERE t.revoked IS NULL AND t.created <= ?1 AND coalesce(t.expires > ?2, 1)
		AND u.removed IS NULL AND u.disabled = 0 AND coalesce(u.expires > ?2, 1)
	ORDER BY t.created, t.id LIMIT ?3`

// Accounts implements [identity.Store].
func (s *Store) Accounts(ctx context.Context, f identity.Filter) ([]identity.Account, int64, error) {
	tx, err := s.db.Read().BeginTx(ctx, nil) // one snapshot for the three queries
	if err != nil {
		return nil, 0, readError("reading users", err)
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	accounts, revision, err := readAccounts(ctx, tx, f)
	if err != nil {
		return nil, 0, readError("reading users", err)
	}
	return accounts, revision, nil
}

func readAccounts(ctx context.Context, tx *sql.Tx, f identity.Filter) ([]identity.Account, int64, error) {
	var revision int64
	if err := tx.QueryRowContext(ctx, queryRevision).Scan(&revision); err != nil {
		return nil, 0, err
	}
	accounts := []identity.Account{}
	at := map[string]int{}
	where, args := usersWhere(f)
	err := each(ctx, tx, `SELECT `+userColumns+` FROM users u `+where+` ORDER BY u.name`, args, func(rows *sql.Rows) error {
		a := identity.Account{Tokens: []identity.Token{}}
		err := rows.Scan(ofUser(&a.User)...)
		at[a.Name] = len(accounts)
		accounts = append(accounts, a)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	tokens := `SELECT ` + tokenColumns + ` FROM users u JOIN tokens t ON t.user = u.name ` + where + ` ORDER BY t.user, t.created, t.id`
	err = each(ctx, tx, tokens, args, func(rows *sql.Rows) error {
		var t identity.Token
		err := rows.Scan(ofToken(&t)...)
		a := &accounts[at[t.User]]
		a.Tokens = append(a.Tokens, t)
		return err
	})
	return accounts, revision, err
}

// usersWhere is the condition on users u: only what is asked for, so that an index serves it.
func usersWhere(f identity.Filter) (string, []any) {
	var c conditions
	c.require(f.Name != "", `u.name = ?`, f.Name)
	c.require(f.Role != "", `u.role = ?`, string(f.Role))
	return c.where()
}

// conditions is a WHERE clause in the making.
type conditions struct {
	terms []string
	args  []any
}

func (c *conditions) require(applies bool, term string, args ...any) {
	if applies {
		c.terms, c.args = append(c.terms, term), append(c.args, args...)
	}
}

func (c *conditions) where() (string, []any) {
	if len(c.terms) == 0 {
		return "", nil
	}
	return `WHERE ` + strings.Join(c.terms, ` AND `), c.args
}

// OldTokens implements [identity.Store].
func (s *Store) OldTokens(ctx context.Context, until, then time.Time, limit int) ([]identity.Token, error) {
	tokens := []identity.Token{}
	err := each(ctx, s.db.Read(), queryOldTokens, []any{text(until), text(then), limit}, func(rows *sql.Rows) error {
		var t identity.Token
		err := rows.Scan(ofToken(&t)...)
		tokens = append(tokens, t)
		return err
	})
	if err != nil {
		return nil, readError("reading tokens", err)
	}
	return tokens, nil
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func each(ctx context.Context, tx querier, query string, args []any, scan func(*sql.Rows) error) error {
	rows, err := tx.QueryContext(ctx, query, args...)
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
