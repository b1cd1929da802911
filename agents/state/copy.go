package state

import (
	"context"
	"fmt"
	"slices"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/internal/store"
)

const (
	copyMessages = `INSERT INTO messages (thread, seq, parent, run, created, source, change, data, gone, size)
		SELECT ?2, seq, parent, run, created, source, change, data, gone, size FROM messages WHERE thread = ?1`
	copyPlace = `UPDATE threads SET (messages, head, floor, vals, size) = (SELECT messages, head, floor, vals, size FROM threads WHERE id = ?1) WHERE id = ?2`

	pruneThread = `UPDATE threads SET floor = messages, head = ?,
		size = (SELECT coalesce(sum(max(m.size, octet_length(m.data))), 0) FROM messages m WHERE m.thread = threads.id) WHERE id = ?`
	pathRows = `WITH RECURSIVE path (seq) AS (
			VALUES (?2)
			UNION ALL SELECT coalesce(m.parent, m.seq - 1) FROM path JOIN messages m ON m.thread = ?1 AND m.seq = path.seq
		) SELECT m.seq FROM path JOIN messages m ON m.thread = ?1 AND m.seq = path.seq`
	allRows   = `SELECT seq FROM messages WHERE thread = ?`
	tieRow    = `UPDATE messages SET parent = ? WHERE thread = ? AND seq = ?`
	removeRow = `DELETE FROM messages WHERE thread = ? AND seq = ?`
)

// CopyThread implements [agents.Store].
func (s *Store) CopyThread(ctx context.Context, id string, to agents.Thread) error {
	return s.write(ctx, "copying the thread", func(tx *store.Tx) error {
		if _, err := readPlace(tx.QueryRow(selectPlace, id)); err != nil {
			return err
		}
		if err := createThread(tx, to); err != nil {
			return err
		}
		for _, statement := range []string{copyMessages, copyPlace} {
			if _, err := tx.Exec(statement, id, to.ID); err != nil {
				return fmt.Errorf("copying what the thread has: %w", err)
			}
		}
		return nil
	})
}

// Prune implements [agents.Store].
func (s *Store) Prune(ctx context.Context, thread string) error {
	return s.write(ctx, "pruning the thread", func(tx *store.Tx) error {
		p, err := held(tx, thread)
		if err != nil {
			return err
		}
		head := p.messages - 1
		if p.head != nil {
			head = *p.head
		}
		keep, err := seqs(tx, pathRows, thread, head)
		if err != nil {
			return err
		}
		all, err := seqs(tx, allRows, thread)
		if err != nil {
			return err
		}
		slices.Sort(keep)
		for _, seq := range all {
			if _, kept := slices.BinarySearch(keep, seq); !kept {
				if _, err := tx.Exec(removeRow, thread, seq); err != nil {
					return fmt.Errorf("removing a message: %w", err)
				}
			}
		}
		for i, seq := range keep { // what was the one before may be gone
			if before := at(keep, i-1); before != seq-1 {
				if _, err := tx.Exec(tieRow, before, thread, seq); err != nil {
					return fmt.Errorf("tying a message: %w", err)
				}
			}
		}
		var stands any
		if p.head != nil {
			stands = head
		}
		_, err = tx.Exec(pruneThread, stands, thread)
		return err
	})
}

// at is an element of a list, -1 before the first.
func at(list []int, i int) int {
	if i < 0 {
		return -1
	}
	return list[i]
}

func seqs(tx *store.Tx, query string, args ...any) (list []int, err error) {
	rows, err := tx.Query(query, args...)
	if err != nil {
		return nil, fmt.Errorf("reading messages: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var seq int
		if err := rows.Scan(&seq); err != nil {
			return nil, fmt.Errorf("reading messages: %w", err)
		}
		list = append(list, seq)
	}
	return list, rows.Err()
}
