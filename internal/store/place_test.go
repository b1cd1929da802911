package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/internal/store"
)

// The accident, or the attack: the file of a database is deleted, or another one put in its place,
// while the service has it open. SQLite would go on with the file that nobody can see any more.
func TestFilesReplacedWhileInUse(t *testing.T) {
	for _, tt := range []struct {
		name string
		lose func(path string) error
	}{
		{"deleted", os.Remove},
		{"moved", func(path string) error { return os.Rename(path, path+".old") }},
		{"replaced", func(path string) error {
			if err := os.WriteFile(path+".other", nil, 0o600); err != nil {
				return err
			}
			return os.Rename(path+".other", path)
		}},
		{"write-ahead log deleted", func(path string) error { return os.Remove(path + "-wal") }},
		{"all deleted", func(path string) error {
			return errors.Join(os.Remove(path), os.Remove(path+"-wal"), os.Remove(path+"-shm"))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			told := make(chan string, 10)
			db, err := store.Open(t.Context(), path, migrations, store.Options{Full: true, Trouble: func(reason string, _ error) { told <- reason }})
			if err != nil {
				t.Fatal(err)
			}
			if err := db.Write(t.Context(), insert(1, "before")); err != nil {
				t.Fatal(err)
			}
			if err := tt.lose(path); err != nil {
				t.Fatal(err)
			}
			for n := range 3 {
				if err := db.Write(t.Context(), insert(2+n, "after")); !errors.Is(err, store.ErrUnavailable) {
					t.Errorf("writing: got %v, want ErrUnavailable", err)
				}
			}
			if err := db.Err(); !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("got Err %v, want ErrUnavailable", err)
			}
			if err := db.Queue(t.Context(), insert(9, "queued")); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err == nil {
				t.Error("closing says nothing of what was queued")
			}
			close(told)
			var got []string
			for reason := range told {
				got = append(got, reason)
			}
			if want := []string{"replaced"}; !cmp.Equal(got, want) {
				t.Errorf("told %v, want %v", got, want)
			}
		})
	}
}

// What is put back is what it was: nothing is lost.
func TestFilesPutBack(t *testing.T) {
	told := make(chan string, 10)
	db, path := open(t, store.Options{Full: true, Trouble: func(reason string, _ error) { told <- reason }})
	if err := db.Write(t.Context(), insert(1, "before")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	if err := db.Write(t.Context(), insert(2, "lost")); !errors.Is(err, store.ErrUnavailable) {
		t.Fatalf("got %v, want ErrUnavailable", err)
	}
	if err := db.Queue(t.Context(), insert(3, "kept")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	if got := []string{<-told, <-told}; !cmp.Equal(got, []string{"replaced", ""}) {
		t.Errorf("told %q, want replaced, and that it works again", got)
	}
	if err := db.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := rows(t, db); got != "1 3" {
		t.Errorf("got rows %s, want 1 3", got)
	}
}

// A database that nobody writes to is looked after too.
func TestFilesReplacedWhileIdle(t *testing.T) {
	told := make(chan string, 10)
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := store.Open(t.Context(), path, migrations, store.Options{Trouble: func(reason string, _ error) { told <- reason }})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-told:
		if got != "replaced" || db.Err() == nil {
			t.Errorf("told %q with Err %v, want replaced", got, db.Err())
		}
	case <-time.After(20 * time.Second):
		t.Error("nobody was told")
	}
}

// BenchmarkLook is what each commit pays.
func BenchmarkLook(b *testing.B) {
	_, path := open(b, store.Options{})
	look := store.Look(b, path)
	for b.Loop() {
		if err := look(); err != nil {
			b.Fatal(err)
		}
	}
}
