package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/svc-gateway/svc/internal/store"
	"github.com/svc-gateway/svc/policy/identity"
)

const (
	queryStanding = `SELECT user, address, since, until, times FROM lockouts
		WHERE user = ?1 AND address IN (?2, '') OR user = '' AND address = ?2 ORDER BY user, address`
	queryFamiliar = `SELECT (SELECT last FROM familiar WHERE who = ?1 AND address = ?2),
		EXISTS (SELECT 1 FROM familiar WHERE who = ?1)`
	queryLockouts = `SELECT user, address, since, until, times FROM lockouts WHERE until > ? ORDER BY user, address`

	putLockout = `INSERT INTO lockouts (user, address, since, until, times) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (user, address) DO UPDATE SET since = excluded.since, until = excluded.until, times = excluded.times`
	forgetLockouts = `DELETE FROM lockouts WHERE until < ?`
	removeLockout  = `DELETE FROM lockouts WHERE user = ? AND address = ?`
	putFamiliar    = `INSERT INTO familiar (who, address, last) VALUES (?, ?, ?)
		ON CONFLICT (who, address) DO UPDATE SET last = max(last, excluded.last)`
	forgetFamiliar = `DELETE FROM familiar WHERE last < ?`
)

// Standing implements [identity.LockoutStore].
func (s *Store) Standing(ctx context.Context, user, address string) (identity.Standing, error) {
	var st identity.Standing
	rows, err := s.db.Read().QueryContext(ctx, queryStanding, user, address)
	if st.Lockouts, err = scanLockouts(rows, err); err != nil {
		return identity.Standing{}, err
	}
	if st.Familiar, _, err = s.Familiar(ctx, user, address); err != nil {
		return identity.Standing{}, err
	}
	return st, nil
}

// Familiar implements [identity.LockoutStore].
func (s *Store) Familiar(ctx context.Context, who, address string) (last time.Time, known bool, err error) {
	row := s.db.Read().QueryRowContext(ctx, queryFamiliar, who, address)
	if err := row.Scan(stamp{&last}, &known); err != nil {
		return time.Time{}, false, readError("reading familiar addresses", err)
	}
	return last, known, nil
}

// Lockouts implements [identity.LockoutStore].
func (s *Store) Lockouts(ctx context.Context, t time.Time) ([]identity.Lockout, error) {
	rows, err := s.db.Read().QueryContext(ctx, queryLockouts, text(t))
	return scanLockouts(rows, err)
}

// scanLockouts reads what a query gave, and its error.
func scanLockouts(rows *sql.Rows, err error) ([]identity.Lockout, error) {
	if err != nil {
		return nil, readError("reading lockouts", err)
	}
	defer rows.Close()
	list := []identity.Lockout{}
	for rows.Next() {
		var l identity.Lockout
		if err := rows.Scan(&l.User, &l.Address, stamp{&l.Since}, stamp{&l.Until}, &l.Times); err != nil {
			return nil, readError("reading lockouts", err)
		}
		list = append(list, l)
	}
	if err := rows.Err(); err != nil {
		return nil, readError("reading lockouts", err)
	}
	return list, nil
}

// PutLockout implements [identity.LockoutStore].
func (s *Store) PutLockout(ctx context.Context, l identity.Lockout, forget time.Time) error {
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		if _, err := tx.Exec(forgetLockouts, text(forget)); err != nil {
			return err
		}
		_, err := tx.Exec(putLockout, l.User, l.Address, text(l.Since), text(l.Until), l.Times)
		return err
	})
	if err != nil {
		return writeError("writing a lockout", err)
	}
	return nil
}

// RemoveLockouts implements [identity.LockoutStore].
func (s *Store) RemoveLockouts(ctx context.Context, list ...identity.Lockout) error {
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		for _, l := range list {
			if _, err := tx.Exec(removeLockout, l.User, l.Address); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return writeError("removing lockouts", err)
	}
	return nil
}

// NoteFamiliar implements [identity.LockoutStore].
func (s *Store) NoteFamiliar(ctx context.Context, who, address string, t, forget time.Time) error {
	err := s.db.Write(ctx, func(tx *store.Tx) error {
		if _, err := tx.Exec(forgetFamiliar, text(forget)); err != nil {
			return err
		}
		_, err := tx.Exec(putFamiliar, who, address, text(t))
		return err
	})
	if err != nil {
		return writeError("noting a familiar address", err)
	}
	return nil
}
