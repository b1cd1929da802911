//go:build unix

package guarded_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/internal/guarded"
)

func TestRead(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func(path string) error
		want string // in a refusal; empty: it is read
	}{
		{"a file", func(p string) error { return guarded.Write(p, []byte("text")) }, ""},
		{"as large as may be", func(p string) error { return guarded.Write(p, make([]byte, 1<<20)) }, ""},
		{"too large", func(p string) error { return guarded.Write(p, make([]byte, 1<<20+1)) }, "larger than 1 MiB"},
		{"writable by others", func(p string) error { return errors.Join(guarded.Write(p, nil), os.Chmod(p, 0o622)) }, "chmod 600"},
		{"a pipe", func(p string) error { return unix.Mkfifo(p, 0o600) }, "not a regular file"},
		{"a folder", func(p string) error { return os.Mkdir(p, 0o700) }, "not a regular file"},
		{"a link", func(p string) error { return os.Symlink("/etc/hosts", p) }, "symbolic link"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file")
			if err := tt.make(path); err != nil {
				t.Fatal(err)
			}
			_, err := guarded.Read(path, 1<<20)
			var r guarded.Refusal
			if tt.want == "" && err != nil || tt.want != "" && (!errors.As(err, &r) || !strings.Contains(r.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	if _, err := guarded.Read(filepath.Join(t.TempDir(), "none"), 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: got %v", err)
	}
}
