package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Archives returns what the log says of its archives, the oldest first. The files may be elsewhere.
func (r *Reader) Archives(ctx context.Context) (all []Archived, err error) {
	const query = `SELECT seq, input, digest FROM audit_events WHERE type = 'archive' ORDER BY seq`
	_, rows, err := r.Query(ctx, Filter{}, query, Limits{Rows: 1 << 20, Bytes: 512 << 20, Time: time.Minute})
	if err != nil {
		return nil, fmt.Errorf("looking for archives: %w", err)
	}
	for _, row := range rows {
		var a Archived
		input, _ := row[1].(string)
		if err := json.Unmarshal([]byte(input), &a); err != nil {
			return nil, fmt.Errorf("looking for archives: event %v: %w", row[0], err)
		}
		a.SHA256, _ = row[2].(string)
		all = append(all, a)
	}
	return all, nil
}

// clear removes what a process left that died while it made an archive: files that are not whole, and
// a whole one whose records are all still in the log, which does not know it. Any other file stays.
func (l *Log) clear(ctx context.Context, folder string) error {
	files, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	known := map[string]bool{}
	archives, err := l.Archives(ctx)
	for _, a := range archives {
		known[a.File] = true
	}
	if err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(folder, f.Name())
		remains := strings.HasPrefix(f.Name(), unfinished)
		if isArchive(f.Name()) && !known[f.Name()] {
			if remains, err = l.holds(ctx, path); err != nil {
				return err
			}
		}
		if remains {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// holds reports whether the log has each record of an archive. One that cannot be read it has not.
func (l *Log) holds(ctx context.Context, path string) (bool, error) {
	run, any := "", false
	var lines map[string]bool
	for e, err := range ReadArchive(path) {
		if err != nil {
			return false, nil // it is not ours to judge
		}
		if !any || e.run() != run {
			run, any = e.run(), true
			if lines, err = l.linesOf(ctx, run); err != nil {
				return false, err
			}
		}
		if !lines[string(e.line(nil))] {
			return false, nil
		}
	}
	return any, nil
}

// linesOf are the records of a run as an archive has them.
func (l *Log) linesOf(ctx context.Context, run string) (map[string]bool, error) {
	events, turns, err := l.recordsOf(ctx, run, Past{}) // whenever they happened
	lines := map[string]bool{}
	for i := range events {
		lines[string(Entry{Event: &events[i]}.line(nil))] = true
	}
	for i := range turns {
		lines[string(Entry{Turn: &turns[i]}.line(nil))] = true
	}
	return lines, err
}
