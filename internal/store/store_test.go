package store_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/svc-gateway/svc/internal/store"
)

var migrations = fstest.MapFS{
	"00001_init.sql": {Data: []byte("-- +goose Up\nCREATE TABLE t (n INTEGER PRIMARY KEY, s TEXT NOT NULL);\n")},
}

func open(t testing.TB, o store.Options) (*store.DB, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a b#?%.db") // characters that a URI would trip over
	db, err := store.Open(t.Context(), path, migrations, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db, path
}

func insert(n int, s string) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		_, err := tx.Exec(`INSERT INTO t (n, s) VALUES (?, ?)`, n, s)
		return err
	}
}

func rows(t testing.TB, db *store.DB) string {
	t.Helper()
	r, err := db.Read().QueryContext(t.Context(), `SELECT n FROM t ORDER BY n`)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var got []string
	for r.Next() {
		var n int
		if err := r.Scan(&n); err != nil {
			t.Fatal(err)
		}
		got = append(got, strconv.Itoa(n))
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(got, " ")
}

func TestOwnErrorRollsBackOnlyTheOperation(t *testing.T) {
	db, _ := open(t, store.Options{})
	mine := errors.New("mine")
	// All of these are in one transaction: they wait for a first operation that holds the writer.
	hold, held := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	errs := make([]error, 6)
	wg.Go(func() {
		errs[0] = db.Write(t.Context(), func(tx *store.Tx) error {
			close(held)
			<-hold
			return insert(0, "a")(tx)
		})
	})
	<-held
	ops := []func(*store.Tx) error{
		insert(1, "b"),
		func(tx *store.Tx) error { return errors.Join(insert(2, "c")(tx), mine) },
		func(tx *store.Tx) error { _ = insert(3, "d")(tx); panic("boom") },
		func(tx *store.Tx) error { return errors.Join(insert(4, "e")(tx), insert(4, "again")(tx)) },
		insert(5, "f"),
	}
	for i, op := range ops {
		wg.Go(func() { errs[i+1] = db.Write(t.Context(), op) })
	}
	close(hold)
	wg.Wait()
	for _, i := range []int{0, 1, 5} {
		if errs[i] != nil {
			t.Errorf("operation %d: got %v, want nil", i, errs[i])
		}
	}
	if !errors.Is(errs[2], mine) {
		t.Errorf("got %v, want the operation's own error", errs[2])
	}
	if errs[3] == nil || !strings.Contains(errs[3].Error(), "boom") {
		t.Errorf("got %v, want the panic as an error", errs[3])
	}
	if errs[4] == nil || errors.Is(errs[4], store.ErrUnavailable) {
		t.Errorf("got %v, want a constraint error", errs[4])
	}
	if got, want := rows(t, db), "0 1 5"; got != want {
		t.Errorf("got rows %s, want %s", got, want)
	}
	if err := db.Err(); err != nil {
		t.Errorf("got Err %v, want nil", err)
	}
}

func TestTxReads(t *testing.T) {
	db, _ := open(t, store.Options{})
	err := db.Write(t.Context(), func(tx *store.Tx) error {
		var n int
		if err := tx.QueryRow(`INSERT INTO t (s) VALUES (?) RETURNING n`, "x").Scan(&n); err != nil || n != 1 {
			return fmt.Errorf("got %d, %w", n, err)
		}
		r, err := tx.Query(`SELECT s FROM t`)
		if err != nil {
			return err
		}
		defer r.Close()
		var got []string
		for r.Next() {
			var s string
			if err := r.Scan(&s); err != nil {
				return err
			}
			got = append(got, s)
		}
		if len(got) != 1 || got[0] != "x" {
			t.Errorf("got %q, want the uncommitted row", got)
		}
		if err := tx.QueryRow(`SELECT nothing FROM t`).Scan(&n); err == nil {
			t.Error("got no error for an unknown column")
		}
		return r.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 400 { // more statements than are kept
		err := db.Write(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Exec(fmt.Sprintf(`UPDATE t SET s = '%d'`, i))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestCancelledWriteIsNotRun(t *testing.T) {
	db, _ := open(t, store.Options{})
	hold, held := make(chan struct{}), make(chan struct{})
	go db.Write(context.WithoutCancel(t.Context()), func(*store.Tx) error { close(held); <-hold; return nil })
	<-held
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan error)
	go func() { got <- db.Write(ctx, insert(1, "x")) }()
	cancel()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	close(hold)
	if err := db.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := rows(t, db); got != "" {
		t.Errorf("got rows %s, want none", got)
	}
}

// queued returns when so many operations wait for the writer, which is busy.
func queued(db *store.DB, operations int) {
	for store.Waiting(db) < operations {
		runtime.Gosched()
	}
}

// Also not when others of its transaction are run already.
func TestCancelledWhileOthersAreRun(t *testing.T) {
	db, _ := open(t, store.Options{})
	first, second := make(chan struct{}), make(chan struct{})
	holding := func(hold chan struct{}) (held chan struct{}) {
		held = make(chan struct{})
		go db.Write(context.WithoutCancel(t.Context()), func(*store.Tx) error { close(held); <-hold; return nil })
		return held
	}
	<-holding(first)
	held := holding(second)
	queued(db, 1)
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan error, 1)
	go func() { got <- db.WriteExec(ctx, statement{`INSERT INTO t (s) VALUES (?)`, []any{"x"}}) }()
	queued(db, 2)
	close(first)
	<-held
	cancel()
	select {
	case err := <-got:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it goes on waiting for somebody else's operation")
	}
	close(second)
	if err := db.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := rows(t, db); got != "" {
		t.Errorf("got rows %s, want none", got)
	}
}

func TestQueueWaitsWhenFullAndKeepsOrder(t *testing.T) {
	db, _ := open(t, store.Options{Queue: 4})
	hold, held := make(chan struct{}), make(chan struct{})
	go db.Write(context.WithoutCancel(t.Context()), func(*store.Tx) error { close(held); <-hold; return nil })
	<-held
	var order []int
	note := func(i int) func(*store.Tx) error {
		return func(*store.Tx) error { order = append(order, i); return nil }
	}
	for i := range 4 {
		if err := db.Queue(t.Context(), note(i)); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan error)
	go func() { got <- db.Queue(ctx, note(99)) }()
	cancel()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("full queue: got %v, want to wait until the context ends", err)
	}
	close(hold)
	if err := db.Write(t.Context(), note(4)); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(order), "[0 1 2 3 4]"; got != want {
		t.Errorf("got order %s, want %s", got, want)
	}
}

func TestCloseWritesTheQueue(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	var dropped []error
	o := store.Options{Dropped: func(err error) { dropped = append(dropped, err) }}
	db, err := store.Open(t.Context(), path, migrations, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		if err := db.Queue(t.Context(), insert(i/2*2, "x")); err != nil { // every second one is a duplicate
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(dropped) != 500 {
		t.Errorf("got %d reports of dropped operations, want 500", len(dropped))
	}
	if err := db.Write(t.Context(), insert(1, "x")); !errors.Is(err, store.ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
	again, err := store.Open(t.Context(), path, migrations, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got := len(strings.Fields(rows(t, again))); got != 500 {
		t.Errorf("got %d rows, want 500", got)
	}
}

func TestReadPoolCannotWrite(t *testing.T) {
	db, _ := open(t, store.Options{})
	for _, q := range []string{`INSERT INTO t VALUES (1, 'x')`, `PRAGMA query_only = 0; DELETE FROM t`, `CREATE TEMP TABLE x (a); INSERT INTO t VALUES (1, 'x')`} {
		if _, err := db.Read().ExecContext(t.Context(), q); err == nil {
			t.Errorf("%s: got no error", q)
		}
	}
}

func TestFilesAreTheirOwnersOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), path, migrations, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, p := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != 0o600 {
			t.Errorf("%s: got mode %o, want 600", p, got)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	newer := fstest.MapFS{"00001_init.sql": migrations["00001_init.sql"], "00002_more.sql": {Data: []byte("-- +goose Up\nCREATE TABLE u (n);\n")}}
	path := filepath.Join(dir, "x.db")
	for _, m := range []fs.FS{migrations, newer} { // an upgrade is fine
		db, err := store.Open(t.Context(), path, m, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	garbage := filepath.Join(dir, "garbage.db")
	if err := os.WriteFile(garbage, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path, want string
		fs               fs.FS
	}{
		{"newer schema", path, "schema is version 2 and this program knows up to 1", migrations},
		{"folder", dir, "is a directory", migrations},
		{"no folder", filepath.Join(dir, "none", "x.db"), "no such file or directory", migrations},
		{"garbage", garbage, "file is not a database", migrations},
		{"broken migration", filepath.Join(dir, "y.db"), "syntax error", fstest.MapFS{"00001_x.sql": {Data: []byte("-- +goose Up\nCREATE TUBLE;\n")}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			db, err := store.Open(t.Context(), c.path, c.fs, store.Options{})
			if err == nil {
				db.Close()
				t.Fatal("got no error")
			}
			if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.path) {
				t.Errorf("got %q, want the path and %q", err, c.want)
			}
		})
	}
}

func TestBackup(t *testing.T) {
	db, path := open(t, store.Options{})
	if err := db.Write(t.Context(), insert(7, "x")); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(filepath.Dir(path), "copy.db")
	if err := db.Backup(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(to)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("got %v %v, want mode 600", info, err)
	}
	if err := db.Backup(t.Context(), to); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v, want fs.ErrExist", err)
	}
	b, err := store.Open(t.Context(), to, migrations, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if got := rows(t, b); got != "7" {
		t.Errorf("got rows %q, want 7", got)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	failed := filepath.Join(filepath.Dir(path), "failed.db")
	if err := db.Backup(ended, failed); err == nil {
		t.Error("got no error from an ended context")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*failed*")); len(left) > 0 {
		t.Errorf("a failed backup left %v", left)
	}
}

// The sqlite3 program reads while the writer commits.
func TestSqlite3ReadsMeanwhile(t *testing.T) {
	if _, err := exec.LookPath("sqlite3"); err != nil {
		t.Skip("sqlite3 is not installed")
	}
	db, path := open(t, store.Options{Full: true})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := db.Write(t.Context(), insert(i, "x")); err != nil {
				t.Error(err)
				return
			}
		}
	})
	last := -1
	for range 5 {
		out, err := exec.CommandContext(t.Context(), "sqlite3", "-readonly", path, "SELECT count(*) FROM t").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		n, err := strconv.Atoi(strings.TrimSpace(string(out)))
		if err != nil || n < last {
			t.Errorf("got %q, %v; want at least %d", out, err, last)
		}
		last = n
	}
	close(stop)
	wg.Wait()
}
