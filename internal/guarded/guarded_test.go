//go:build unix

package guarded_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/internal/guarded"
)

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	file, link, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	if err := errors.Join(os.WriteFile(file, []byte("x"), 0o600), os.Symlink(file, link), unix.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	for path, regular := range map[string]bool{file: true, pipe: false} {
		f, err := guarded.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var st unix.Stat_t
		if err := unix.Fstat(int(f.Fd()), &st); err != nil || guarded.Regular(&st) != regular {
			t.Errorf("%s is regular: got %v, %v, want %v", path, guarded.Regular(&st), err, regular)
		}
	}
	if _, err := guarded.Open(link); !errors.As(err, new(guarded.Refusal)) {
		t.Errorf("a link: got %v, want a refusal", err)
	}
	if _, err := guarded.Open(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: got %v", err)
	}
}

func TestOthers(t *testing.T) {
	for _, tt := range []struct {
		uid  uint32
		mode uint32
		want guarded.Access
	}{
		{1000, 0o600, guarded.None}, {0, 0o644, guarded.None}, {1001, 0o600, guarded.Owned}, {1000, 0o620, guarded.Opened}, {0, 0o602, guarded.Opened},
	} {
		if got := guarded.Others(&unix.Stat_t{Uid: tt.uid, Mode: tt.mode}, 1000); got != tt.want {
			t.Errorf("user %d, mode %04o: got %v, want %v", tt.uid, tt.mode, got, tt.want)
		}
	}
}
