package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/internal/eventually"
)

func shellOut(t *testing.T, ctx context.Context, k keeper, script string, l limits) (outcome, error) {
	t.Helper()
	return executeWith(ctx, k, []string{"/bin/sh", "-c", script}, surroundings{t.TempDir(), searchPath}, nil, l)
}

// everyKeeper runs a test with each way to keep hold of processes that can be had here.
func everyKeeper(t *testing.T, test func(t *testing.T, k keeper)) {
	t.Helper()
	if namespaces() {
		t.Run("namespace", func(t *testing.T) { test(t, keeper{}) })
	}
	t.Run("reaper", func(t *testing.T) { test(t, newReaper()) })
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
		{"cut", "printf 0123456789abc", small, outcome{output: []byte("0123456789"), printed: 13}},
		{"no input", "cat", commandLimits, outcome{}},
		{"clean environment", "echo $HOME$SECRET; env | grep -vc ^SVC_CALL=", commandLimits, outcome{output: []byte("\n3\n"), printed: 3}}, // PATH, LC_ALL and the shell's PWD
	}
	t.Setenv("SECRET", "hunter2")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := shellOut(t, t.Context(), newKeeper(), tt.script, tt.l)
			if err != nil || !bytes.Equal(got.output, tt.want.output) || got.printed != tt.want.printed || got.status != tt.want.status {
				t.Errorf("got %q %+v, %v; want %q %+v", got.output, got, err, tt.want.output, tt.want)
			}
		})
	}
}

// A program that prints a gigabyte is stopped after the limit, and no more than the
// part to keep is in memory.
func TestExecuteStopsAFlood(t *testing.T) {
	got, err := shellOut(t, t.Context(), newKeeper(), "head -c 1000000000 /dev/zero; echo unreached", limits{keep: 1 << 10, stop: 1 << 20, grace: 5 * time.Second})
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

// napper is a command line that sleeps for long and is no other process's.
func napper() string { return "sleep 1" + strings.Repeat("0", 5) + fmt.Sprint(time.Now().UnixNano()) }

// napping reports whether a process has the command line, and asks again until it is as wanted or
// ten seconds are over.
func napping(line string, want bool) bool {
	for deadline := time.Now().Add(10 * time.Second); ; <-time.After(5 * time.Millisecond) {
		found := napperOf(line) != 0
		if found == want || time.Now().After(deadline) {
			return found
		}
	}
}

// napperOf is the process with the command line, 0 when there is none.
func napperOf(line string) (pid int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is well-formed
	for _, f := range files {
		if argv, err := os.ReadFile(f); err == nil && string(bytes.ReplaceAll(argv, []byte{0}, []byte(" "))) == line+" " {
			pid, _ = strconv.Atoi(filepath.Base(filepath.Dir(f))) // it has digits only
		}
	}
	return pid
}

// A program that hangs and ignores signals is killed with its children and
// grandchildren when its context ends, also with one that has left its group.
func TestExecuteKillsTheGroup(t *testing.T) {
	everyKeeper(t, func(t *testing.T, k keeper) {
		why := errors.New("the run was cancelled by its owner")
		ctx, cancel := context.WithCancelCause(t.Context())
		inside, away := napper(), napper()
		done := make(chan error, 1)
		go func() {
			_, err := shellOut(t, ctx, k, `trap "" TERM INT HUP; sh -c 'trap "" TERM; (`+inside+` & setsid sh -c "`+away+` & wait" & wait)' & wait`, commandLimits)
			done <- err
		}()
		if !napping(inside, true) || !napping(away, true) {
			t.Fatal("the processes did not begin")
		}
		cancel(why)
		if err := <-done; !errors.Is(err, context.Canceled) || !errors.Is(err, why) {
			t.Errorf("got %v, want the cancellation and its cause", err)
		}
		if napping(inside, false) || napping(away, false) {
			t.Error("a process still runs")
		}
	})
}

// What a program leaves running behind it is killed, in its group or not, and does not
// keep the call waiting although it holds the output open.
func TestExecuteKillsWhatIsLeft(t *testing.T) {
	everyKeeper(t, func(t *testing.T, k keeper) {
		inside, away := napper(), napper()
		got, err := shellOut(t, t.Context(), k, inside+` & setsid sh -c "setsid sh -c '`+away+` & wait' & wait" & sleep 0.3; echo done`, commandLimits)
		if err != nil || string(got.output) != "done\n" {
			t.Errorf("got %q, %v", got.output, err)
		}
		if napping(inside, false) || napping(away, false) {
			t.Error("a process still runs")
		}
	})
}

// A process that has got away and keeps the output open is waited for no longer than the
// grace.
func TestExecuteLeavesAnEscapedProcess(t *testing.T) {
	away := napper()
	got, err := shellOut(t, t.Context(), newReaper(), "env -i setsid "+away+" & sleep 0.3; echo done", limits{keep: 100, stop: 100, grace: time.Second})
	if err != nil || string(got.output) != "done\n" {
		t.Errorf("got %q, %v", got.output, err)
	}
	if err := unix.Kill(napperOf(away), unix.SIGKILL); err != nil {
		t.Errorf("ending the process: %v", err)
	}
}

// Nothing that a program left behind, whether it was killed or ended by itself, remains as a zombie.
func TestExecuteLeavesNoZombies(t *testing.T) {
	for _, line := range []string{
		"sleep 1000 & sleep 1000 & echo done",
		"setsid sleep 1000 & sleep 0.1; echo done",
		"setsid true & sleep 0.1; echo done",
		"env -i setsid true & sleep 0.1; echo done",
	} {
		if got, err := shellOut(t, t.Context(), newReaper(), line, commandLimits); err != nil || string(got.output) != "done\n" {
			t.Errorf("%s: got %q, %v", line, got.output, err)
		}
		// One that has just been killed becomes a zombie before it is reaped.
		eventually.True(t, "no zombies are left by "+line, func() bool { return len(zombies(t)) == 0 })
	}
}

// zombies are the children of this process that nobody has reaped, as folders of /proc.
func zombies(t *testing.T) (dirs []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range all {
		if p, ok := statOf(dir); ok && p.zombie && p.parent == os.Getpid() {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

func TestExecuteDeadline(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := shellOut(t, ctx, newKeeper(), "sleep 1000", commandLimits); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "running sh: stopped") {
		t.Errorf("got %v", err)
	}
	if _, err := shellOut(t, ctx, newKeeper(), "echo x", commandLimits); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after the deadline: got %v", err)
	}
}
