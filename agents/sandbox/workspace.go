package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
)

// prefix begins the names of the folders in Config.Dir, one of each Box.
const prefix = "svc-sandbox-"

// claim makes a folder for sockets and workspaces of a Box, and locks it as long as the Box is open, so
// that others can tell.
func claim(base string) (*os.File, error) {
	base, err := filepath.EvalSymlinks(base)
	if err != nil {
		return nil, err
	}
	for range 10 {
		dir := filepath.Join(base, prefix+newID())
		if err := os.Mkdir(dir, 0o711); err != nil {
			return nil, err
		}
		if f, err := locked(dir); err == nil {
			return f, nil
		} // somebody sweeps, in the moment before it has the lock
	}
	return nil, errors.New("no folder stays")
}

func locked(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		_, err = os.Stat(dir)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// path is that of a socket or workspace.
func (b *Box) path(id string) string { return filepath.Join(b.own.Name(), id) }

// makeWorkspace makes a folder for a sandbox that cannot have a file system of its own.
func (b *Box) makeWorkspace(req *wire.Request, id string) (remove func(), err error) {
	dir := b.path(id)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making a workspace: %w", err)
	}
	remove = func() { _ = removeAll(dir) }
	if os.Geteuid() == 0 {
		if err := os.Chown(dir, req.UID, req.GID); err != nil {
			remove()
			return nil, fmt.Errorf("making a workspace: %w", err)
		}
	}
	req.Workspace = dir
	for i, e := range req.Env {
		if e == "HOME=" || e == "TMPDIR=" {
			req.Env[i] = e + dir
		}
	}
	return remove, nil
}

// removeAll removes a folder although folders in it may forbid that.
func removeAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// watch ends the sandbox when its workspace has grown too large, where no file system does that. It
// returns a function that ends the watch.
func (h *running) watch(dir string, most int64) func() {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if sizeOf(dir) > most {
					h.grown.Store(true)
					h.end()
					return
				}
			}
		}
	})
	return func() { close(done); wg.Wait() }
}

func sizeOf(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be read counts nothing
		}
		if info, err := d.Info(); err == nil {
			if st, ok := info.Sys().(*syscall.Stat_t); ok {
				size += st.Blocks * 512
			}
		}
		return nil
	})
	return size
}

// sweep removes what sandboxes of processes that have died have left behind.
func sweep(ctx context.Context, c Config) {
	found, _ := filepath.Glob(filepath.Join(c.Dir, prefix+"*")) // the pattern is well-formed
	for _, dir := range found {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			continue
		}
		if lock, err := locked(dir); err == nil { // nobody has it
			_ = removeAll(dir)
			_ = lock.Close()
		}
	}
	cmd := exec.CommandContext(ctx, c.Helper, "sweep")
	cmd.Env = []string{}
	_ = cmd.Run() // what cannot be removed now is in nobody's way
}
