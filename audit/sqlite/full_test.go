//go:build unix

package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/audit/sqlite"
)

// The log on a disk that fills up: what cannot be recorded is refused and Healthy says so; once there
// is room it goes on by itself and has lost nothing that was accepted. A process of its own, because
// RLIMIT_FSIZE, which stops root too, is the process's.
func TestUnavailable(t *testing.T) {
	const env = "AUDIT_TEST_FULL"
	if path := os.Getenv(env); path != "" {
		fillUp(t, path)
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestUnavailable$")
	cmd.Env = append(os.Environ(), env+"="+filepath.Join(t.TempDir(), "audit.db"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func fillUp(t *testing.T, path string) {
	signal.Ignore(unix.SIGXFSZ)
	limit := func(n uint64) {
		t.Helper()
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: n, Max: unix.RLIM_INFINITY}); err != nil {
			t.Fatal(err)
		}
	}
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	l := audit.New(s, "n")
	defer l.Close()
	e := audit.Event{Type: audit.Admin, Status: "before"}
	if err := l.Record(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if err := l.Healthy(t.Context()); err != nil {
		t.Fatal(err)
	}
	limit(4 << 10)
	e.Status = "refused"
	if err := l.Record(t.Context(), e); !errors.Is(err, audit.ErrUnavailable) {
		t.Fatalf("got %v, want ErrUnavailable", err)
	}
	if err := l.Healthy(t.Context()); !errors.Is(err, audit.ErrUnavailable) {
		t.Fatalf("Healthy: got %v, want ErrUnavailable", err)
	}
	e.Status = "accepted"
	if err := l.Queue(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	limit(unix.RLIM_INFINITY)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for l.Healthy(ctx) != nil {
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			t.Fatal("the log does not recover")
		}
	}
	e.Status = "after"
	if err := l.Record(ctx, e); err != nil {
		t.Fatal(err)
	}
	var got []string
	events, err := l.Events(ctx, audit.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		got = append(got, e.Status)
	}
	if fmt.Sprint(got) != "[before accepted after]" {
		t.Errorf("got %v", got)
	}
}
