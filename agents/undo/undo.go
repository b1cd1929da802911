// Package undo keeps what files held before tools changed them, and brings it back.
//
//	keeper := undo.Keeper{Dir: home.Undo()}
//	err := keeper.Keep(undo.Change{Run: run, Call: call, Path: path}, before, after)
//	… // the file is written
//	restored, err := keeper.Restore(run, false)
//
// Each run has a folder with a numbered pair of files for each change: what was changed, and what was
// there before. Both are on disk when Keep returns, so that a change of which nothing is kept does not
// happen.
//
// Restore brings all files of a run back to what they were before its first change. It compares first:
// when a file is not what the run has left, nothing is restored, unless that is forced. It follows no
// symbolic link.
//
// A Keeper is safe for concurrent use within a process; two processes must not use the same folder.
package undo

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Limits of what is kept.
const (
	MaxRun = 64 << 20            // bytes of one run
	keep   = 30 * 24 * time.Hour // after a run's last change
)

// Keeper is a folder with what was kept.
type Keeper struct {
	Dir string // made when it is needed

	mu sync.Mutex
}

// Change is one change of a file.
type Change struct {
	Run    string    `json:"run"`
	Call   string    `json:"call"`
	Path   string    `json:"path"` // absolute, without links
	Time   time.Time `json:"time"`
	Made   bool      `json:"made"`   // there was no file before
	Before string    `json:"before"` // SHA-256 of what the file held, empty if there was none
	After  string    `json:"after"`  // SHA-256 of what it holds then
}

var runID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)

// ErrNone says that nothing is kept of a run.
var ErrNone = errors.New("nothing is kept of this run: it changed no file with write_file or edit_file, was undone, or is older than 30 days")

// Keep keeps what a file holds before it is changed; before is nil for a file that is new.
func (k *Keeper) Keep(c Change, before, after []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	dir, err := k.folder(c.Run)
	if err != nil {
		return err
	}
	k.sweep(dir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the folder for undoing: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("reading the folder for undoing: %w", err)
	}
	size, n := int64(len(before)), 0
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") {
			n++
		}
		if info, err := e.Info(); err == nil {
			size += info.Size()
		}
	}
	if size > MaxRun {
		return fmt.Errorf("this run has changed so much that not more than %d MiB of it could be undone: go on in another run", MaxRun>>20)
	}
	c.Time, c.Made, c.After = time.Now().UTC(), before == nil, sum(after)
	if before != nil {
		c.Before = sum(before)
	}
	doc, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("describing a change: %w", err)
	}
	name := filepath.Join(dir, fmt.Sprintf("%06d", n+1))
	if before != nil {
		if err := writeNew(name+".old", before); err != nil {
			return err
		}
	}
	if err := writeNew(name+".json", doc); err != nil {
		return err
	}
	return syncDir(dir)
}

func (k *Keeper) folder(run string) (string, error) {
	if !runID.MatchString(run) {
		return "", fmt.Errorf("%q is not the id of a run", run)
	}
	return filepath.Join(k.Dir, run), nil
}

// sweep removes what is old, when a run begins to change files.
func (k *Keeper) sweep(dir string) {
	if _, err := os.Stat(dir); err == nil {
		return
	}
	entries, _ := os.ReadDir(k.Dir) // it may not be there yet
	for _, e := range entries {
		if info, err := e.Info(); err == nil && runID.MatchString(e.Name()) && time.Since(info.ModTime()) > keep {
			_ = os.RemoveAll(filepath.Join(k.Dir, e.Name())) // tried again
		}
	}
}

// writeNew writes a file that must not be there, durably. One that a crash left half-written has no
// .json beside it, and is replaced.
func writeNew(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("keeping what a file held: %w", err)
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("keeping what a file held: %w", err)
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("keeping what a file held: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("keeping what a file held: %w", err)
	}
	return nil
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// changes are those of a run, in their order.
func (k *Keeper) changes(dir string) ([]Change, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json")) // sorted
	if err != nil {
		return nil, fmt.Errorf("reading what is kept: %w", err)
	}
	all := make([]Change, len(names))
	for i, name := range names {
		text, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(text, &all[i])
		}
		if err == nil && (!filepath.IsAbs(all[i].Path) || filepath.Clean(all[i].Path) != all[i].Path) {
			err = errors.New("it names no file")
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
	}
	if len(all) == 0 {
		return nil, ErrNone
	}
	return all, nil
}

// exists reports whether err does not say that a file is missing.
func exists(err error) bool { return !errors.Is(err, fs.ErrNotExist) }
