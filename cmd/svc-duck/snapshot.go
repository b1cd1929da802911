//go:build cgo && linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/internal/duckwire"
)

// generation is a published copy of the database.
type generation struct {
	number  uint64
	created time.Time
}

// unpublished begins the names of folders that are not complete.
const unpublished = ".new-"

func (w *writer) folderOf(number uint64) string {
	return filepath.Join(w.snapshots, fmt.Sprintf("%08d", number))
}

func (w *writer) describe(g *generation) duckwire.Snapshot {
	return duckwire.Snapshot{Generation: g.number, Folder: w.folderOf(g.number), Created: g.created}
}

// snapshot returns a generation that is at most maxAge old, or that nothing was changed since. While
// a large file is imported it is the one from before: what is not committed is in none.
func (w *writer) snapshot(ctx context.Context, maxAge time.Duration) (duckwire.Snapshot, error) {
	if g := w.fresh(maxAge); g != nil {
		return w.describe(g), nil
	}
	w.change.Lock()
	defer w.change.Unlock()
	if g := w.fresh(maxAge); g != nil { // another caller made it meanwhile
		return w.describe(g), nil
	}
	g, err := w.publish(ctx)
	if err != nil {
		return duckwire.Snapshot{}, err
	}
	return w.describe(g), nil
}

// fresh is the current generation if it is fresh enough, else nil.
func (w *writer) fresh(maxAge time.Duration) *generation {
	w.mu.Lock()
	defer w.mu.Unlock()
	g := w.current
	if g == nil || w.dirty && time.Since(g.created) > maxAge {
		return nil
	}
	return g
}

// publish copies the database to a new generation. The caller holds change. Readers of earlier
// generations notice nothing.
func (w *writer) publish(ctx context.Context) (*generation, error) {
	if _, err := w.db.ExecContext(ctx, "CHECKPOINT"); err != nil {
		return nil, fmt.Errorf("writing a checkpoint: %w", err)
	}
	w.mu.Lock()
	g := &generation{number: w.next, created: time.Now().UTC()}
	w.next++
	w.mu.Unlock()
	folder := w.folderOf(g.number)
	part := filepath.Join(w.snapshots, unpublished+filepath.Base(folder))
	err := os.Mkdir(part, 0o700)
	if err == nil {
		err = copyFile(w.live, filepath.Join(part, duckwire.DatabaseFile))
	}
	if err == nil {
		err = os.Rename(part, folder)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("publishing a generation: %w", err), os.RemoveAll(part))
	}
	w.mu.Lock()
	w.current, w.dirty = g, false
	w.mu.Unlock()
	w.sweep()
	return g, nil
}

// copyFile copies the live file, which nobody writes to meanwhile: it shares the blocks where the
// file system can, else the kernel copies them. live stays open for as long as the database: closing
// any descriptor of the file in this process would drop the database's POSIX lock. The copy is not
// synchronised with the disk, because no later writer uses it. Everybody may read the copy who is shown
// it, such as a program in a sandbox: nobody else gets into the folder.
func copyFile(live *os.File, path string) error {
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o400)
	if err != nil {
		return err
	}
	if err := to.Chmod(0o444); err != nil { // whatever the umask is
		return errors.Join(err, to.Close())
	}
	if unix.IoctlFileClone(int(to.Fd()), int(live.Fd())) == nil {
		return to.Close()
	}
	info, err := live.Stat()
	if err == nil {
		_, err = live.Seek(0, io.SeekStart)
	}
	if err == nil {
		_, err = to.ReadFrom(io.LimitReader(live, info.Size())) // copy_file_range
	}
	return errors.Join(err, to.Close())
}

// sweep removes the generations that are neither the current one nor in use. What cannot be removed
// now is removed later.
func (w *writer) sweep() {
	entries, err := os.ReadDir(w.snapshots)
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range entries {
		n, err := strconv.ParseUint(e.Name(), 10, 64)
		if err != nil || w.current != nil && n >= w.current.number {
			continue
		}
		if folder := filepath.Join(w.snapshots, e.Name()); unused(filepath.Join(folder, duckwire.DatabaseFile)) {
			_ = os.RemoveAll(folder)
		}
	}
}

// unused reports whether nobody holds a lock on the file. Who locks it after that finds it gone.
func unused(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}
