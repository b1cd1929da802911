//go:build unix

package guarded_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/internal/guarded"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	owner := os.Geteuid()
	if owner == 0 { // what root writes belongs to whom the folder belongs to
		owner = 1234
		if err := os.Chown(dir, owner, owner); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "file")
	for _, content := range []string{"one", "two"} {
		if err := guarded.Write(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != content {
			t.Errorf("got %q, %v, want %q", got, err, content)
		}
	}
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	if int(st.Uid) != owner || st.Mode&0o777 != 0o600 {
		t.Errorf("got the owner %d and mode %04o, want %d and 0600", st.Uid, st.Mode&0o777, owner)
	}
	program := filepath.Join(dir, "program")
	if err := guarded.WriteProgram(program, nil); err != nil {
		t.Fatal(err)
	}
	if err := unix.Stat(program, &st); err != nil || int(st.Uid) != owner || st.Mode&0o777 != 0o700 {
		t.Errorf("a program: got %v, the owner %d and mode %04o, want %d and 0700", err, st.Uid, st.Mode&0o777, owner)
	}
	if err := guarded.Write(filepath.Join(dir, "none", "file"), nil); err == nil {
		t.Error("a file in a folder that is not there: got no error")
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 2 {
		t.Errorf("got %v, %v, want the files alone", all, err)
	}
}
