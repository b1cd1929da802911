package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
)

// prefix begins the names of what this package makes in Config.Dir: svc-sandbox-PID-ID.
const prefix = "svc-sandbox-"

func (b *Box) path(id string) string {
	return filepath.Join(b.config.Dir, prefix+strconv.Itoa(os.Getpid())+"-"+id)
}

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
	found, _ := filepath.Glob(filepath.Join(c.Dir, prefix+"*-*")) // the pattern is well-formed
	for _, path := range found {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), prefix), "-")
		pid, err := strconv.Atoi(owner)
		if err != nil || alive(pid) {
			continue
		}
		if info, err := os.Lstat(path); err == nil && ours(info) {
			_ = removeAll(path)
		}
	}
	cmd := exec.CommandContext(ctx, c.Helper, "sweep")
	cmd.Env = []string{}
	_ = cmd.Run() // what cannot be removed now is in nobody's way
}

func alive(pid int) bool {
	return pid > 0 && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// ours reports whether this process, or a program that it ran, has made a file.
func ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && (int(st.Uid) == os.Geteuid() || os.Geteuid() == 0)
}
