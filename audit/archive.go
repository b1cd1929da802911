package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// ErrChanged is wrapped by an error that tells of a record that was changed after it was recorded.
var ErrChanged = errors.New("it was changed after it was recorded")

// runTypes are the types of records that are archived, with the records of the models' turns. They
// are those of runs, and leave the log a whole run at a time.
var runTypes = []string{RunStart, RunEnd, ToolWait, ToolStart, ToolEnd, ToolError, ToolDenied}

// Archiving says which runs leave the log, and where to. Folder is required.
type Archiving struct {
	Folder string    // where the files are, one of their own; made if it is missing
	Before time.Time // runs that ended before; zero: none
	Size   int64     // bytes that the log may take before the oldest runs leave it, whatever Before is; 0: no limit

	// Least is how many runs a file is worth. Fewer wait for more, for a day at most. 0: none wait.
	Least int

	// Unfinished returns runs that are not over, whatever the log says: a process may have died
	// between the record of the end and the end. Nil: there are none.
	Unfinished func(context.Context) ([]string, error)

	User, Role string // who wants it; empty: the settings

	// Each is told of each archive, once the runs have left the log. An error ends Archive. Nil:
	// nobody is told.
	Each func(Archived) error
}

// Archived is an archive: a file of its own, which never changes, with whole runs.
type Archived struct {
	File   string `json:"file"` // its name
	From   int64  `json:"from"` // Seq of the first event in it, and of the last; what is between may be in the log
	To     int64  `json:"to"`
	Runs   int    `json:"runs"`
	Events int    `json:"events"`
	Turns  int    `json:"turns"`            // records of turns of a model
	Bytes  int64  `json:"bytes"`            // of the file
	SHA256 string `json:"sha256,omitempty"` // of the file, hexadecimal
	Before string `json:"before,omitempty"` // when all of it happened
}

const (
	archiveRuns    = 1000     // in a file at most
	archiveRecords = 2500     // after which a file gets no more runs: everybody waits while they are removed
	archiveBytes   = 64 << 20 // the same, of their JSON
	archiveDelay   = 24 * time.Hour
	archiveAge     = time.Hour // how long runs have been over that leave for the sake of the size
	archiveFaults  = 3         // how many changed runs are told
)

// archiving is what the log knows of its archives.
type archiving struct {
	mu      sync.Mutex
	cleared string           // folder without remains of an earlier process
	changed map[string]error // runs whose records were changed, and so stay, and why
	step    func(string)     // set by tests: told before each step
}

func (a *archiving) at(step string) {
	if a.step != nil {
		a.step(step)
	}
}

// Archive moves the records of runs that are over to files, until none is left that a says or ctx
// ends. A run leaves the log with all its records or not at all: first they are in a file, on disk,
// read back and compared; then one transaction records the file, with the type Archive, and removes
// them. Whenever the process dies, each record is in the log or in a file that the log knows, and
// what else it leaves behind is cleared away by the next Archive.
//
// Runs with a record that was changed after it was recorded stay, and an error that wraps ErrChanged
// says so when the others are archived. With any other error the run in question and those behind it
// have not left the log.
func (l *Log) Archive(ctx context.Context, a Archiving) error {
	always := func() (bool, error) { return true, nil }
	if err := l.archiveAll(ctx, a, a.Before, always); err != nil {
		return err
	}
	if a.Size > 0 {
		large := func() (bool, error) {
			size, err := l.store.Size(ctx)
			return size > a.Size, err
		}
		if err := l.archiveAll(ctx, a, time.Now().Add(-archiveAge), large); err != nil {
			return err
		}
	}
	return l.archived.faults()
}

// faults tells of runs with changed records.
func (a *archiving) faults() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []error
	for run, why := range a.changed {
		if len(all) == archiveFaults {
			all = append(all, fmt.Errorf("%d runs in all are not archived", len(a.changed)))
			break
		}
		all = append(all, fmt.Errorf("run %s is not archived: %w", run, why))
	}
	return errors.Join(all...)
}

