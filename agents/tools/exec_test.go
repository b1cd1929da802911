package tools

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func shellOut(t *testing.T, ctx context.Context, script string, l limits) (outcome, error) {
	t.Helper()
	return execute(ctx, []string{"/bin/sh", "-c", script}, t.TempDir(), nil, l)
}

func TestExecute(t *testing.T) {
	small := limits{keep: 10, stop: 1 << 20, grace: 5 * time.Second}
	tests := []struct {
		name, script string
		l            limits
		want         outcome
	}{
		{"both streams", "echo a; echo b >&2", commandLimits, outcome{output: []byte("a\nb\n"), printed: 4}},
		{"exit code", "exit 3", commandLimits, outcome{status: "exit code 3"}},
		{"signal", "kill -TERM $$", commandLimits, outcome{status: "killed by signal: terminated"}},
		{"cut", "printf 0123456789abc", small, outcome{output: []byte("0123456789"), printed: 13}},
		{"no input", "cat", commandLimits, outcome{}},
		{"clean environment", "echo $HOME$SECRET; env | grep -c .", commandLimits, outcome{output: []byte("\n3\n"), printed: 3}}, // PATH, LC_ALL and the shell's PWD
	}
	t.Setenv("SECRET", "hunter2")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := shellOut(t, t.Context(), tt.script, tt.l)
			if err != nil || !bytes.Equal(got.output, tt.want.output) || got.printed != tt.want.printed || got.status != tt.want.status {
				t.Errorf("got %q %+v, %v; want %q %+v", got.output, got, err, tt.want.output, tt.want)
			}
		})
	}
}

// A program that prints a gigabyte is stopped after the limit, and no more than the
// part to keep is in memory.
func TestExecuteStopsAFlood(t *testing.T) {
	got, err := shellOut(t, t.Context(), "head -c 1000000000 /dev/zero; echo unreached", limits{keep: 1 << 10, stop: 1 << 20, grace: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if !got.stopped || len(got.output) != 1<<10 || cap(got.output) > 64<<10 || got.printed > 64<<20 {
		t.Errorf("stopped %v after %d bytes with %d kept", got.stopped, got.printed, len(got.output))
	}
	if r := got.result(strings.NewReplacer()); !r.Truncated || !strings.Contains(r.Text, "[stopped: it printed more than") {
		t.Errorf("got %q", r.Text[max(0, len(r.Text)-200):])
	}
}

// gone polls until no process has the id.
func gone(pid int) bool {
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		if state, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat")); err != nil || bytes.Contains(state, []byte(") Z ")) {
			return true
		}
		<-time.After(5 * time.Millisecond)
	}
	return false
}

func pidFile(t *testing.T, path string) int {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		if data, err := os.ReadFile(path); err == nil && bytes.HasSuffix(data, []byte("\n")) {
			pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
		<-time.After(5 * time.Millisecond)
	}
	t.Fatalf("%s was not written", path)
	return 0
}

// A program that hangs and ignores signals is killed with its children and
// grandchildren when its context ends.
func TestExecuteKillsTheGroup(t *testing.T) {
	why := errors.New("the run was cancelled by its owner")
	ctx, cancel := context.WithCancelCause(t.Context())
	file := filepath.Join(t.TempDir(), "pid")
	done := make(chan error, 1)
	go func() {
		_, err := execute(ctx, []string{"/bin/sh", "-c", `trap "" TERM INT HUP; sh -c 'trap "" TERM; (sleep 1000 & echo $! > "$0.tmp"; mv "$0.tmp" "$0"; wait)' ` + file + ` & wait`}, "/", nil, commandLimits)
		done <- err
	}()
	grandchild := pidFile(t, file)
	cancel(why)
	if err := <-done; !errors.Is(err, context.Canceled) || !errors.Is(err, why) {
		t.Errorf("got %v, want the cancellation and its cause", err)
	}
	if !gone(grandchild) {
		t.Errorf("the grandchild %d still runs", grandchild)
		_ = unix.Kill(grandchild, unix.SIGKILL)
	}
}

// What a program leaves running behind it in its group is killed, and does not
// keep the call waiting although it holds the output open.
func TestExecuteKillsWhatIsLeft(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	got, err := shellOut(t, t.Context(), "sleep 1000 & echo $! > "+file+"; echo done", commandLimits)
	if err != nil || string(got.output) != "done\n" {
		t.Errorf("got %q, %v", got.output, err)
	}
	if pid := pidFile(t, file); !gone(pid) {
		t.Errorf("the process %d still runs", pid)
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}

// A process that has left the group and keeps the output open is waited for no
// longer than the grace.
func TestExecuteLeavesAnEscapedProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	got, err := shellOut(t, t.Context(), "setsid sh -c 'echo $$ > "+file+"; exec sleep 1000' & while ! [ -s "+file+" ]; do :; done; echo done", limits{keep: 100, stop: 100, grace: 50 * time.Millisecond})
	_ = unix.Kill(pidFile(t, file), unix.SIGKILL)
	if err != nil || string(got.output) != "done\n" {
		t.Errorf("got %q, %v", got.output, err)
	}
}

func TestExecuteDeadline(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := shellOut(t, ctx, "sleep 1000", commandLimits); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "running sh: stopped") {
		t.Errorf("got %v", err)
	}
	if _, err := shellOut(t, ctx, "echo x", commandLimits); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after the deadline: got %v", err)
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":       "plain\ttext\n",
		"a\r\nb\rc":           "a\nb\uFFFDc",
		"\x1b[31mred\x1b[0m":  "\uFFFD[31mred\uFFFD[0m",
		"\xff\xfe latin \xe4": "\uFFFD latin \uFFFD",
		"nul\x00del\x7f":      "nul\uFFFDdel\uFFFD",
		"c1 \u009b csi":       "c1 \uFFFD csi",
		"Grüße 日本 🙂":          "Grüße 日本 🙂",
	} {
		if got := clean([]byte(in)); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
	for _, s := range []string{"", "a", "ä", "日本", "🙂🙂"} {
		for n := range len(s) + 1 {
			if got := clean(whole([]byte(s[:n]))); strings.Contains(got, "\uFFFD") || !strings.HasPrefix(s, got) || len(s[:n])-len(got) > 3 {
				t.Errorf("%q cut at %d: %q", s, n, got)
			}
		}
	}
}
