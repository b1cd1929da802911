//go:build linux

package analytics_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents/analytics"
	"github.com/svc-gateway/svc/internal/duckwire"
	"github.com/svc-gateway/svc/internal/eventually"
)

var numbers = analytics.File{Name: "n.csv", Table: "n", Format: duckwire.FormatCSV, Mode: duckwire.ModeAppend}

// writerOf finds the writer that this process has on a socket.
func writerOf(t *testing.T, c analytics.Config) int {
	t.Helper()
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range tasks {
		text, _ := os.ReadFile(path)
		for _, word := range strings.Fields(string(text)) {
			dir, _ := os.Readlink("/proc/" + word + "/cwd")
			if pid, err := strconv.Atoi(word); err == nil && dir == c.Folder {
				return pid
			}
		}
	}
	t.Fatal("there is no writer")
	return 0
}

func want(t *testing.T, db *analytics.DB, maxAge time.Duration, sql, want string) {
	t.Helper()
	a, err := db.Query(t.Context(), analytics.Query{SQL: sql, Rows: 100, Bytes: 64 << 10, MaxAge: maxAge})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	if got := rows(a); got != want {
		t.Errorf("%s: got %s, want %s", sql, got, want)
	}
}

// A writer that dies is started again, with all that was committed and nothing else.
func TestWriterComesBack(t *testing.T) {
	c := config(t)
	var mu sync.Mutex
	var reasons []string
	c.Trouble = func(reason string, _ error) {
		mu.Lock()
		defer mu.Unlock()
		reasons = append(reasons, reason)
	}
	db := open(t, c)
	load(t, db, numbers, "n\n1\n2\n")

	// an import is under way when it dies
	r, w := io.Pipe()
	failed := make(chan error, 1)
	go func() {
		_, err := db.Import(t.Context(), numbers, r)
		failed <- errors.Join(err, r.CloseWithError(errors.New("over")))
	}()
	fmt.Fprint(w, "n\n3\n")
	eventually.True(t, "the file arrives", func() bool {
		left, _ := filepath.Glob(filepath.Join(c.Folder, "import-*"))
		return len(left) == 1
	})
	if err := syscall.Kill(writerOf(t, c), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(w, strings.NewReader(strings.Repeat("4\n", 1<<20))) }()
	if err := <-failed; err == nil {
		t.Error("the import was not refused")
	}
	want(t, db, time.Hour, "SELECT list(n ORDER BY n) FROM n", `[[[1,2]]]`)
	left, _ := filepath.Glob(filepath.Join(c.Folder, "import-*"))
	if len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	eventually.True(t, "all is well again", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return cmp.Equal(reasons, []string{"writer_stopped", ""})
	})
}

// Snapshots are as fresh as asked for, do not change, and go when nobody uses them.
func TestSnapshots(t *testing.T) {
	c := config(t)
	db := open(t, c)
	load(t, db, numbers, "n\n1\n")
	want(t, db, time.Hour, "SELECT count(*) FROM n", `[[1]]`)
	load(t, db, numbers, "n\n2\n")
	want(t, db, time.Hour, "SELECT count(*) FROM n", `[[1]]`)

	held := generations(t, c)
	if len(held) != 1 {
		t.Fatalf("got the generations %v, want one", held)
	}
	f, err := os.Open(filepath.Join(c.Snapshots, held[0], duckwire.DatabaseFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	want(t, db, 0, "SELECT count(*) FROM n", `[[2]]`)
	if got := generations(t, c); len(got) != 2 || got[0] != held[0] {
		t.Errorf("got the generations %v, want %s kept", got, held[0])
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	load(t, db, numbers, "n\n3\n")
	want(t, db, 0, "SELECT count(*) FROM n", `[[3]]`)
	if got := generations(t, c); len(got) != 1 || got[0] == held[0] {
		t.Errorf("got the generations %v, want a new one only", got)
	}
}

func generations(t *testing.T, c analytics.Config) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(c.Snapshots)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// What a writer left that died while it published or imported is removed by the next one.
func TestLeftovers(t *testing.T) {
	c := config(t)
	left := []string{filepath.Join(c.Snapshots, ".new-00000007"), filepath.Join(c.Snapshots, "00000006"), filepath.Join(c.Folder, "import-1")}
	for _, dir := range left {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, duckwire.DatabaseFile), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	db := open(t, c)
	for _, dir := range left {
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", dir, err)
		}
	}
	load(t, db, numbers, "n\n1\n")
	want(t, db, 0, "SELECT count(*) FROM n", `[[1]]`)
}

// Copying the live file must not cost the database its lock.
func TestNobodyElseOpensTheLiveFile(t *testing.T) {
	c := config(t)
	db := open(t, c)
	load(t, db, numbers, "n\n1\n")
	if err := db.Publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	other := c
	other.Socket, other.Lock, other.Snapshots = c.Socket+"2", c.Lock+"2", c.Snapshots+"2"
	second := analytics.Open(other)
	defer second.Close()
	if err := second.Use(t.Context()); err == nil || !strings.Contains(err.Error(), "lock") {
		t.Errorf("a second writer: got %v, want an error about the lock", err)
	}
}

// A second process uses the writer of the first, and has its own when that ends.
func TestHandOver(t *testing.T) {
	c := config(t)
	first := open(t, c)
	load(t, first, numbers, "n\n1\n")
	second := analytics.Open(c)
	second.Serve()
	defer second.Close()
	want(t, second, 0, "SELECT count(*) FROM n", `[[1]]`)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	want(t, second, 0, "SELECT count(*) FROM n", `[[1]]`)
}

func TestQueriesWhileImporting(t *testing.T) {
	db := open(t, config(t))
	load(t, db, numbers, "n\n1\n")
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for range 5 {
				if i == 0 {
					if _, err := db.Import(t.Context(), numbers, strings.NewReader("n\n1\n")); err != nil {
						t.Error(err)
					}
					continue
				}
				if _, err := db.Query(t.Context(), analytics.Query{SQL: "SELECT count(*) FROM n", Rows: 1, Bytes: 100}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	want(t, db, 0, "SELECT count(*) FROM n", `[[6]]`)
}

// A helper of another time is told apart from one that does not work.
func TestOldHelper(t *testing.T) {
	c := config(t)
	c.Helper = filepath.Join(t.TempDir(), "svc-duck")
	if err := os.WriteFile(c.Helper, []byte("#!/bin/sh\nread line\necho '{\"version\":\"0.4.11\"}'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	troubles := make(chan string, 1)
	c.Trouble = func(reason string, err error) {
		select {
		case troubles <- fmt.Sprint(reason, ": ", err):
		default:
		}
	}
	db := analytics.Open(c)
	db.Serve()
	defer db.Close()
	if got, want := <-troubles, "version: the agent framework is too old for harness features"; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The killing of a process that ignores the clock, and the bound of what it says.
func TestRunHere(t *testing.T) {
	script := filepath.Join(t.TempDir(), "helper")
	if err := os.WriteFile(script, []byte("#!/bin/sh\ntrap '' TERM INT\nenv\nwhile :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SECRET", "hunter2")
	out, err := analytics.RunHere(t.Context(), analytics.Process{Path: script, Folder: "/", Output: 1000})
	if err == nil || len(out) > 1000 {
		t.Errorf("got %d bytes, %v, want an error and at most 1000", len(out), err)
	}
	if strings.Contains(string(out), "hunter2") {
		t.Error("the process has the environment of this one")
	}
}
