package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/internal/settings"
)

func testHome(t *testing.T) settings.Home {
	t.Helper()
	dir := t.TempDir()
	h, err := settings.Locate(func(string) (string, bool) { return dir, true }, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Create(); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestRemoveStale(t *testing.T) {
	for content, want := range map[string]string{
		"4242\n": "(pid 4242)",
		"junk":   "(it cannot be read)",
	} {
		h := testHome(t)
		if err := os.WriteFile(h.PIDFile(), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		var told bytes.Buffer
		if err := removeStale(&told, h); err != nil || !strings.Contains(told.String(), want) {
			t.Errorf("%q: got %q, %v, want %q in it", content, told.String(), err, want)
		}
		if _, err := os.Stat(h.PIDFile()); err == nil {
			t.Errorf("%q: the stale file is still there", content)
		}
		told.Reset()
		if err := removeStale(&told, h); err != nil || told.Len() > 0 {
			t.Errorf("without a file: got %q, %v", told.String(), err)
		}
	}
}

func TestAlive(t *testing.T) {
	if !alive(os.Getpid()) {
		t.Error("this process is not alive")
	}
	c := exec.Command("true")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	// It ends and stays a zombie until it is waited for.
	for deadline := time.Now().Add(10 * time.Second); alive(c.Process.Pid); {
		if time.Now().After(deadline) {
			t.Fatal("a zombie counts as alive")
		}
	}
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	if alive(c.Process.Pid) {
		t.Error("a process that is gone counts as alive")
	}
}

func TestLastError(t *testing.T) {
	old := "Error: of last time\n"
	for _, tt := range []struct{ log, want string }{
		{"{\"level\":\"info\"}\nError: one\nError: two\n{\"level\":\"info\"}\n", "one\ntwo"},
		{"panic: boom\n", "panic: boom"},
		{"", "it said nothing"},
	} {
		path := write(t, "service.log", old+tt.log)
		if got := lastError(path, int64(len(old))); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%q: got %q, want %q", tt.log, got, tt.want)
		}
	}
}

func TestOpenLogPutsALargeOneAside(t *testing.T) {
	h := testHome(t)
	if err := os.WriteFile(h.LogFile(), []byte("old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int64{4, maxLog + 1} {
		if err := os.Truncate(h.LogFile(), size); err != nil {
			t.Fatal(err)
		}
		f, start, err := openLog(h)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		want := size
		if size > maxLog {
			want = 0
		}
		if start != want {
			t.Errorf("log of %d bytes: got start %d, want %d", size, start, want)
		}
	}
}
