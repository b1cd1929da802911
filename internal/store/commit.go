package store

import (
	"errors"
	"fmt"
	"slices"
)

// recovered finds out, with a small commit, whether the database can be written again. If not,
// those who wait are told; what is queued is kept.
func (w *writer) recovered() bool {
	err := w.d.conn.run(`BEGIN IMMEDIATE`)
	if err == nil {
		if err = probe(&Tx{conn: w.d.conn}); err == nil {
			err = w.settle()
		}
	}
	if err != nil {
		w.abort(err)
		return false
	}
	return true
}

// commit runs everything that is waiting in one transaction. What piled up while commits failed goes
// first, alone, so that the pile cannot grow.
func (w *writer) commit() {
	run := w.runAll
	if len(w.next) >= cap(w.d.queued) {
		run = w.runNext
	}
	err := w.d.conn.run(`BEGIN IMMEDIATE`)
	if err == nil {
		err = run()
	}
	if err == nil {
		err = w.settle()
	}
	if err != nil {
		w.abort(err)
		return
	}
	if w.d.failed.Swap(nil) != nil && w.d.opts.Trouble != nil {
		w.d.opts.Trouble("", nil)
	}
	w.untrimmed += len(w.ran) + len(w.ranUrgent)
	for _, o := range w.ran {
		if o.err != nil && w.d.opts.Dropped != nil {
			w.d.opts.Dropped(o.err)
		}
	}
	for _, o := range w.ranUrgent {
		o.finish(nil)
	}
	w.ran, w.ranUrgent = clean(w.ran), clean(w.ranUrgent)
	if w.untrimmed >= trimEvery {
		w.untrimmed = 0
		w.d.conn.trim()
	}
}

// settle commits, unless the files are others by now: nobody would ever read what is in these.
func (w *writer) settle() error {
	if err := w.d.place.check(); err != nil {
		return err
	}
	return w.d.conn.run(`COMMIT`)
}

// runAll runs what is waiting and what arrives meanwhile, until nothing does.
func (w *writer) runAll() error {
	for len(w.ran)+len(w.ranUrgent) < maxPerCommit {
		w.gather()
		if len(w.next)+len(w.nextUrgent) == 0 {
			break
		}
		if err := w.runNext(); err != nil {
			return err
		}
		if err := w.runNextUrgent(); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) runNext() error {
	begun := len(w.ran)
	w.ran = append(w.ran, w.next...)
	w.next = clean(w.next)
	return w.runOps(w.ran[begun:])
}

// runNextUrgent begins with operations just before they are run, so that until then they can be
// cancelled.
func (w *writer) runNextUrgent() error {
	for len(w.nextUrgent) > 0 {
		begun, taken := len(w.ranUrgent), 0
		for _, o := range w.nextUrgent[:min(rowsPerInsert, len(w.nextUrgent))] {
			if taken++; o.begin() {
				w.ranUrgent = append(w.ranUrgent, o)
			}
			if o.stmt == nil {
				break
			}
		}
		w.nextUrgent = slices.Delete(w.nextUrgent, 0, taken)
		if err := w.runOps(w.ranUrgent[begun:]); err != nil {
			return err
		}
	}
	return nil
}

// runInSavepoint costs 1.6 µs more, of about 12 for a wide row. Running all without savepoints, and
// again one by one when one fails, would be cheaper and would run functions twice.
func (w *writer) runInSavepoint(o *op) error {
	c := w.d.conn
	if err := c.run(`SAVEPOINT op`); err != nil {
		return err
	}
	tx := &Tx{conn: c}
	o.err = o.call(tx)
	if tx.dead != nil {
		o.err = nil
		return tx.dead
	}
	if o.err != nil {
		if err := c.run(`ROLLBACK TO op`); err != nil {
			return errors.Join(o.err, err)
		}
	}
	return c.run(`RELEASE op`)
}

// abort ends a transaction that cannot be committed: queued operations go back in front of the
// others, the callers of Write are told.
func (w *writer) abort(err error) {
	if !errors.Is(err, ErrUnavailable) {
		err = fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	// SQLite has often rolled back already and says so with an error; a transaction that is open in
	// spite of both makes the next BEGIN fail, which brings us back here.
	_ = w.d.conn.run(`ROLLBACK`)
	if w.d.failed.Swap(&err) == nil && w.d.opts.Trouble != nil {
		w.d.opts.Trouble(reason(err), err)
	}
	kept := make([]*op, 0, len(w.ran)+len(w.next))
	for _, o := range append(w.ran, w.next...) {
		o.err = nil
		kept = append(kept, o)
	}
	w.next, w.ran = kept, clean(w.ran)
	w.gatherUrgent()
	for _, o := range w.ranUrgent {
		o.finish(err)
	}
	for _, o := range w.nextUrgent {
		if o.begin() {
			o.finish(err)
		}
	}
	w.ranUrgent, w.nextUrgent = clean(w.ranUrgent), clean(w.nextUrgent)
}
