//go:build unix

package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/internal/store"
)

// The tests of this file need a process of their own: TestMain runs the part that childEnv names.
const childEnv = "STORE_TEST_CHILD"

func TestMain(m *testing.M) {
	path := os.Getenv("STORE_TEST_PATH")
	var err error
	switch os.Getenv(childEnv) {
	case "write":
		err = childWrite(path)
	case "full":
		err = childFull(path)
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func child(t *testing.T, part, path string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), childEnv+"="+part, "STORE_TEST_PATH="+path)
	cmd.Stderr = os.Stderr
	return cmd
}

// childWrite inserts numbers from several goroutines for ever and prints each one once it is
// acknowledged.
func childWrite(path string) error {
	ctx := context.Background()
	db, err := store.Open(ctx, path, migrations, store.Options{Full: true})
	if err != nil {
		return err
	}
	failed := make(chan error)
	for g := range 8 {
		go func() {
			for i := g; ; i += 8 {
				if err := db.Write(ctx, insert(i, "x")); err != nil {
					failed <- err
					return
				}
				fmt.Println(i) // one write(2), unbuffered
			}
		}()
	}
	return <-failed
}

func TestKilledProcessKeepsWhatItAcknowledged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	cmd := child(t, "write", path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	acknowledged := make(map[string]bool)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		acknowledged[lines.Text()] = true
		if len(acknowledged) == 2000 {
			if err := cmd.Process.Kill(); err != nil { // and read what it still had written
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("got %v, want a killed process", err)
	}
	db, err := store.Open(t.Context(), path, migrations, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, n := range strings.Fields(rows(t, db)) {
		delete(acknowledged, n)
	}
	if len(acknowledged) > 0 {
		t.Errorf("%d acknowledged rows are missing", len(acknowledged))
	}
}

// childFull goes through a disk that is full and is not any more. RLIMIT_FSIZE stands in for it: a
// write beyond it fails for root too.
func childFull(path string) error {
	signal.Ignore(unix.SIGXFSZ)
	ctx := context.Background()
	db, err := store.Open(ctx, path, migrations, store.Options{Full: true, Queue: 8})
	if err != nil {
		return err
	}
	if err := db.Write(ctx, insert(-1, "before")); err != nil {
		return err
	}
	if err := limitFiles(64 << 10); err != nil {
		return err
	}
	big := strings.Repeat("x", 16<<10)
	n := 0
	for ; err == nil && n < 100; n++ {
		err = db.Write(ctx, insert(n, big))
	}
	if !errors.Is(err, store.ErrUnavailable) || !errors.Is(db.Err(), store.ErrUnavailable) {
		return fmt.Errorf("full disk: got %v, and Err %v, want ErrUnavailable", err, db.Err())
	}
	n--                                         // the last one failed
	if err := limitFiles(4 << 10); err != nil { // no room for the smallest write either
		return err
	}
	if err := db.Flush(ctx); !errors.Is(err, store.ErrUnavailable) {
		return fmt.Errorf("Flush on a full disk: got %v, want ErrUnavailable", err)
	}
	for i := range 8 { // accepted, kept
		if err := db.Queue(ctx, insert(1000+i, big)); err != nil {
			return err
		}
	}
	short, cancel := context.WithTimeout(ctx, 600*time.Millisecond) // the writer tries again twice, and must not take more
	defer cancel()
	if err := db.Queue(short, insert(2000, "x")); !errors.Is(err, short.Err()) || err == nil {
		return fmt.Errorf("queue that is full behind a full disk: got %v, want to wait", err)
	}
	var got int
	if err := db.Read().QueryRowContext(ctx, `SELECT count(*) FROM t`).Scan(&got); err != nil || got != n+1 {
		return fmt.Errorf("reading from a full disk: got %d rows, %v; want %d", got, err, n+1)
	}
	if err := limitFiles(unix.RLIM_INFINITY); err != nil {
		return err
	}
	for start := time.Now(); db.Err() != nil; time.Sleep(time.Millisecond) { // it recovers by itself
		if time.Since(start) > 10*time.Second {
			return fmt.Errorf("it does not recover: %w", db.Err())
		}
	}
	if err := db.Flush(ctx); err != nil {
		return err
	}
	if err := db.Read().QueryRowContext(ctx, `SELECT count(*) FROM t`).Scan(&got); err != nil || got != n+1+8 {
		return fmt.Errorf("after the recovery: got %d rows, %v; want %d", got, err, n+1+8)
	}
	// Full again at the end: Close says what it could not write.
	if err := limitFiles(4 << 10); err != nil {
		return err
	}
	if err := db.Queue(ctx, insert(3000, big)); err != nil {
		return err
	}
	if err := db.Close(); err == nil || !strings.Contains(err.Error(), "1 queued operations were not written") {
		return fmt.Errorf("Close on a full disk: got %v", err)
	}
	fmt.Println("rows", got)
	return nil
}

func limitFiles(n uint64) error {
	return unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: n, Max: unix.RLIM_INFINITY})
}

func TestFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	cmd := child(t, "full", path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	want, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(string(said), "rows ")))
	if err != nil {
		t.Fatalf("got %q", said)
	}
	db, err := store.Open(t.Context(), path, migrations, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if got := len(strings.Fields(rows(t, db))); got != want {
		t.Errorf("got %d rows afterwards, want %d", got, want)
	}
}
