package state

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/svc-gateway/svc/agents/memory"
	"github.com/svc-gateway/svc/internal/store"
)

var _ memory.Store = (*Store)(nil)

const (
	makeScope  = `INSERT INTO memory_scopes (owner, agent) VALUES (?, ?) ON CONFLICT (owner, agent) DO NOTHING`
	findScope  = `SELECT id, next, entries, words FROM memory_scopes WHERE owner = ? AND agent = ?`
	sameMemory = `SELECT seq, id, labels FROM memories WHERE owner = ? AND agent = ? AND digest = ?`
	addMemory  = `INSERT INTO memories (seq, id, owner, agent, digest, category, own, labels, created, updated, used, times, run, thread, words, text)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?)`
	againMemory    = `UPDATE memories SET category = ?, own = ?, labels = ?, updated = ?, used = max(used, ?), times = times + 1, run = ?, thread = ? WHERE seq = ?`
	memoryRoom     = `SELECT coalesce(sum(entries), 0), coalesce(sum(bytes), 0) FROM memory_scopes WHERE owner = ?`
	leastMemory    = `SELECT seq FROM memories WHERE owner = ? ORDER BY own, used, seq LIMIT 1`
	removeMemory   = `DELETE FROM memories WHERE seq = ?`
	selectMemories = `SELECT id, owner, agent, category, labels, created, updated, used, times, run, thread, text FROM memories`
	useMemory      = `UPDATE memories SET used = ?1 WHERE id = ?2 AND used < ?1`
	forgetMemory   = `DELETE FROM memories WHERE id = ?1 AND (?2 = '' OR owner = ?2) RETURNING owner, agent, category`
	clearMemories  = `DELETE FROM memories WHERE owner = ?1 AND (?2 = 0 OR created < ?2)`
	clearScopes    = `DELETE FROM memory_scopes WHERE owner = ? AND entries = 0`
	sweepMemories  = `DELETE FROM memories WHERE seq IN (SELECT seq FROM memories WHERE used < ? ORDER BY used LIMIT ?)`
)

