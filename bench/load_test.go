package main

import (
	"bytes"
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

// serve starts the mock upstream in this process.
func serve(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var u upstream
	served := make(chan struct{})
	go func() { u.serve(ln); close(served) }()
	t.Cleanup(func() {
		ln.Close()
		<-served
		u.close()
	})
	return ln.Addr().String()
}

func TestLoad(t *testing.T) {
	addr := serve(t)
	for name, c := range map[string]struct {
		path string
		want []byte
		err  error
	}{
		"json":    {"/json", responseBody, nil},
		"sse":     {"/sse", streamBody, nil},
		"burst":   {"/burst", streamBody, nil},
		"answer":  {answerPath + completion, chatAnswer, nil},
		"pieces":  {piecesPath + completion, bytes.Join(chatPieces, nil), nil},
		"corrupt": {"/json", streamBody, errBody},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := load{
				addr: addr, clients: 4, request: post(c.path, "", requestBody),
				check:   func() checker { return &exactly{want: c.want, first: eventSize} },
				lasting: 50 * time.Millisecond, pid: os.Getpid(),
			}.measure(t.Context())
			if !errors.Is(err, c.err) {
				t.Fatalf("got %v, want %v", err, c.err)
			}
			if err == nil && (s.Rate == 0 || s.First == 0 || s.P50 < s.First || s.P99 < s.P50) {
				t.Errorf("got figures that cannot be: %+v", s)
			}
		})
	}
}

func TestCrowdNoticesAnEnd(t *testing.T) {
	addr := serve(t)
	var open crowd
	defer open.close()
	if err := open.add(t.Context(), 8, addr, get("/wait", "")); err != nil {
		t.Fatal(err)
	}
	if err := open.alive(); err != nil {
		t.Errorf("waiting streams: got %v", err)
	}
	if err := open.add(t.Context(), 1, addr, get("/burst", "")); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(10 * time.Second)
	for open.alive() == nil {
		if time.Now().After(deadline) {
			t.Fatal("a stream that has ended went unnoticed")
		}
	}
}

func TestMedians(t *testing.T) {
	for _, c := range []struct {
		values []int
		want   int
	}{{[]int{5}, 5}, {[]int{9, 1, 5}, 5}, {[]int{4, 2, 1, 3}, 2}} {
		if got := median(c.values); got != c.want {
			t.Errorf("median of %v: got %d, want %d", c.values, got, c.want)
		}
	}
	sorted := make([]int, 100)
	for i := range sorted {
		sorted[i] = i + 1
	}
	if got := percentile(sorted, 99); got != 99 {
		t.Errorf("99th percentile: got %d, want 99", got)
	}
}

func TestAuditFigures(t *testing.T) {
	f, err := auditFiguresOf("goos: linux\nBenchmarkRecord-2 \t 3\t 100 ns/op\t 57549 bare-events/s\t 49545 log-events/s\t 0.8609 ratio\nPASS\n")
	if err != nil || f != (auditFigures{Log: 49545, Bare: 57549, Ratio: 0.8609}) {
		t.Errorf("got %+v, %v", f, err)
	}
	if _, err := auditFiguresOf("PASS\n"); err == nil {
		t.Error("output without figures was accepted")
	}
}
