//go:build unix

package audit_test

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/audit/audittest"
	"github.com/svc-gateway/svc/audit/sqlite"
)

// archiveSteps are those at which a process can die.
var archiveSteps = []string{"write", "sync", "compare", "rename", "sync folder", "remove", "removed"}

// A process that is killed at any step of an archive loses no record, and the next one has each record
// once: in the log, or in an archive that the log knows.
func TestArchiveKilled(t *testing.T) {
	const env = "AUDIT_TEST_ARCHIVE"
	if step, path, ok := strings.Cut(os.Getenv(env), " "); ok {
		killAt(t, step, path)
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range archiveSteps {
		t.Run(step, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "audit.db")
			folder := filepath.Join(filepath.Dir(path), "archive")
			first := audittest.Open(t, path)
			addRuns(t, first, 20, time.Now().Add(-2*time.Hour))
			want := kept(t, first, folder)
			if err := first.Close(); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestArchiveKilled$")
			cmd.Env = append(os.Environ(), env+"="+strings.ReplaceAll(step, " ", "_")+" "+path)
			if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(err.Error(), "killed") {
				t.Fatalf("got %v, want a killed process\n%s", err, out)
			}
			l := audittest.Open(t, path)
			if diff := cmp.Diff(want, kept(t, l, folder)); diff != "" {
				t.Errorf("records are lost or there twice (-want +got):\n%s", diff)
			}
			if err := l.Archive(t.Context(), audit.Archiving{Folder: folder, Before: time.Now()}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, kept(t, l, folder)); diff != "" {
				t.Errorf("after the next archive records are lost or there twice (-want +got):\n%s", diff)
			}
			if got := files(t, folder); len(got) != 1 || strings.HasPrefix(got[0], ".") {
				t.Errorf("got the files %v, want one archive", got)
			}
		})
	}
}

func killAt(t *testing.T, step, path string) {
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	l := audit.New(s, "n")
	l.AtArchiveStep(func(at string) {
		if strings.ReplaceAll(at, " ", "_") == step {
			if err := unix.Kill(os.Getpid(), unix.SIGKILL); err != nil {
				t.Error(err)
			}
			<-t.Context().Done() // the signal takes a moment
		}
	})
	err = l.Archive(t.Context(), audit.Archiving{Folder: filepath.Join(filepath.Dir(path), "archive"), Before: time.Now()})
	t.Fatalf("got %v, want to be killed at %s", err, step)
}

// On a full disk nothing leaves the log; with room again all does. RLIMIT_FSIZE, which stops root too,
// is the process's: it has one of its own.
func TestArchiveOnAFullDisk(t *testing.T) {
	const env = "AUDIT_TEST_ARCHIVE_FULL"
	if path := os.Getenv(env); path != "" {
		archiveFull(t, path)
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestArchiveOnAFullDisk$")
	cmd.Env = append(os.Environ(), env+"="+filepath.Join(t.TempDir(), "audit.db"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func archiveFull(t *testing.T, path string) {
	signal.Ignore(unix.SIGXFSZ)
	limit := func(n uint64) {
		t.Helper()
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: n, Max: unix.RLIM_INFINITY}); err != nil {
			t.Fatal(err)
		}
	}
	l := audittest.Open(t, path)
	a := audit.Archiving{Folder: filepath.Join(filepath.Dir(path), "archive"), Before: time.Now()}
	addRuns(t, l, 100, time.Now().Add(-2*time.Hour))
	want := kept(t, l, a.Folder)
	same := func(when string) {
		t.Helper()
		if diff := cmp.Diff(want, kept(t, l, a.Folder)); diff != "" {
			t.Errorf("%s records are lost or there twice (-want +got):\n%s", when, diff)
		}
	}
	limit(512) // no room for the file
	if err := l.Archive(t.Context(), a); !errors.Is(err, unix.EFBIG) {
		t.Fatalf("got %v, want an error of the file", err)
	}
	if got := files(t, a.Folder); len(got) > 0 {
		t.Errorf("got the files %v, want none", got)
	}
	same("without room for the file")
	limit(unix.RLIM_INFINITY)
	l.AtArchiveStep(func(step string) {
		if step == "remove" {
			limit(512) // no room for the removal
		}
	})
	if err := l.Archive(t.Context(), a); !errors.Is(err, audit.ErrUnavailable) {
		t.Fatalf("got %v, want ErrUnavailable", err)
	}
	same("without room for the removal")
	limit(unix.RLIM_INFINITY)
	l.AtArchiveStep(nil)
	if err := l.Archive(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	same("with room again")
	if got := files(t, a.Folder); len(got) != 1 {
		t.Errorf("got the files %v, want one archive", got)
	}
}
