package state

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/tree"
	"github.com/svc-gateway/svc/internal/store"
)

const (
	insertMessage = `INSERT INTO messages (thread, seq, parent, run, created, source, change, data, size) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	selectWrites  = `SELECT seq, coalesce(parent, seq - 1), run, created, source, change, data, coalesce((SELECT head FROM threads WHERE id = ?1), -2)
		FROM messages WHERE thread = ?1 AND gone = 0 AND (?2 < 0 OR seq < ?2) ORDER BY seq`
	selectPlace = `SELECT head, floor, messages FROM threads WHERE id = ? AND status <> 'deleted'`
	// holdThread is for who writes to a thread that no run has.
	holdThread = `SELECT head, floor, messages FROM threads WHERE id = ? AND status NOT IN ('busy', 'interrupted', 'deleted')
		AND NOT EXISTS (SELECT 1 FROM runs WHERE thread = threads.id AND status = 'pending')`
	moveHead    = `UPDATE threads SET head = ? WHERE id = ?`
	growThread  = `UPDATE threads SET messages = ?, head = ?, updated = ?, size = size + ? WHERE id = ?`
	setValues   = `UPDATE threads SET vals = ? WHERE id = ?`
	pathChanges = `WITH RECURSIVE path (seq) AS (
			VALUES (?2)
			UNION ALL SELECT coalesce(m.parent, m.seq - 1) FROM path JOIN messages m ON m.thread = ?1 AND m.seq = path.seq
		) SELECT m.change FROM path JOIN messages m ON m.thread = ?1 AND m.seq = path.seq WHERE m.change IS NOT NULL ORDER BY m.seq`
	sizeOfThread  = `SELECT messages, size FROM threads WHERE id = ?`
	sizeOfChanges = `SELECT coalesce(sum(octet_length(change)), 0) FROM messages WHERE thread = ?`
	noHead        = -2 // of selectWrites: the thread stands at its last write
)

// row is a write as it stands in the table, packed before the writer gets it, for whom everybody waits.
type row struct {
	run     string
	created int64
	source  tree.Source
	change  any // nil: none
	values  bool
	data    any
	size    int // of data before it was packed, about, in bytes
}

func (s *Store) packWrite(w tree.Write) (row, error) {
	r, err := measured(w)
	if err != nil {
		return r, err
	}
	if r.data, err = s.doc.pack(w.Message); err != nil {
		return r, fmt.Errorf("encoding a message: %w", err)
	}
	return r, nil
}

// measured is a row but for its data.
func measured(w tree.Write) (row, error) {
	r := row{run: w.Run, created: w.Created.UnixMilli(), source: w.Source, values: len(w.Values) > 0}
	if m := w.Message; m != nil {
		r.size = len(m.Content)
		for _, c := range m.ToolCalls {
			r.size += len(c.Name) + len(c.Arguments)
		}
	}
	if w.IsZero() {
		return r, nil
	}
	var err error
	if r.change, err = text(w.Change); err != nil {
		return r, fmt.Errorf("encoding a change: %w", err)
	}
	return r, nil
}

func (s *Store) packWrites(writes []tree.Write) ([]row, error) { return rowsOf(writes, s.packWrite) }

func rowsOf(writes []tree.Write, of func(tree.Write) (row, error)) ([]row, error) {
	rows := make([]row, len(writes))
	for i, w := range writes {
		var err error
		if rows[i], err = of(w); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// Bounds of what is set in a thread beside messages, in bytes of JSON. All that was ever set there is read
// again for each state of the thread, also while others wait to write.
const (
	maxValues    = 1 << 20 // at once
	maxAllValues = 4 << 20 // in the thread's whole life
)

// query asks for one row.
type query func(query string, args ...any) *sql.Row

// room is an error if rows say or set more than there is room for in a thread: ErrThreadFull or
// ErrValuesTooLarge.
func room(ask query, thread string, rows []row) error {
	var messages, said int
	if err := ask(sizeOfThread, thread).Scan(&messages, &said); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("measuring the thread: %w", err)
	}
	if messages+len(rows) > agents.MaxMessages || said+saidIn(rows) > agents.MaxSaid {
		return agents.ErrThreadFull
	}
	if !hasValues(rows) {
		return nil
	}
	added := 0
	for _, r := range rows {
		if change, ok := r.change.(string); ok {
			added += len(change)
		}
	}
	var before int
	if err := ask(sizeOfChanges, thread).Scan(&before); err != nil {
		return fmt.Errorf("measuring the thread's values: %w", err)
	}
	if added > maxValues || before+added > maxAllValues {
		return agents.ErrValuesTooLarge
	}
	return nil
}

// insertRows adds rows of which each follows the one before it, and the first one the row after; nil is
// the last one before them.
func insertRows(tx *store.Tx, thread string, from int, after *int, rows []row) error {
	for i, r := range rows {
		var parent any
		if i == 0 && after != nil {
			parent = *after
		}
		if _, err := tx.Exec(insertMessage, thread, from+i, parent, r.run, r.created, string(r.source), r.change, r.data, r.size); err != nil {
			return fmt.Errorf("inserting a message: %w", err)
		}
	}
	return nil
}

// Messages implements [agents.Store].
func (s *Store) Messages(ctx context.Context, thread string, n int) ([]model.Message, error) {
	if n == 0 {
		return nil, nil
	}
	t, err := s.writes(ctx, thread, n)
	if err != nil {
		return nil, err
	}
	if n > 0 {
		t.Head = n - 1
	}
	return t.State(t.Head).Messages, nil
}

// Tree implements [agents.Store].
func (s *Store) Tree(ctx context.Context, thread string) (tree.Tree, error) {
	t, err := s.writes(ctx, thread, -1)
	if err != nil {
		return t, err
	}
	p, err := readPlace(s.db.Read().QueryRowContext(ctx, selectPlace, thread))
	if err != nil {
		return t, s.fault("reading the thread", err)
	}
	t.Floor = p.floor
	return t, nil
}

// writes are the first n writes of a thread; all of them when n < 0.
func (s *Store) writes(ctx context.Context, thread string, n int) (tree.Tree, error) {
	t := tree.Tree{Head: tree.Root}
	rows, err := s.db.Read().QueryContext(ctx, selectWrites, thread, n)
	if err != nil {
		return t, s.fault("reading messages", err)
	}
	defer rows.Close()
	head := noHead
	for rows.Next() {
		w, err := s.scanWrite(rows, &head)
		if err != nil {
			return t, s.fault("reading messages", err)
		}
		t.Writes = append(t.Writes, w)
		t.Head = w.Seq
	}
	if head != noHead {
		t.Head = head
	}
	return t, s.fault("reading messages", rows.Err())
}

func (s *Store) scanWrite(rows *sql.Rows, head *int) (tree.Write, error) {
	var (
		w       tree.Write
		created int64
		change  sql.NullString
		data    any
	)
	if err := rows.Scan(&w.Seq, &w.Parent, &w.Run, &created, &w.Source, &change, &data, head); err != nil {
		return w, err
	}
	if created > 0 {
		w.Created = time.UnixMilli(created).UTC()
	}
	if err := s.doc.unpack(data, &w.Message); err != nil {
		return w, fmt.Errorf("decoding a message: %w", err)
	}
	if change.Valid {
		if err := json.Unmarshal([]byte(change.String), &w.Change); err != nil {
			return w, fmt.Errorf("decoding a change: %w", err)
		}
	}
	return w, nil
}

// place is where a thread stands.
type place struct {
	head     *int // nil: at the last of its rows
	floor    int
	messages int
}

func readPlace(row *sql.Row) (p place, err error) {
	err = row.Scan(&p.head, &p.floor, &p.messages)
	if errors.Is(err, sql.ErrNoRows) {
		err = agents.ErrThreadNotFound
	}
	return p, err
}

// held is the place of a thread that no run has and none waits for; otherwise the error is ErrBusy.
func held(tx *store.Tx, thread string) (place, error) {
	p, err := readPlace(tx.QueryRow(holdThread, thread))
	if errors.Is(err, agents.ErrThreadNotFound) {
		if _, err := readPlace(tx.QueryRow(selectPlace, thread)); err != nil {
			return p, err
		}
		return p, agents.ErrBusy
	}
	return p, err
}

// follow makes what follows a write, in a thread with so many rows, as simple as it is: nil when it is
// the last row, and the thread stands at its last one.
func (p place) follow(after int) *int {
	if p.head == nil && after == p.messages-1 {
		return nil
	}
	return &after
}

// Write implements [agents.Store].
func (s *Store) Write(ctx context.Context, thread string, after, number int, writes []tree.Write) (first int, err error) {
	rows, err := s.packWrites(writes)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	err = s.write(ctx, "writing to the thread", func(tx *store.Tx) error {
		p, err := held(tx, thread)
		switch {
		case err != nil:
			return err
		case p.messages != number:
			return agents.ErrConflict
		}
		if err := room(tx.QueryRow, thread, rows); err != nil {
			return err
		}
		first = p.messages
		return p.grow(tx, thread, after, rows)
	})
	return first, err
}

// grow adds rows to a thread, which stands at the last of them then.
func (p place) grow(tx *store.Tx, thread string, after int, rows []row) error {
	last, follows := p.messages+len(rows)-1, p.follow(after)
	var head any
	if follows != nil {
		head = last
	}
	if _, err := tx.Exec(growThread, last+1, head, rows[len(rows)-1].created, saidIn(rows), thread); err != nil {
		return fmt.Errorf("moving the thread's head: %w", err)
	}
	if err := insertRows(tx, thread, p.messages, follows, rows); err != nil {
		return err
	}
	return revalue(tx, thread, last, follows != nil || hasValues(rows))
}

// Room implements [agents.Store].
func (s *Store) Room(ctx context.Context, thread string, writes []tree.Write) error {
	rows, err := rowsOf(writes, measured)
	if err != nil {
		return err
	}
	ask := func(query string, args ...any) *sql.Row { return s.db.Read().QueryRowContext(ctx, query, args...) }
	return s.fault("measuring the thread", room(ask, thread, rows))
}

// saidIn is how much rows say, in bytes.
func saidIn(rows []row) (n int) {
	for _, r := range rows {
		n += r.size
	}
	return n
}

func hasValues(rows []row) bool {
	for _, r := range rows {
		if r.values {
			return true
		}
	}
	return false
}

// revalue sets the values that a thread is searched by to those of the state at a row, when they may
// have changed.
func revalue(tx *store.Tx, thread string, at int, changed bool) error {
	if !changed {
		return nil
	}
	values, err := valuesAt(tx, thread, at)
	if err != nil {
		return fmt.Errorf("reading the thread's values: %w", err)
	}
	var column any
	if len(values) > 0 {
		if column, err = text(values); err != nil {
			return fmt.Errorf("encoding the thread's values: %w", err)
		}
	}
	_, err = tx.Exec(setValues, column, thread)
	return err
}

func valuesAt(tx *store.Tx, thread string, at int) (map[string]any, error) {
	rows, err := tx.Query(pathChanges, thread, at)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var path []tree.Write
	for rows.Next() {
		var change string
		if err := rows.Scan(&change); err != nil {
			return nil, err
		}
		var w tree.Write
		if err := json.Unmarshal([]byte(change), &w.Change); err != nil {
			return nil, err
		}
		path = append(path, w)
	}
	return tree.Fold(path).Values, rows.Err()
}
