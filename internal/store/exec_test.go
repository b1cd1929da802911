package store_test

import (
	"errors"
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
