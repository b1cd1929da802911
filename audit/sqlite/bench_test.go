package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/audit/sqlite"
)

// writers is how many goroutines record at once, as with 50 clients.
const writers = 50

// toolStart is the event of the hot path: the intent of a tool call.
func toolStart(i int) audit.Event {
	return audit.Event{
		Type: audit.ToolStart, Run: fmt.Sprintf("0192f7c2-0000-7000-8000-%012d", i/2), Thread: "0192f7c2-1111-7000-8000-000000000001",
		Agent: "core", User: "ann", Role: "admin", Address: "192.0.2.7", TokenID: "3f9a", Call: fmt.Sprintf("call_%d", i),
		Tool: "run_command", Action: "use", Input: `{"command":"df -h /"}`, Decision: "allow", Rule: "table",
		Reasons:    []string{"role admin may use core/run_command"},
		PolicyHash: "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9",
		Digest:     "7f83b1657ff1fc53b92dc18148a1d65dfc2d4b1fa3d677284addd200126d9069",
		Labels:     []string{"user"},
	}
}

func request(i int) audit.Event {
	return audit.Event{Type: audit.Request, User: "ann", Role: "user", Address: "192.0.2.7", TokenID: "3f9a", Method: "POST", Path: "/runs/stream", Code: 200, Duration: float64(i) / 1e6}
}

// spread runs op for the numbers from first to first+n-1, over the writers, and returns how long it took.
func spread(b *testing.B, first, n int, op func(i int) error) time.Duration {
	b.Helper()
	var next atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for range writers {
		wg.Go(func() {
			for i := int(next.Add(1)); i <= n; i = int(next.Add(1)) {
				if err := op(first + i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return time.Since(start)
}

// BenchmarkRecord compares Log.Record with the least that any durable log in SQLite can do: the same
// columns, indexes and pragmas, rows that are ready to be bound, and a group commit around them. The
// two take turns of 2,000 events, so that both see the same machine; ratio is log/bare.
func BenchmarkRecord(b *testing.B) {
	const turn = 2000
	l, _ := open(b)
	g := openBare(b)
	var log, bare time.Duration
	n := 0
	for b.Loop() {
		log += spread(b, n, turn, func(i int) error { return l.Record(b.Context(), toolStart(i)) })
		bare += spread(b, n, turn, func(i int) error { return g.insert(bareRow(i)) })
		n += turn
	}
	b.ReportMetric(float64(n)/log.Seconds(), "log-events/s")
	b.ReportMetric(float64(n)/bare.Seconds(), "bare-events/s")
	b.ReportMetric(bare.Seconds()/log.Seconds(), "ratio")
}

// BenchmarkQueue is request accounting, and includes the flush at its end.
func BenchmarkQueue(b *testing.B) {
	for name, event := range map[string]func(int) audit.Event{"request": request, "tool": toolStart} {
		b.Run(name, func(b *testing.B) {
			l, _ := open(b)
			b.ReportAllocs()
			took := spread(b, 0, b.N, func(i int) error { return l.Queue(b.Context(), event(i)) })
			start := time.Now()
			if err := l.Flush(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/(took+time.Since(start)).Seconds(), "events/s")
		})
	}
}

// bare is a group commit without anything around it.
type bare struct {
	conn *sql.Conn
	rows chan bareOp
}

type bareOp struct {
	row  []any
	done chan error
}

// bareRow is what the log makes of toolStart(i), without the work of redacting and hashing it.
func bareRow(i int) []any {
	e := toolStart(i)
	return []any{
		time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), "node-1", e.Type, e.Run, e.Thread, e.Agent, e.User, e.Role, nil, e.Address,
		e.TokenID, e.Call, e.Tool, e.Action, e.Input, nil, nil, nil, nil, e.Decision, e.Rule, `["role admin may use core/run_command"]`,
		e.PolicyHash, e.Digest, nil, `["user"]`, nil, nil, nil, nil, "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
	}
}

func openBare(b *testing.B) *bare {
	b.Helper()
	// The log makes the file, so that columns and indexes are the same by construction.
	path := filepath.Join(b.TempDir(), "bare.db")
	s, err := sqlite.Open(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=temp_store(memory)"+
		"&_pragma=cache_size(-8000)&_pragma=wal_autocheckpoint(4000)")
	if err != nil {
		b.Fatal(err)
	}
	conn, err := db.Conn(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	g := &bare{conn: conn, rows: make(chan bareOp, 256)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		g.loop()
	}()
	b.Cleanup(func() {
		close(g.rows)
		<-ended
		if err := conn.Close(); err != nil {
			b.Error(err)
		}
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	})
	return g
}

func (g *bare) insert(row []any) error {
	done := make(chan error, 1)
	g.rows <- bareOp{row, done}
	return <-done
}

func (g *bare) loop() {
	ctx := context.Background()
	var begin, insert, commit *sql.Stmt
	for into, query := range map[**sql.Stmt]string{
		&begin:  `BEGIN IMMEDIATE`,
		&commit: `COMMIT`,
		&insert: `INSERT INTO audit_events (time, node, type, run, thread, agent, user, role, on_behalf_of, address, token_id, call, tool, action,
input, output, duration, error, traceback, decision, rule, reasons, policy_hash, digest, findings, labels, status, method, path, code, hash)
VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
	} {
		s, err := g.conn.PrepareContext(ctx, query)
		if err != nil {
			panic(err)
		}
		defer s.Close()
		*into = s
	}
	var group []chan error
	for op := range g.rows {
		_, err := begin.ExecContext(ctx)
		for more := true; more; {
			if err == nil {
				_, err = insert.ExecContext(ctx, op.row...)
			}
			group = append(group, op.done)
			select {
			case op, more = <-g.rows:
			default:
				more = false
			}
		}
		if err == nil {
			_, err = commit.ExecContext(ctx)
		}
		for _, done := range group {
			done <- err
		}
		group = group[:0]
	}
}