// archiveAll archives runs that ended before a time while there is a reason to.
func (l *Log) archiveAll(ctx context.Context, a Archiving, before time.Time, reason func() (bool, error)) error {
	past := Past{Types: runTypes, Before: before}
	from, more := Over{}, true
	for more && ctx.Err() == nil {
		if yes, err := reason(); err != nil || !yes {
			return err
		}
		var done Archived
		var err error
		if done, from, more, err = l.archiveNext(ctx, a, past, from); err != nil {
			return err
		}
		if done.Runs > 0 && a.Each != nil {
			if err := a.Each(done); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// archiveNext makes one archive at most, of runs behind from, and returns how far it has come, and
// whether there may be more.
func (l *Log) archiveNext(ctx context.Context, a Archiving, past Past, from Over) (done Archived, to Over, more bool, err error) {
	s := &l.archived
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cleared != a.Folder {
		if err := l.clear(ctx, a.Folder); err != nil {
			return done, to, false, fmt.Errorf("clearing the archives: %w", err)
		}
		s.cleared, s.changed = a.Folder, map[string]error{}
	}
	over, err := l.store.Over(ctx, from, past, archiveRuns)
	if err != nil {
		return done, to, false, fmt.Errorf("looking for runs that are over: %w", err)
	}
	if len(over) == 0 {
		return done, to, false, nil
	}
	ready, err := l.ready(ctx, a, over)
	if err != nil {
		return done, to, false, err
	}
	to = over[len(over)-1]
	if len(ready) == 0 {
		return done, to, len(over) == archiveRuns, nil
	}
	if few := len(over) < archiveRuns && len(ready) < a.Least; few && ready[0].Time.After(past.Before.Add(-archiveDelay)) {
		return done, to, false, nil
	}
	done, last, err := l.archiveSome(ctx, a, past, ready)
	if last.Run != ready[len(ready)-1].Run {
		to = last
	}
	return done, to, err == nil, err
}

// ready are the runs that can leave the log, each once.
func (l *Log) ready(ctx context.Context, a Archiving, over []Over) (all []Over, err error) {
	stay := map[string]bool{}
	for run := range l.archived.changed {
		stay[run] = true
	}
	if a.Unfinished != nil {
		runs, err := a.Unfinished(ctx)
		if err != nil {
			return nil, fmt.Errorf("looking for unfinished runs: %w", err)
		}
		for _, run := range runs {
			stay[run] = true
		}
	}
	for _, o := range over {
		if !stay[o.Run] {
			stay[o.Run] = true
			all = append(all, o)
		}
	}
	return all, nil
}

// archiveSome moves some of the runs, the first ones, to a file, and returns the last it looked at.
func (l *Log) archiveSome(ctx context.Context, a Archiving, past Past, over []Over) (done Archived, last Over, err error) {
	w, err := createArchive(a.Folder, &l.archived)
	if err != nil {
		return done, last, fmt.Errorf("making an archive: %w", err)
	}
	defer w.close()
	var runs []string
	for _, last = range over {
		events, turns, err := l.recordsOf(ctx, last.Run, past)
		if err != nil {
			return done, last, err
		}
		if err := w.check(events, turns); err != nil {
			l.archived.changed[last.Run] = err
			continue
		}
		if err := w.add(events, turns); err != nil {
			return done, last, fmt.Errorf("writing an archive: %w", err)
		}
		runs = append(runs, last.Run)
		if w.done.Events+w.done.Turns >= archiveRecords || w.size >= archiveBytes {
			break
		}
	}
	if len(runs) == 0 {
		return done, last, nil
	}
	if done, err = w.keep(); err != nil {
		return done, last, fmt.Errorf("writing an archive: %w", err)
	}
	done.Before = past.Before.UTC().Format(TimeFormat)
	return done, last, l.leave(ctx, a, past, runs, done)
}

// recordsOf reads all that is archived of a run.
func (l *Log) recordsOf(ctx context.Context, run string, past Past) (events []Event, turns []RunRecord, err error) {
	f := Filter{Run: run, Until: past.Before}
	for e, err := range l.store.Events(ctx, f) {
		if err != nil {
			return nil, nil, err
		}
		if slices.Contains(runTypes, e.Type) {
			events = append(events, e)
		}
	}
	turns, err = l.Runs(ctx, f)
	return events, turns, err
}

// leave records an archive and removes what it holds from the log. What has begun is not given up:
// it is all or nothing.
func (l *Log) leave(ctx context.Context, a Archiving, past Past, runs []string, done Archived) error {
	digest := done.SHA256
	done.SHA256 = ""
	input, err := json.Marshal(done)
	if err != nil {
		return err
	}
	b, err := l.batch([]Event{{
		Type: Archive, User: a.User, Role: a.Role, Status: "success", Digest: digest, Input: string(input),
	}})
	if err != nil {
		return err
	}
	l.archived.at("remove")
	if err := l.store.RemoveRuns(context.WithoutCancel(ctx), runs, past, done.Events+done.Turns, b); err != nil {
		l.archived.cleared = "" // the file is one that the log does not know, or it does
		return fmt.Errorf("removing what is archived: %w", err)
	}
	l.archived.at("removed")
	return nil
}
