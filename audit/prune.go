package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// removable are the types of records that may be removed when they are old. All others say what was
// done and decided: those of runs may be archived, the rest stays for ever.
var removable = []string{Request, Flood}

// Span are records that can be removed: those of the types that happened before a time, from the first
// to the last of them.
type Span struct {
	Types    []string
	Before   time.Time
	From, To int64 // Seq of the first and of the last
	Count    int
	Seen     int64 // Seq of the last record that was looked at, of any type; 0: there was none
	Newer    bool  // that one did not happen before the time
}

// pruning is how far records have been removed.
type pruning struct {
	mu   sync.Mutex
	upTo int64 // Seq of a record up to which nothing is left to remove
}

// How many records, of any type, are looked at for one Span.
const (
	pruneSpan = 10_000
	sizeSpan  = 1000 // the size is looked at again after it

	// A removal adds two records itself, so that fewer than this wait for more, for a day at most.
	pruneLeast = 100
	pruneDelay = 24 * time.Hour
)

// Prune removes the records of requests, and those of floods of requests, that happened before a time, and then
// the oldest of the rest while the log takes more than size bytes (0: no limit), until ctx ends, and
// returns how many. Each stretch of the log that it removes records from is on record
// before, with the type Retention: the first and the last Seq, and how many between them. Records of
// other types are never removed. The others keep their Seq and their hash.
func (l *Log) Prune(ctx context.Context, before time.Time, size int64) (removed int, err error) {
	l.pruned.mu.Lock()
	defer l.pruned.mu.Unlock()
	for more := true; more && ctx.Err() == nil; {
		var n int
		n, more, err = l.pruneSome(ctx, before, pruneSpan, pruneLeast)
		if removed += n; err != nil {
			return removed, err
		}
	}
	for more := size > 0; more && ctx.Err() == nil; {
		used, err := l.store.Size(ctx)
		if err != nil {
			return removed, fmt.Errorf("measuring the log: %w", err)
		}
		if used <= size {
			break
		}
		var n int
		n, more, err = l.pruneSome(ctx, time.Now(), sizeSpan, 1)
		if removed += n; err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// pruneSome looks at the next span, and reports whether there may be more to remove behind it. At the
// end of the log, fewer records than least are left for later unless they are long overdue.
func (l *Log) pruneSome(ctx context.Context, before time.Time, span, least int) (removed int, more bool, err error) {
	s, err := l.store.Removable(ctx, Span{Types: removable, Before: before, Seen: l.pruned.upTo}, span)
	if err != nil {
		return 0, false, fmt.Errorf("looking for old records: %w", err)
	}
	if s.Newer && s.Count < least {
		late, err := l.store.Removable(ctx, Span{Types: removable, Before: before.Add(-pruneDelay), Seen: l.pruned.upTo}, span)
		if err != nil || late.Count == 0 {
			return 0, false, err
		}
	}
	if s.Count > 0 {
		if removed, err = l.remove(ctx, s); err != nil {
			return removed, false, err
		}
	}
	if s.Newer || s.Seen == 0 {
		return removed, false, nil
	}
	l.pruned.upTo = s.Seen
	return removed, true, nil
}

// remove removes a span, with its records.
func (l *Log) remove(ctx context.Context, s Span) (n int, err error) {
	input := func(count int) string {
		text, _ := json.Marshal(struct { // of strings and numbers
			What   string   `json:"what"`
			Types  []string `json:"types"`
			Before string   `json:"before"`
			From   int64    `json:"from"`
			To     int64    `json:"to"`
			Count  int      `json:"count"`
		}{"records", s.Types, s.Before.UTC().Format(TimeFormat), s.From, s.To, count})
		return string(text)
	}
	err = l.Around(ctx, Event{Type: Retention, Input: input(s.Count)}, func(end *Event) error {
		var err error
		n, err = l.store.Remove(ctx, s)
		if end.Input = input(n); err != nil {
			return fmt.Errorf("removing old records: %w", err)
		}
		return nil
	})
	return n, err
}
