package syslog_test

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/agents/analytics"
	"github.com/svc-gateway/svc/agents/syslog"
	"github.com/svc-gateway/svc/internal/ducktest"
	"github.com/svc-gateway/svc/internal/eventually"
)

// BenchmarkReceive is the way of a message from a socket into the database.
func BenchmarkReceive(b *testing.B) {
	dir := b.TempDir()
	db := analytics.Open(analytics.Config{
		Helper: ducktest.Helper(b), Folder: filepath.Join(dir, "db"), Snapshots: filepath.Join(dir, "snapshots"), Socket: filepath.Join(dir, "s"), Lock: filepath.Join(dir, "lock"),
		Memory: 1 << 30, Threads: 2,
	})
	if err := db.Use(b.Context()); err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	r, err := syslog.Listen(b.Context(), syslog.Config{TCP: []string{"127.0.0.1:0"}, Table: "syslog", Keep: time.Hour, Database: db})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan syslog.Totals, 1)
	go func() { done <- r.Serve(ctx) }()
	c, err := new(net.Dialer).DialContext(b.Context(), "tcp", r.Addresses()[0].Addr)
	if err != nil {
		b.Fatal(err)
	}
	const waiting = 50_000 // so many are under way, so that none is dropped
	var lines strings.Builder
	b.ResetTimer()
	for i := range b.N {
		fmt.Fprintf(&lines, "<%d>Nov 23 05:01:%02d host-%d sshd[%d]: Accepted publickey for operator from 10.0.%d.%d port %d ssh2\n", i%192, i%60, i%50, i, i%256, i%250, 1024+i%60000)
		if lines.Len() < 32<<10 && i < b.N-1 {
			continue
		}
		if _, err := c.Write([]byte(lines.String())); err != nil {
			b.Fatal(err)
		}
		lines.Reset()
		eventually.True(b, "what was sent before is stored", func() bool { return r.Totals().Stored >= int64(i-waiting) })
	}
	eventually.True(b, "all messages came", func() bool { return r.Totals().Received == int64(b.N) })
	cancel()
	totals := <-done
	b.StopTimer()
	if totals.Stored != int64(b.N) {
		b.Fatalf("got %+v, want all of %d stored", totals, b.N)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
}
