package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/internal/store"
)

// filled is a closed database of about a megabyte.
func filled(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x.db")
	db, err := store.Open(t.Context(), path, migrations, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 500 {
		if err := db.Queue(t.Context(), insert(n, strings.Repeat("x", 2000))); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// overwrite puts something else over a part of a file.
func overwrite(t *testing.T, path string, at int64, n int) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(bytes.Repeat([]byte("rubbish "), n/8), at); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// The accident: pages of a database are overwritten while the service does not run. What is wrong is
// said when the database is opened, with what to do, and not when a request comes across it.
func TestDamage(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, path string)
	}{
		{"another file", func(t *testing.T, path string) { overwrite(t, path, 0, 4096) }},
		{"pages in the middle", func(t *testing.T, path string) { overwrite(t, path, 400<<10, 8<<10) }},
		{"the end is missing", func(t *testing.T, path string) {
			if err := os.Truncate(path, 300<<10); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filled(t)
			if err := store.Check(t.Context(), path); err != nil {
				t.Fatal(err)
			}
			tt.do(t, path)
			_, opened := store.Open(t.Context(), path, migrations, store.Options{})
			_, noted := store.ReadNoted(t.Context(), path)
			checked := store.Check(t.Context(), path)
			for name, err := range map[string]error{"Open": opened, "Check": checked} {
				if !errors.Is(err, store.ErrDamaged) || !strings.Contains(fmt.Sprint(err), "move "+path) {
					t.Errorf("%s: got %v, want ErrDamaged with the file and what to do", name, err)
				}
			}
			if tt.name == "another file" && !errors.Is(noted, store.ErrDamaged) {
				t.Errorf("ReadNoted: got %v, want ErrDamaged", noted)
			}
		})
	}
}

// A check that takes too long is given up, and the database opened.
func TestCheckIsBounded(t *testing.T) {
	path := filled(t)
	db, err := store.Open(t.Context(), path, migrations, store.Options{CheckTime: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestBackupOfNothing(t *testing.T) {
	dir := t.TempDir()
	if err := store.Backup(t.Context(), filepath.Join(dir, "none.db"), filepath.Join(dir, "copy.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "copy.db")); err == nil {
		t.Error("there is a backup of nothing")
	}
}
