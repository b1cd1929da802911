package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/tree"
	"github.com/svc-gateway/svc/internal/store"
)

const (
	insertRun = `INSERT INTO runs (id, thread, owner, assistant, status, version, created, updated, due, about, request, data)
		VALUES (?, ?, (SELECT owner FROM threads WHERE id = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	updateRun = `UPDATE runs SET status = ?, version = ?, updated = ?, failure = ?, data = ? WHERE id = ? AND version = ?`
	// claimThread lets nobody in before those who wait already.
	claimThread = `UPDATE threads SET status = 'busy', updated = ?, ephemeral = 0, messages = messages + ?, size = size + ?
		WHERE id = ? AND status NOT IN ('busy', 'interrupted', 'deleted')
		AND NOT EXISTS (SELECT 1 FROM runs WHERE thread = threads.id AND status = 'pending' AND (due, id) < (?, ?))
		RETURNING messages, head`
	markThread = `UPDATE threads SET status = ?, updated = ? WHERE id = ?`
	freeThread = `UPDATE threads SET status = ?, updated = ?, messages = messages + ?, size = size + ? WHERE id = ?
		RETURNING messages, head, EXISTS (SELECT 1 FROM runs WHERE thread = threads.id AND status = 'pending')`
)

// CreateRun implements [agents.Store].
func (s *Store) CreateRun(ctx context.Context, r *agents.Run, input []model.Message, fresh *agents.Thread) error {
	said, err := s.packInput(r, input)
	if err != nil {
		return err
	}
	about, err := packAbout(r)
	if err != nil {
		return err
	}
	was := *r
	err = s.write(ctx, "creating the run", func(tx *store.Tx) error {
		*r = was // of an attempt before
		if err := requested(tx, r.Request); err != nil {
			return err
		}
		if err := settle(tx, r, said, fresh); err != nil {
			return err
		}
		r.Version = 1
		data, err := s.encode(r)
		if err != nil {
			return err
		}
		_, err = tx.Exec(insertRun, r.ID, r.Thread, r.Thread, r.Assistant, string(r.Status), r.Version,
			r.Created.UnixMilli(), r.Updated.UnixMilli(), millis(r.Due), about, nullable(r.Request), data)
		return err
	})
	if err != nil {
		*r = was
	}
	return err
}

// settle has a new run begin in its thread, or wait for it.
func settle(tx *store.Tx, r *agents.Run, said []row, fresh *agents.Thread) error {
	if fresh != nil {
		t := *fresh
		if t.Messages = len(said); r.Queued {
			t.Messages, t.Status = 0, agents.ThreadIdle
		}
		if err := createThread(tx, t); err != nil {
			return err
		}
	}
	if err := room(tx.QueryRow, r.Thread, said); err != nil {
		return err
	}
	switch {
	case r.Queued:
	case fresh != nil:
		return begin(tx, r, said, place{messages: len(said)})
	default:
		p, err := claim(tx, r, said)
		if err == nil {
			return begin(tx, r, said, p)
		}
		if !errors.Is(err, agents.ErrBusy) || !r.Multitask.Waits() {
			return err
		}
		r.Queued, r.Due = true, r.Created
	}
	r.Status = agents.Pending
	return enqueue(tx, r)
}

// claim takes the thread for the run. The place is the one after what the run adds.
func claim(tx *store.Tx, r *agents.Run, added []row) (p place, err error) {
	due := r.Due
	if due.IsZero() {
		due = r.Created
	}
	err = tx.QueryRow(claimThread, r.Updated.UnixMilli(), len(added), saidIn(added), r.Thread, due.UnixMilli(), r.ID).Scan(&p.messages, &p.head)
	if err == nil {
		return p, nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return p, fmt.Errorf("claiming the thread: %w", err)
	}
	if _, err := readPlace(tx.QueryRow(selectPlace, r.Thread)); err != nil {
		return p, err
	}
	return p, agents.ErrBusy
}

// begin adds what a run was given to the thread that it has claimed, and notes where it begins. The
// place is the thread's, after that.
func begin(tx *store.Tx, r *agents.Run, said []row, p place) error {
	first := p.messages - len(said)
	r.Base = first
	if !r.Change.IsZero() {
		r.Base++
	}
	stood := first - 1
	if p.head != nil {
		stood = *p.head
	}
	switch {
	case r.Follows == nil && p.head != nil:
		r.Follows = p.head
	case r.Follows != nil && *r.Follows != stood:
		r.Stood = &stood
	}
	if r.Follows != nil {
		before := place{p.head, p.floor, first}
		r.Follows = before.follow(*r.Follows)
	}
	if r.Follows != nil {
		head := *r.Follows
		if len(said) > 0 {
			head = p.messages - 1
		}
		if _, err := tx.Exec(moveHead, head, r.Thread); err != nil {
			return fmt.Errorf("moving the thread's head: %w", err)
		}
	}
	if err := insertRows(tx, r.Thread, first, r.Follows, said); err != nil {
		return err
	}
	return revalue(tx, r.Thread, p.messages-1, r.Follows != nil || hasValues(said))
}

// packInput are the rows of what a run is given: the change of the state, if there is one, and then
// the messages.
func (s *Store) packInput(r *agents.Run, input []model.Message) ([]row, error) {
	var writes []tree.Write
	if !r.Change.IsZero() {
		writes = append(writes, tree.Write{Run: r.ID, Created: r.Created, Source: tree.Input, Change: r.Change})
	}
	for i := range input {
		writes = append(writes, tree.Write{Run: r.ID, Created: r.Created, Source: tree.Input, Message: &input[i]})
	}
	return s.packWrites(writes)
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// SaveRun implements [agents.Store].
func (s *Store) SaveRun(ctx context.Context, r *agents.Run) error {
	c, err := s.newChange(r)
	if err != nil {
		return err
	}
	return c.done(s.write(ctx, "saving the run", c.save))
}

// SuspendRun implements [agents.Store].
func (s *Store) SuspendRun(ctx context.Context, r *agents.Run) error {
	return s.mark(ctx, "suspending the run", r, agents.ThreadInterrupted)
}

// ResumeRun implements [agents.Store].
func (s *Store) ResumeRun(ctx context.Context, r *agents.Run) error {
	return s.mark(ctx, "resuming the run", r, agents.ThreadBusy)
}

// mark saves a run and the status that its thread has from now on.
func (s *Store) mark(ctx context.Context, doing string, r *agents.Run, status agents.ThreadStatus) error {
	c, err := s.newChange(r)
	if err != nil {
		return err
	}
	return c.done(s.write(ctx, doing, func(tx *store.Tx) error {
		if err := c.save(tx); err != nil {
			return err
		}
		_, err := tx.Exec(markThread, string(status), r.Updated.UnixMilli(), r.Thread)
		return err
	}))
}

// change is the compare-and-swap of a run. It is packed before the writer gets it, for whom everybody
// waits.
type change struct {
	run     *agents.Run
	data    any
	failure any // nil: none
}

func (s *Store) newChange(r *agents.Run) (change, error) {
	next := *r
	next.Version++
	c := change{run: r}
	var err error
	if r.Failure != nil && r.Status.Final() {
		if c.failure, err = text(r.Failure); err != nil {
			return c, fmt.Errorf("encoding the run's failure: %w", err)
		}
	}
	c.data, err = s.encode(&next)
	return c, err
}

// encode returns the value of a run's column. While a run is at work its row is replaced before long,
// so packing it costs more than it saves.
func (s *Store) encode(r *agents.Run) (any, error) {
	write := s.doc.pack
	if r.Status == agents.Pending || r.Status == agents.Running {
		write = text
	}
	data, err := write(r)
	if err != nil {
		return nil, fmt.Errorf("encoding the run: %w", err)
	}
	return data, nil
}

func (c change) save(tx *store.Tx) error {
	r := c.run
	res, err := tx.Exec(updateRun, string(r.Status), r.Version+1, r.Updated.UnixMilli(), c.failure, c.data, r.ID, r.Version)
	if err != nil {
		return err
	}
	return changed(res)
}

// done raises the run's version when it was saved.
func (c change) done(err error) error {
	if err == nil {
		c.run.Version++
	}
	return err
}

// changed is ErrConflict for a statement that changed nothing.
func changed(res sql.Result) error {
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		err = agents.ErrConflict
	}
	return err
}

// FinishRun implements [agents.Store].
func (s *Store) FinishRun(ctx context.Context, r *agents.Run, messages []model.Message, events []eventlog.Event) error {
	c, err := s.newChange(r)
	if err != nil {
		return err
	}
	said := make([]row, len(messages))
	for i := range messages {
		if said[i], err = s.packWrite(tree.Said(r.ID, r.Updated, messages[i])); err != nil {
			return err
		}
	}
	last, err := s.newPiece(r.ID, events)
	if err != nil {
		return err
	}
	var edit []row
	if r.Edit != nil {
		if edit, err = s.packWrites(r.Edit.Writes); err != nil {
			return err
		}
	}
	return c.done(s.write(ctx, "finishing the run", func(tx *store.Tx) error {
		if err := c.save(tx); err != nil {
			return err
		}
		if _, err := tx.Exec(cancelApprovals, r.ID); err != nil {
			return fmt.Errorf("cancelling the run's approvals: %w", err)
		}
		if r.Queued { // it never had the thread
			r.More = true
		} else if err := free(tx, r, said, edit); err != nil {
			return err
		}
		return last.insert(tx)
	}))
}

// free adds what a run has said to its thread, and then its edit, and the thread is free.
func free(tx *store.Tx, r *agents.Run, said, edit []row) error {
	status := agents.ThreadIdle
	if r.Status == agents.Error || r.Status == agents.Timeout {
		status = agents.ThreadError
	}
	var p place
	err := tx.QueryRow(freeThread, string(status), r.Updated.UnixMilli(), len(said), saidIn(said), r.Thread).Scan(&p.messages, &p.head, &r.More)
	if err != nil {
		return fmt.Errorf("freeing the thread: %w", err)
	}
	if p.head != nil && len(said) > 0 {
		if _, err := tx.Exec(moveHead, p.messages-1, r.Thread); err != nil {
			return fmt.Errorf("moving the thread's head: %w", err)
		}
	}
	if err := insertRows(tx, r.Thread, p.messages-len(said), p.head, said); err != nil || len(edit) == 0 {
		return err
	}
	after := p.messages - 1
	if p.head != nil && len(said) > 0 {
		p.head = &after
	}
	switch {
	case r.Edit.After != nil:
		after = *r.Edit.After
	case p.head != nil:
		after = *p.head
	}
	r.Edit.First = p.messages
	return p.grow(tx, r.Thread, after, edit)
}

// Run implements [agents.Store].
func (s *Store) Run(ctx context.Context, id string) (*agents.Run, error) {
	var (
		data any
		row  agents.Run // what the columns say
	)
	err := s.db.Read().QueryRowContext(ctx, `SELECT id, thread, assistant, status, version, data FROM runs WHERE id = ?`, id).
		Scan(&row.ID, &row.Thread, &row.Assistant, &row.Status, &row.Version, &data)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, agents.ErrRunNotFound
	case err != nil:
		return nil, s.fault("reading the run", err)
	}
	var r agents.Run
	if err := s.doc.unpack(data, &r); err != nil {
		return &row, fmt.Errorf("%w: %w", agents.ErrUnreadable, err)
	}
	r.Version = row.Version
	return &r, nil
}
