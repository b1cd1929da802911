package sqlite

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"

	"github.com/svc-gateway/svc/audit"
)

// archived is the Source of archives: records that have left their log.
type archived []string

// OpenArchives reads archives of a log as if their records were a log. Each query reads all of them,
// into a private copy in memory, and selects among all of their records: a filter is refused.
func OpenArchives(paths []string) (*audit.Reader, error) {
	seen := map[string]bool{}
	for _, path := range paths {
		if seen[filepath.Clean(path)] {
			return nil, fmt.Errorf("opening archives: %s is named twice", path)
		}
		seen[filepath.Clean(path)] = true
	}
	return audit.NewReader(archived(paths)), nil
}

var (
	errArchiveFilter = errors.New("reading archives: they are read as a whole, without a filter")
	errArchiveMark   = errors.New("reading archives: they have no mark, which is a log's")
)

// Events implements [audit.Source], but for the order: run comes after run.
func (a archived) Events(ctx context.Context, f audit.Filter) iter.Seq2[audit.Event, error] {
	return func(yield func(audit.Event, error) bool) {
		for e, err := range a.entries(ctx, f) {
			if err != nil {
				yield(audit.Event{}, err)
				return
			}
			if e.Event != nil && !yield(*e.Event, nil) {
				return
			}
		}
	}
}

// Runs implements [audit.Source], but for the order.
func (a archived) Runs(ctx context.Context, f audit.Filter) iter.Seq2[audit.RunRecord, error] {
	return func(yield func(audit.RunRecord, error) bool) {
		for e, err := range a.entries(ctx, f) {
			if err != nil {
				yield(audit.RunRecord{}, err)
				return
			}
			if e.Turn != nil && !yield(*e.Turn, nil) {
				return
			}
		}
	}
}

// entries reads all of the files, one after the other.
func (a archived) entries(ctx context.Context, f audit.Filter) iter.Seq2[audit.Entry, error] {
	return func(yield func(audit.Entry, error) bool) {
		if f != (audit.Filter{}) {
			yield(audit.Entry{}, errArchiveFilter)
			return
		}
		for _, path := range a {
			for e, err := range audit.ReadArchive(path) {
				if err == nil {
					err = ctx.Err()
				}
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// Query implements [audit.Source].
func (a archived) Query(ctx context.Context, f audit.Filter, query string, l audit.Limits) (columns []string, rows [][]any, err error) {
	return QueryCopy(ctx, a, f, query, l)
}

// Mark implements [audit.Source].
func (archived) Mark(context.Context) (audit.Mark, error) { return audit.Mark{}, errArchiveMark }

// Check implements [audit.Source].
func (a archived) Check(context.Context) error {
	var faults []error
	for _, path := range a {
		_, err := audit.CheckArchive(path)
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// Close implements [audit.Source]. Nothing is open between queries.
func (archived) Close() error { return nil }
