package analytics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/compat"
	"github.com/svc-gateway/svc/internal/duckwire"
)

// Query is a question to the database.
type Query struct {
	SQL    string
	Rows   int           // most rows of the answer
	Bytes  int           // most bytes of the answer's rows, as JSON
	MaxAge time.Duration // how old the snapshot may be
}

// margin is how much longer than the statement its process may take, to start and to answer.
const margin = 3 * time.Second

// slack is what an answer may have beside its rows: columns, errors, brackets.
const slack = 1 << 20

// Query runs one statement on a snapshot, in a process that can read the snapshot and nothing else.
// What is wrong with the statement is a [*duckwire.Fault] with the place.
func (d *DB) Query(ctx context.Context, q Query) (duckwire.Answer, error) {
	s, pin, err := d.pinned(ctx, q.MaxAge)
	if err != nil {
		return duckwire.Answer{}, err
	}
	defer pin.Close()
	c := d.config
	question, err := json.Marshal(duckwire.Query{
		Version: compat.Version, SQL: q.SQL, Rows: q.Rows, Bytes: q.Bytes, Time: c.Time, Memory: c.Memory, Threads: c.Threads,
	})
	if err != nil {
		return duckwire.Answer{}, fmt.Errorf("asking the database: %w", err)
	}
	limit, cancel := context.WithTimeout(ctx, c.Time+margin)
	defer cancel()
	out, ran := c.Run(limit, Process{
		Path: c.Helper, Args: []string{duckwire.CommandQuery}, Folder: s.Folder, Reads: filepath.Join(s.Folder, duckwire.DatabaseFile),
		Stdin: question, Output: q.Bytes + q.Rows + slack, Memory: c.Memory, Threads: c.Threads,
	})
	var a duckwire.Answer
	if err := json.Unmarshal(out, &a); err != nil {
		return a, d.unanswered(ctx, limit, ran)
	}
	if err := compat.Check(a.Version); err != nil {
		return a, err
	}
	if len(a.Degraded) > 0 {
		d.config.Log.Warn("the kernel lacks layers that confine a query of the analytical database", zap.Strings("degraded", a.Degraded))
	}
	if a.Fault != nil {
		return a, a.Fault
	}
	return a, nil
}

// unanswered says why a process gave no answer.
func (d *DB) unanswered(ctx, limit context.Context, ran error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case limit.Err() != nil:
		return duckwire.Faultf(duckwire.CodeTimeout, "the statement took longer than %s and was killed", d.config.Time)
	case ran != nil: // most of the time it was the kernel's limit on memory
		return duckwire.Faultf(duckwire.CodeMemory, "the statement was stopped (%v): it needs more than it may take (%d MiB of memory)", ran, d.config.Memory>>20)
	}
	return errors.New("asking the database: the helper's answer makes no sense")
}

// pinned returns a snapshot that stays until pin is closed.
func (d *DB) pinned(ctx context.Context, maxAge time.Duration) (s duckwire.Snapshot, pin *os.File, err error) {
	for range maxAttempts {
		if s, err = d.snapshot(ctx, maxAge); err != nil {
			return s, nil, err
		}
		pin, err = hold(filepath.Join(s.Folder, duckwire.DatabaseFile))
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return s, nil, fmt.Errorf("opening the snapshot: %w", err)
	}
	return s, pin, nil
}

// Snapshot returns the path of a snapshot's file, at most [Config.MaxAge] old, for a program that is to
// read it. It stays until release is called.
func (d *DB) Snapshot(ctx context.Context) (file string, release func(), err error) {
	s, pin, err := d.pinned(ctx, d.config.MaxAge)
	if err != nil {
		return "", nil, err
	}
	return filepath.Join(s.Folder, duckwire.DatabaseFile), func() { _ = pin.Close() }, nil
}

// Helper is the path of svc-duck, empty where there is none.
func (d *DB) Helper() string {
	if d.missing != nil {
		return ""
	}
	return d.config.Helper
}

// hold takes the lock that keeps the writer from removing a snapshot.
func hold(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = fs.ErrNotExist // it is being removed
		}
		return nil, errors.Join(err, f.Close())
	}
	if _, err := os.Stat(path); err != nil { // it was removed before the lock was ours
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
