package state

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/svc-gateway/svc/agents/spending"
	"github.com/svc-gateway/svc/internal/store"
)

var _ spending.Store = (*Store)(nil)

const (
	addSpending = `INSERT INTO spending (day, owner, tokens, calls) VALUES (?1, ?2, max(0, ?3), max(0, ?4))
		ON CONFLICT (day, owner) DO UPDATE SET tokens = max(0, tokens + ?3), calls = max(0, calls + ?4)`
	selectSpending = `SELECT tokens, calls FROM spending WHERE day = ? AND owner = ?`
	deleteSpending = `DELETE FROM spending WHERE day < ?`
)

// keepSpending is how many days what was spent is kept.
const keepSpending = 7

// everybody is the owner of what all users together used.
const everybody = ""

// Spend implements [spending.Store].
func (s *Store) Spend(ctx context.Context, day, user string, add spending.Used, most spending.Most) error {
	return s.write(ctx, "counting what was spent", func(tx *store.Tx) error {
		read := func(owner string) (spending.Used, error) { return scanUsed(tx.QueryRow(selectSpending, day, owner)) }
		var after [2]spending.Used
		owners := []string{everybody, user}
		if user == everybody { // a turn on nobody's behalf
			owners = owners[:1]
		}
		for i, owner := range owners {
			if _, err := tx.Exec(addSpending, day, owner, add.Tokens, add.Calls); err != nil {
				return err
			}
			var err error
			if after[i], err = read(owner); err != nil {
				return err
			}
		}
		if err := most.Check(after[1], after[0]); err != nil {
			return err
		}
		if today, err := time.Parse(time.DateOnly, day); err == nil {
			_, err := tx.Exec(deleteSpending, spending.Day(today.AddDate(0, 0, -keepSpending)))
			return err
		}
		return nil
	})
}

// Spent implements [spending.Store].
func (s *Store) Spent(ctx context.Context, day, user string) (own, all spending.Used, err error) {
	if all, err = scanUsed(s.db.Read().QueryRowContext(ctx, selectSpending, day, everybody)); err == nil && user != everybody {
		own, err = scanUsed(s.db.Read().QueryRowContext(ctx, selectSpending, day, user))
	}
	return own, all, s.fault("reading what was spent", err)
}

func scanUsed(row interface{ Scan(...any) error }) (u spending.Used, err error) {
	if err = row.Scan(&u.Tokens, &u.Calls); errors.Is(err, sql.ErrNoRows) {
		return u, nil
	}
	return u, err
}
