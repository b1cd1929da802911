package state

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/svc-gateway/svc/agents/items"
	"github.com/svc-gateway/svc/internal/store"
)

var _ items.Store = (*Store)(nil)

const (
	putItem = `INSERT INTO items (owner, path, key, created, updated, ttl, expires, size, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (owner, path, key) DO UPDATE SET
			created = iif(expires > 0 AND expires <= excluded.updated, excluded.created, created),
			updated = excluded.updated, ttl = excluded.ttl, expires = excluded.expires, size = excluded.size, data = excluded.data`
	itemTotals  = `SELECT items, bytes FROM item_totals WHERE owner = ?`
	selectItems = `SELECT owner, path, key, created, updated, ttl, expires, data FROM items`
	itemOwners  = `SELECT owner FROM items WHERE path = ? AND key = ? AND ` + liveItems + ` ORDER BY owner LIMIT ?`
	namedItem   = ` WHERE owner = ? AND path = ? AND key = ?`
	liveItems   = `(expires = 0 OR expires > ?)`
	renewItem   = `UPDATE items SET expires = ?4 + ttl` + ` WHERE owner = ?1 AND path = ?2 AND key = ?3 AND ttl > 0 AND expires > ?4`
	deleteItem  = `DELETE FROM items` + namedItem
	sweepItems  = `DELETE FROM items WHERE rowid IN (SELECT rowid FROM items WHERE expires > 0 AND expires <= ? ORDER BY expires LIMIT ?)`
)

// PutItem implements [items.Store].
func (s *Store) PutItem(ctx context.Context, i items.Item, most items.Room) error {
	data, err := s.doc.pack(i.Value)
	if err != nil {
		return fmt.Errorf("encoding the item: %w", err)
	}
	return s.write(ctx, "keeping the item", func(tx *store.Tx) error {
		_, err := tx.Exec(putItem, i.Owner, items.Path(i.Namespace), i.Key, i.Created.UnixMilli(), i.Updated.UnixMilli(),
			i.TTL.Milliseconds(), milli(i.Expires), len(i.Value), data)
		if err != nil {
			return err
		}
		var has items.Room
		if err := tx.QueryRow(itemTotals, i.Owner).Scan(&has.Items, &has.Bytes); err != nil {
			return fmt.Errorf("reading what the user has: %w", err)
		}
		if has.Items > most.Items || has.Bytes > most.Bytes {
			return items.ErrFull
		}
		return nil
	})
}

// Items implements [items.Store].
func (s *Store) Items(ctx context.Context, owner string, prefix []string, now time.Time) iter.Seq2[items.Item, error] {
	query, args := itemsQuery(owner, prefix, now)
	return each(ctx, s, "listing items", s.scanItem, query, args...)
}

func itemsQuery(owner string, prefix []string, now time.Time) (query string, args []any) {
	where, args := belowPrefix(owner, prefix, now)
	return selectItems + where + ` ORDER BY updated DESC, path, key, owner`, args
}

// belowPrefix is the condition of items that are there at a time and whose namespaces begin with labels.
func belowPrefix(owner string, prefix []string, now time.Time) (where string, args []any) {
	where, args = ` WHERE `+liveItems, []any{now.UnixMilli()}
	if owner != "" {
		where, args = where+` AND owner = ?`, append(args, owner)
	}
	if len(prefix) > 0 {
		path := items.Path(prefix)
		where, args = where+` AND (path = ? OR path > ? AND path < ?)`, append(args, path, path+".", path+"/") // what follows the dot
	}
	return where, args
}

// Item implements [items.Store].
func (s *Store) Item(ctx context.Context, r items.Ref, now time.Time) (items.Item, error) {
	i, err := s.scanItem(s.db.Read().QueryRowContext(ctx, selectItems+namedItem+` AND `+liveItems,
		r.Owner, items.Path(r.Namespace), r.Key, now.UnixMilli()))
	if errors.Is(err, sql.ErrNoRows) {
		return i, items.ErrNotFound
	}
	return i, s.fault("reading the item", err)
}

// ItemOwners implements [items.Store].
func (s *Store) ItemOwners(ctx context.Context, r items.Ref, now time.Time, limit int) (owners []string, err error) {
	for owner, err := range each(ctx, s, "looking for the item", scanText, itemOwners, items.Path(r.Namespace), r.Key, now.UnixMilli(), limit) {
		if err != nil {
			return nil, err
		}
		owners = append(owners, owner)
	}
	return owners, nil
}

// Namespaces implements [items.Store].
func (s *Store) Namespaces(ctx context.Context, owner string, prefix []string, now time.Time) iter.Seq2[[]string, error] {
	where, args := belowPrefix(owner, prefix, now)
	paths := each(ctx, s, "listing namespaces", scanText, `SELECT DISTINCT path FROM items`+where+` ORDER BY path`, args...)
	return func(yield func([]string, error) bool) {
		for path, err := range paths {
			var ns []string
			if err == nil {
				ns, err = items.ParseNamespace(path)
			}
			if !yield(ns, err) {
				return
			}
		}
	}
}

// RenewItems implements [items.Store].
func (s *Store) RenewItems(ctx context.Context, refs []items.Ref, now time.Time) error {
	return s.write(ctx, "renewing items", func(tx *store.Tx) error {
		for _, r := range refs {
			if _, err := tx.Exec(renewItem, r.Owner, items.Path(r.Namespace), r.Key, now.UnixMilli()); err != nil {
				return err
			}
		}
		return nil
	})
}

// DeleteItem implements [items.Store].
func (s *Store) DeleteItem(ctx context.Context, r items.Ref) error {
	return s.write(ctx, "deleting the item", func(tx *store.Tx) error {
		_, err := tx.Exec(deleteItem, r.Owner, items.Path(r.Namespace), r.Key)
		return err
	})
}

// SweepItems implements [items.Store].
func (s *Store) SweepItems(ctx context.Context, now time.Time, limit int) (int, error) {
	var due bool // most sweeps find nothing and need not wait for a write
	if err := s.db.Read().QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM items WHERE expires > 0 AND expires <= ?)`, now.UnixMilli()).Scan(&due); err != nil || !due {
		return 0, s.fault("looking for items that have expired", err)
	}
	return s.remove(ctx, "removing items that have expired", func(tx *store.Tx) (sql.Result, error) {
		return tx.Exec(sweepItems, now.UnixMilli(), limit)
	})
}

func (s *Store) scanItem(row interface{ Scan(...any) error }) (i items.Item, err error) {
	var (
		path                           string
		created, updated, ttl, expires int64
		data                           any
	)
	if err := row.Scan(&i.Owner, &path, &i.Key, &created, &updated, &ttl, &expires, &data); err != nil {
		return i, err
	}
	if i.Namespace, err = items.ParseNamespace(path); err != nil {
		return i, fmt.Errorf("reading the namespace of an item: %w", err)
	}
	var value json.RawMessage
	if err := s.doc.unpack(data, &value); err != nil {
		return i, fmt.Errorf("decoding the item: %w", err)
	}
	i.Value, i.TTL = value, time.Duration(ttl)*time.Millisecond
	i.Created, i.Updated, i.Expires = timeOf(created), timeOf(updated), timeOf(expires)
	return i, nil
}
