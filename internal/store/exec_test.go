package store_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svc-gateway/svc/internal/store"
)

// statement is a store.Statement of constants.
type statement struct {
	query  string
	values []any
}

func (s statement) Bind(values []any) (string, []any) { return s.query, append(values, s.values...) }

func TestSingleStatements(t *testing.T) {
	var dropped []error
	db, _ := open(t, store.Options{Dropped: func(err error) { dropped = append(dropped, err) }})
	const query = `INSERT INTO t (n, s) VALUES (?, ?)`
	type text string // converted as database/sql does
	if err := db.WriteExec(t.Context(), statement{query, []any{1, text("x")}}); err != nil {
		t.Fatal(err)
	}
	if err := db.WriteExec(t.Context(), statement{query, []any{1, "x"}}); err == nil || errors.Is(err, store.ErrUnavailable) {
		t.Errorf("got %v, want a constraint error", err)
	}
	if err := db.WriteExec(t.Context(), statement{query, []any{2, make(chan int)}}); err == nil {
		t.Error("a value of no SQL type: got no error")
	}
	if err := db.WriteExec(t.Context(), statement{`nonsense`, nil}); err == nil || errors.Is(err, store.ErrUnavailable) {
		t.Errorf("got %v, want a syntax error", err)
	}
	for _, n := range []int{3, 3, 4} {
		if err := db.QueueExec(t.Context(), statement{query, []any{n, "x"}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := rows(t, db); got != "1 3 4" {
		t.Errorf("got rows %s, want 1 3 4", got)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if len(dropped) != 1 {
		t.Errorf("got %v dropped, want one", dropped)
	}
}

// Rows that are added in the same way are added together. Who watches does not notice: their order is
// that of the queue, and one that is refused takes no other with it.
func TestRowsTogether(t *testing.T) {
	const plain, marked, other = `INSERT INTO t (s) VALUES (?)`, `INSERT INTO t (s) VALUES ('=' || ?)`, `INSERT INTO t (s, n) VALUES (?, ?)`
	for _, tt := range []struct {
		name string
		rows []statement
		want string
	}{
		{"alike", slices.Repeat([]statement{{plain, []any{"a"}}}, 20), strings.Repeat("a", 20)},
		{
			"one in the middle is refused",
			slices.Concat(letters(plain, "abcde"), []statement{{plain, []any{nil}}}, letters(plain, "fghijklmnop"), []statement{{plain, []any{nil}}}, letters(plain, "q")),
			"abcdefghijklmnopq",
		},
		{"other statements between", slices.Concat(letters(plain, "abc"), letters(marked, "d"), letters(plain, "efghijklmn")), "abc=defghijklmn"},
		{"more values between", slices.Concat(letters(plain, "ab"), []statement{{other, []any{"c", 1000}}}, letters(plain, "defghijklm")), "abcdefghijklm"},
	} {
		for _, way := range []string{"queued", "written"} {
			t.Run(tt.name+", "+way, func(t *testing.T) {
				refused := 0
				db, _ := open(t, store.Options{Linger: time.Minute, Dropped: func(error) { refused++ }})
				if way == "queued" {
					for _, s := range tt.rows {
						if err := db.QueueExec(t.Context(), s); err != nil {
							t.Fatal(err)
						}
					}
				} else {
					refused = writeAtOnce(t, db, tt.rows)
				}
				if err := db.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
				got, want := texts(t, db), tt.want
				if way == "written" { // at once, so in any order
					got, want = inOrder(got), inOrder(want)
				}
				if got != want {
					t.Errorf("got %s, want %s", got, want)
				}
				wrong := 0
				for _, s := range tt.rows {
					if s.values[0] == nil {
						wrong++
					}
				}
				if refused != wrong {
					t.Errorf("got %d refused, want %d", refused, wrong)
				}
			})
		}
	}
}

// Statements that only look as if several were one are executed one by one.
func TestRowsApart(t *testing.T) {
	const orFail, two = `INSERT OR FAIL INTO t (s) VALUES (?)`, `INSERT INTO t (s) SELECT ? UNION ALL VALUES (?)`
	for _, tt := range []struct {
		rows []statement
		want string
	}{
		{slices.Concat(letters(orFail, "abcde"), []statement{{orFail, []any{nil}}}, letters(orFail, "fghijk")), "abcdefghijk"},
		{slices.Repeat([]statement{{two, []any{"a", "b"}}}, 10), strings.Repeat("ab", 10)},
		{letters(`INSERT INTO t (s) SELECT 'x' UNION ALL VALUES (?)`, "abcdefghij"), "xaxbxcxdxexfxgxhxixj"},
		{letters(`INSERT INTO t (s) VALUES (upper(?))`, "abcdefghij"), "ABCDEFGHIJ"},
		{letters(`INSERT INTO t (s) VALUES (?) ON CONFLICT DO NOTHING`, "abcdefghij"), "abcdefghij"},
	} {
		t.Run(tt.rows[0].query, func(t *testing.T) {
			db, _ := open(t, store.Options{Linger: time.Minute, Dropped: func(error) {}})
			for _, s := range tt.rows {
				if err := db.QueueExec(t.Context(), s); err != nil {
					t.Fatal(err)
				}
			}
			if err := db.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := texts(t, db); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func letters(query, all string) (rows []statement) {
	for _, l := range all {
		rows = append(rows, statement{query, []any{string(l)}})
	}
	return rows
}

func inOrder(s string) string { return string(slices.Sorted(slices.Values([]byte(s)))) }

// writeAtOnce writes rows while the writer is busy, and returns how many were refused.
func writeAtOnce(t *testing.T, db *store.DB, rows []statement) (refused int) {
	begun, busy := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := db.Write(t.Context(), func(*store.Tx) error { close(begun); <-busy; return nil }); err != nil {
			t.Error(err)
		}
	})
	<-begun
	errs := make([]error, len(rows))
	for i, s := range rows {
		wg.Go(func() { errs[i] = db.WriteExec(t.Context(), s) })
	}
	queued(db, len(rows))
	close(busy)
	wg.Wait()
	for _, err := range errs {
		if errors.Is(err, store.ErrUnavailable) {
			t.Errorf("got %v, want a constraint error", err)
		}
		if err != nil {
			refused++
		}
	}
	return refused
}

// texts are the column s of all rows, in the order in which they were added.
func texts(t *testing.T, db *store.DB) (all string) {
	t.Helper()
	if err := db.Read().QueryRowContext(t.Context(), `SELECT group_concat(s, '') FROM (SELECT s FROM t ORDER BY n)`).Scan(&all); err != nil {
		t.Fatal(err)
	}
	return all
}

// BenchmarkWrite has fifty callers on two cores.
func BenchmarkWrite(b *testing.B) {
	for name, full := range map[string]bool{"full": true, "normal": false} {
		b.Run(name, func(b *testing.B) {
			db, _ := open(b, store.Options{Full: full})
			b.SetParallelism(25) // times GOMAXPROCS
			b.ReportAllocs()
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					if err := db.WriteExec(b.Context(), statement{`INSERT INTO t (s) VALUES (?)`, []any{"x"}}); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
}

// A lone caller waits for one commit, not for company.
func BenchmarkWriteAlone(b *testing.B) {
	db, _ := open(b, store.Options{Full: true, Linger: time.Second})
	for b.Loop() {
		if err := db.WriteExec(b.Context(), statement{`INSERT INTO t (s) VALUES (?)`, []any{"x"}}); err != nil {
			b.Fatal(err)
		}
	}
}
