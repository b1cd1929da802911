package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/svc-gateway/svc/agents/cron"
	"github.com/svc-gateway/svc/internal/store"
)

var _ cron.Store = (*Store)(nil)

const (
	insertCron  = `INSERT INTO crons (id, owner, next, version, data) VALUES (?, ?, ?, 1, ?)`
	countCrons  = `SELECT count(*) FROM crons WHERE owner = ?`
	selectCrons = `SELECT id, owner, next, version, data FROM crons`
	dueCrons    = selectCrons + ` WHERE next > 0 AND next <= ? ORDER BY next LIMIT ?`
	updateCron  = `UPDATE crons SET next = ?, version = version + 1, data = ? WHERE id = ? AND version = ?`
	deleteCron  = `DELETE FROM crons WHERE id = ?`
)

// CreateCron implements [cron.Store].
func (s *Store) CreateCron(ctx context.Context, c cron.Cron, most int) error {
	data, err := s.doc.pack(c)
	if err != nil {
		return fmt.Errorf("encoding the cron: %w", err)
	}
	return s.write(ctx, "creating the cron", func(tx *store.Tx) error {
		if _, err := tx.Exec(insertCron, c.ID, c.Owner, milli(c.Next), data); err != nil {
			return err
		}
		var has int
		if err := tx.QueryRow(countCrons, c.Owner).Scan(&has); err != nil {
			return fmt.Errorf("counting the user's crons: %w", err)
		}
		if has > most {
			return cron.ErrFull
		}
		return nil
	})
}

// Cron implements [cron.Store].
func (s *Store) Cron(ctx context.Context, id string) (cron.Cron, error) {
	c, err := s.scanCron(s.db.Read().QueryRowContext(ctx, selectCrons+` WHERE id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return c, cron.ErrNotFound
	}
	return c, s.fault("reading the cron", err)
}

// Crons implements [cron.Store].
func (s *Store) Crons(ctx context.Context, owner string) iter.Seq2[cron.Cron, error] {
	if owner == "" {
		return each(ctx, s, "listing crons", s.scanCron, selectCrons+` ORDER BY id`)
	}
	return each(ctx, s, "listing crons", s.scanCron, selectCrons+` WHERE owner = ? ORDER BY id`, owner)
}

// DueCrons implements [cron.Store].
func (s *Store) DueCrons(ctx context.Context, now time.Time, limit int) (list []cron.Cron, err error) {
	for c, err := range each(ctx, s, "looking for what is due", s.scanCron, dueCrons, now.UnixMilli(), limit) {
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

// SaveCron implements [cron.Store].
func (s *Store) SaveCron(ctx context.Context, c *cron.Cron) error {
	data, err := s.doc.pack(c)
	if err != nil {
		return fmt.Errorf("encoding the cron: %w", err)
	}
	err = s.write(ctx, "saving the cron", func(tx *store.Tx) error {
		res, err := tx.Exec(updateCron, milli(c.Next), data, c.ID, c.Version)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, cron.ErrConflict)
		}
		return nil
	})
	if err == nil {
		c.Version++
	}
	return err
}

// DeleteCron implements [cron.Store].
func (s *Store) DeleteCron(ctx context.Context, id string) error {
	return s.write(ctx, "deleting the cron", func(tx *store.Tx) error {
		_, err := tx.Exec(deleteCron, id)
		return err
	})
}

func (s *Store) scanCron(row interface{ Scan(...any) error }) (c cron.Cron, err error) {
	var (
		id, owner     string
		next, version int64
		data          any
	)
	if err := row.Scan(&id, &owner, &next, &version, &data); err != nil {
		return c, err
	}
	if err := s.doc.unpack(data, &c); err != nil {
		return c, fmt.Errorf("decoding the cron: %w", err)
	}
	c.ID, c.Owner, c.Next, c.Version = id, owner, timeOf(next), version
	return c, nil
}
