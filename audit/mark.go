package audit

import (
	"context"
	"errors"
	"fmt"
)

// Mark says which log it is, and how far it has come. The zero Mark is of no log.
type Mark struct {
	Log string // id that the log was made with; its backups have the same
	Seq int64  // of the last event; 0 when there is none
}

// Mark returns the log's mark. Every event with a Seq up to it is durable.
func (r *Reader) Mark(ctx context.Context) (Mark, error) { return r.source.Mark(ctx) }

// Check looks at the whole of the storage for damage. Its error says what is wrong.
func (r *Reader) Check(ctx context.Context) error { return r.source.Check(ctx) }

// maxFaults is how many changed records are told.
const maxFaults = 20

// VerifyNewest is [Reader.Verify] of the newest events, at most n, back to the first for which stop
// is true. It tells of three changed ones at most. It ends early, without an error, when ctx ends.
func (r *Reader) VerifyNewest(ctx context.Context, n int, stop func(*Event) bool) error {
	var faults []error
	for e, err := range r.source.Events(ctx, Filter{Newest: true, Limit: n}) {
		if err != nil && ctx.Err() != nil || err == nil && stop(&e) || len(faults) == 3 {
			break
		}
		if err == nil {
			err = Verify(e)
		}
		if err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// Verify recomputes the hashes of all records that f selects and returns how many it checked, and an
// error that tells of those that were changed after they were recorded, the first twenty of them. It
// cannot see a missing record.
func (r *Reader) Verify(ctx context.Context, f Filter) (checked int64, err error) {
	var faults []error
	more := func(err error) bool {
		if err != nil {
			faults = append(faults, err)
		} else {
			checked++
		}
		if len(faults) == maxFaults {
			faults = append(faults, fmt.Errorf("there may be more: only %d are told", maxFaults))
		}
		return len(faults) < maxFaults
	}
	for e, err := range r.source.Events(ctx, f) {
		if err == nil {
			err = Verify(e)
		}
		if !more(err) {
			return checked, errors.Join(faults...)
		}
	}
	for run, err := range r.source.Runs(ctx, f) {
		if err == nil {
			err = verifyRun(run)
		}
		if !more(err) {
			break
		}
	}
	return checked, errors.Join(faults...)
}
