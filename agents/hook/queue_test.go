package hook_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svc-gateway/svc/agents/hook"
)

// held is a command that says it has begun, and ends when the file go is there.
const held = `echo x >> begun; while [ ! -e go ]; do sleep 0.02; done`

func (f *fixture) begun(n int) {
	f.t.Helper()
	for deadline := time.Now().Add(patience); ; {
		text, _ := os.ReadFile(f.path("begun"))
		if got := strings.Count(string(text), "x"); got >= n {
			return
		}
		if time.Now().After(deadline) {
			f.t.Fatalf("got %q, want %d commands", text, n)
		}
	}
}

func TestTheQueueIsBounded(t *testing.T) {
	f := open(t, hook.Config{Queue: 3, Parallel: 1}, entry{hook.SessionEnd, held})
	f.SessionEnd("core")
	f.begun(1)
	// One event waits for the slot in the dispatcher's hands, or will; three wait in the queue.
	var full int
	for range 10 {
		began := time.Now()
		if err := f.Fire(hook.SessionEnd); errors.Is(err, hook.ErrFull) {
			full++
		} else if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("Fire took %v", took)
		}
	}
	if full < 6 || full > 7 {
		t.Errorf("got %d events that did not fit, want 6 or 7 of 10", full)
	}
	f.warning("the queue of events for hooks is full")
	if err := os.WriteFile(f.path("go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f.close()
	if got := f.warning("came faster")["events"]; got != int64(full) {
		t.Errorf("the log counts %v, want %d", got, full)
	}
	text, err := os.ReadFile(f.path("begun"))
	if got, want := strings.Count(string(text), "x"), 11-full; got != want || err != nil {
		t.Errorf("got %d commands, %v, want %d", got, err, want)
	}
}

func TestAFewCommandsRunSideBySide(t *testing.T) {
	f := open(t, hook.Config{Parallel: 3}, entry{hook.SessionEnd, held + `; echo o >> ended`})
	for range 5 {
		f.SessionEnd("core")
	}
	f.begun(3)
	if err := os.WriteFile(f.path("go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f.close()
	if got := strings.Count(readAll(t, f.path("ended")), "o"); got != 5 {
		t.Errorf("got %d ends, want 5", got)
	}
}

func TestCloseKillsWhatDoesNotEndInTime(t *testing.T) {
	before := runtime.NumGoroutine()
	f := open(t, hook.Config{Parallel: 1}, entry{hook.SessionEnd, held})
	for range 3 {
		f.SessionEnd("core")
	}
	f.begun(1)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	f.Close(over)
	if got := f.warning("a hook failed")["exit"]; got != "the service stopped, and it was killed" {
		t.Errorf("got %v", got)
	}
	if got := f.warning("the service stopped before")["commands"]; got != int64(2) {
		t.Errorf("got %v commands that did not run, want 2", got)
	}
	f.close() // again, and at once
	for deadline := time.Now().Add(patience); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			buf := make([]byte, 1<<16)
			t.Fatalf("goroutines are left:\n%s", buf[:runtime.Stack(buf, true)])
		}
	}
}

func TestManyFireAtOnce(t *testing.T) {
	f := open(t, hook.Config{Queue: 16}, entry{hook.ToolCall, `echo x >> got`})
	var all sync.WaitGroup
	var mu sync.Mutex
	taken := 0
	for range 8 {
		all.Go(func() {
			for range 20 {
				if err := f.Fire(hook.ToolCall, "tool", "x"); err == nil {
					mu.Lock()
					taken++
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	f.close()
	if got := strings.Count(readAll(t, f.path("got")), "x"); got != taken {
		t.Errorf("got %d commands for %d events", got, taken)
	}
}

func BenchmarkFire(b *testing.B) {
	h := (*hook.Hooks)(nil)
	for b.Loop() {
		h.ToolCall("run_command", "success", time.Second)
	}
}
