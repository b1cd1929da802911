package audit

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"
)

// Reader reads a log. A [Log] has the same methods.
type Reader struct{ source Source }

// NewReader reads a log from a source, which it closes at its end.
func NewReader(s Source) *Reader { return &Reader{s} }

// Events returns the events that f selects, in the order of Seq.
func (r *Reader) Events(ctx context.Context, f Filter) ([]Event, error) {
	return collect(r.source.Events(ctx, f))
}

// Runs returns the run records that f selects, in the order of Seq.
func (r *Reader) Runs(ctx context.Context, f Filter) ([]RunRecord, error) {
	return collect(r.source.Runs(ctx, f))
}

// Export writes the events that f selects to w, one JSON object a line. A line without its seq and
// hash is the record that the hash was made from, in RFC 8785 form; time, type, node and hash are
// always there, other empty columns are left out.
func (r *Reader) Export(ctx context.Context, w io.Writer, f Filter) error {
	return export(w, r.source.Events(ctx, f))
}

func export(w io.Writer, events iter.Seq2[Event, error]) error {
	out := bufio.NewWriterSize(w, 1<<16)
	var line []byte
	for e, err := range events {
		if err != nil {
			return err
		}
		line = append(appendEvent(line[:0], &e, true), '\n')
		if _, err := out.Write(line); err != nil {
			return fmt.Errorf("exporting the audit log: %w", err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("exporting the audit log: %w", err)
	}
	return nil
}

// Close lets go of the source.
func (r *Reader) Close() error { return r.source.Close() }

// collect gathers what a Source yields.
func collect[T any](seq iter.Seq2[T, error]) ([]T, error) {
	var all []T
	for v, err := range seq {
		if err != nil {
			return all, err
		}
		all = append(all, v)
	}
	return all, nil
}