// KeepMemory implements [memory.Store].
func (s *Store) KeepMemory(ctx context.Context, e memory.Entry, most memory.Room) (kept memory.Kept, err error) {
	key := sha256.Sum256([]byte(e.Key()))
	err = s.write(ctx, "keeping the memory", func(tx *store.Tx) error {
		kept = memory.Kept{ID: e.ID}
		var seq int64
		var id, labels string
		switch err := tx.QueryRow(sameMemory, e.Owner, e.Agent, key[:]).Scan(&seq, &id, &labels); {
		case err == nil:
			kept = memory.Kept{ID: id, Merged: true}
			return learnAgain(tx, e, seq, labels)
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
		if seq, err = insertMemory(tx, e, key[:]); err != nil {
			return err
		}
		kept.Gone, err = makeRoom(tx, e.Owner, seq, most)
		return err
	})
	return kept, err
}

func insertMemory(tx *store.Tx, e memory.Entry, key []byte) (seq int64, err error) {
	if _, err := tx.Exec(makeScope, e.Owner, e.Agent); err != nil {
		return 0, err
	}
	var c scope
	if err := c.scan(tx.QueryRow(findScope, e.Owner, e.Agent)); err != nil {
		return 0, err
	}
	labels, err := json.Marshal(e.Labels)
	if err != nil {
		return 0, err
	}
	seq = c.first() + c.next
	_, err = tx.Exec(addMemory, seq, e.ID, e.Owner, e.Agent, key, string(e.Category), e.Own(), string(labels),
		e.Created.UnixMilli(), e.Updated.UnixMilli(), e.Used.UnixMilli(), e.Run, e.Thread, len(memory.Words(e.Text)), e.Text)
	return seq, err
}

// learnAgain has a memory count once more. It keeps the sources that it had.
func learnAgain(tx *store.Tx, e memory.Entry, seq int64, labels string) error {
	var before []string
	if err := json.Unmarshal([]byte(labels), &before); err != nil {
		return fmt.Errorf("decoding labels: %w", err)
	}
	e.Labels = memory.Sources(append(before, e.Labels...)...)
	all, err := json.Marshal(e.Labels)
	if err != nil {
		return err
	}
	_, err = tx.Exec(againMemory, string(e.Category), e.Own(), string(all), e.Updated.UnixMilli(), e.Used.UnixMilli(), e.Run, e.Thread, seq)
	return err
}

// makeRoom removes what counts least, until the owner's memories fit. That is never the new one.
func makeRoom(tx *store.Tx, owner string, added int64, most memory.Room) (gone int, err error) {
	for {
		var has memory.Room
		if err := tx.QueryRow(memoryRoom, owner).Scan(&has.Entries, &has.Bytes); err != nil {
			return gone, fmt.Errorf("reading what the user has: %w", err)
		}
		if has.Entries <= most.Entries && has.Bytes <= most.Bytes {
			return gone, nil
		}
		var least int64
		if err := tx.QueryRow(leastMemory, owner).Scan(&least); err != nil {
			return gone, fmt.Errorf("looking for room: %w", err)
		}
		if least == added {
			return gone, memory.ErrFull
		}
		if _, err := tx.Exec(removeMemory, least); err != nil {
			return gone, err
		}
		gone++
	}
}

// Memories implements [memory.Store].
func (s *Store) Memories(ctx context.Context, f memory.Filter) (list []memory.Entry, err error) {
	query, args := memoriesQuery(f)
	for e, err := range each(ctx, s, "listing memories", scanMemory, query, args...) {
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

func memoriesQuery(f memory.Filter) (query string, args []any) {
	var where []string
	and := func(condition string, values ...any) {
		where, args = append(where, condition), append(args, values...)
	}
	if f.Owner != "" {
		and(`owner = ?`, f.Owner)
	}
	if len(f.Agents) > 0 {
		marks := make([]any, len(f.Agents))
		for i, name := range f.Agents {
			marks[i] = name
		}
		and(`agent IN (?`+strings.Repeat(`, ?`, len(marks)-1)+`)`, marks...)
	}
	if f.Category != "" {
		and(`category = ?`, string(f.Category))
	}
	if f.Before != "" {
		and(`id < ?`, f.Before)
	}
	query = selectMemories
	if len(where) > 0 {
		query += ` WHERE ` + strings.Join(where, ` AND `)
	}
	return query + ` ORDER BY id DESC LIMIT ?`, append(args, f.Limit)
}

func scanMemory(row interface{ Scan(...any) error }) (e memory.Entry, err error) {
	var category, labels string
	var created, updated, used int64
	if err := row.Scan(&e.ID, &e.Owner, &e.Agent, &category, &labels, &created, &updated, &used, &e.Times, &e.Run, &e.Thread, &e.Text); err != nil {
		return e, err
	}
	e.Category, e.Created, e.Updated, e.Used = memory.Category(category), timeOf(created), timeOf(updated), timeOf(used)
	if err := json.Unmarshal([]byte(labels), &e.Labels); err != nil {
		return e, fmt.Errorf("decoding labels: %w", err)
	}
	return e, nil
}

// UsedMemories implements [memory.Store].
func (s *Store) UsedMemories(ctx context.Context, ids []string, now time.Time) error {
	return s.fault("noting that memories were recalled", s.db.Queue(ctx, func(tx *store.Tx) error {
		for _, id := range ids {
			if _, err := tx.Exec(useMemory, now.UnixMilli(), id); err != nil {
				return err
			}
		}
		return nil
	}))
}

// ForgetMemories implements [memory.Store].
func (s *Store) ForgetMemories(ctx context.Context, owner string, ids []string) (gone []memory.Entry, err error) {
	err = s.write(ctx, "forgetting memories", func(tx *store.Tx) error {
		gone = nil
		for _, id := range ids {
			e := memory.Entry{ID: id}
			switch err := tx.QueryRow(forgetMemory, id, owner).Scan(&e.Owner, &e.Agent, &e.Category); {
			case errors.Is(err, sql.ErrNoRows):
			case err != nil:
				return err
			default:
				gone = append(gone, e)
			}
		}
		return nil
	})
	return gone, err
}

// ClearMemories implements [memory.Store].
func (s *Store) ClearMemories(ctx context.Context, owner string, before time.Time) (n int, err error) {
	return s.remove(ctx, "forgetting all memories", func(tx *store.Tx) (sql.Result, error) {
		res, err := tx.Exec(clearMemories, owner, milli(before))
		if err != nil {
			return nil, err
		}
		_, err = tx.Exec(clearScopes, owner)
		return res, err
	})
}

// SweepMemories implements [memory.Store].
func (s *Store) SweepMemories(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.remove(ctx, "removing memories that were of no use", func(tx *store.Tx) (sql.Result, error) {
		return tx.Exec(sweepMemories, before.UnixMilli(), limit)
	})
}

// EraseMemories implements [memory.Store]. The write-ahead log still has the pages as they were.
func (s *Store) EraseMemories(ctx context.Context) error {
	return s.fault("erasing what was forgotten", s.db.Checkpoint(ctx))
}
