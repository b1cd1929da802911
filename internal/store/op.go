package store

import (
	"fmt"
	"sync/atomic"
)

// Statement is a change that a single SQL statement makes.
type Statement interface {
	// Bind returns the SQL, which should be a constant, and the values of its parameters, appended
	// to values. The writer calls it, at times more than once. It must not panic. Several statements
	// INSERT INTO t (…) VALUES (?, …) of the same text may be executed as one, so that a trigger must
	// not RAISE(FAIL), and a foreign key is looked at when all of them are there.
	Bind(values []any) (query string, all []any)
}

// op is one operation on its way through the writer.
type op struct {
	fn    func(*Tx) error
	stmt  Statement     // instead of fn; without either there is nothing to do but to wait for what came before
	err   error         // written by the writer before done is closed
	done  chan struct{} // closed when err is final; nil for a queued operation
	state atomic.Int32
}

const (
	opWaiting int32 = iota
	opBegun
	opCancelled
)

// begin and cancel race for an operation; the winner decides whether it is run.
func (o *op) begin() bool  { return o.state.CompareAndSwap(opWaiting, opBegun) }
func (o *op) cancel() bool { return o.state.CompareAndSwap(opWaiting, opCancelled) }

func (o *op) finish(err error) {
	if o.err == nil {
		o.err = err
	}
	if o.done != nil {
		close(o.done)
	}
}

// call runs the operation's function. A panic in it is its error: the writer serves everybody.
func (o *op) call(tx *Tx) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic in a database operation: %v", v)
		}
	}()
	return o.fn(tx)
}
