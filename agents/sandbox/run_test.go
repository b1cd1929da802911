package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/agents/sandbox/sandboxtest"
	"github.com/svc-gateway/svc/internal/eventually"
)

func TestResults(t *testing.T) {
	sandboxtest.EveryMode(t, nil, func(t *testing.T, box *sandbox.Box) {
		for _, tc := range []struct {
			name, script string
			spec         sandbox.Spec
			want         sandbox.Result
		}{
			{name: "output", script: "echo out; echo err >&2; exit 3", want: sandbox.Result{Exit: 3, Stdout: "out\n", Stderr: "err\n"}},
			{name: "a signal", script: "kill -SEGV $$", want: sandbox.Result{Exit: -1, Signal: "SIGSEGV"}},
			{name: "input", script: "cat", spec: sandbox.Spec{Stdin: strings.NewReader("in")}, want: sandbox.Result{Stdout: "in"}},
			{name: "no input", script: "cat", want: sandbox.Result{}},
			{name: "environment", script: "env | grep -c .; echo $A $LC_ALL", spec: sandbox.Spec{Env: []string{"A=1", "A=2"}}, want: sandbox.Result{Stdout: "8\n2 C.UTF-8\n"}},
			{name: "timeout", script: "while true; do :; done", spec: sandbox.Spec{Timeout: 200 * time.Millisecond}, want: sandbox.Result{Exit: -1, Signal: "SIGKILL", TimedOut: true}},
			{name: "stopped", script: "kill -STOP $$", spec: sandbox.Spec{Timeout: 200 * time.Millisecond}, want: sandbox.Result{Exit: -1, Signal: "SIGKILL", TimedOut: true}},
			{name: "too much output", script: "head -c 3000 /dev/zero | tr '\\0' x", spec: sandbox.Spec{Limits: sandbox.Limits{Output: 10}}, want: sandbox.Result{Stdout: "xxxxxxxxxx", Truncated: true}},
			{name: "a flood", script: "yes", spec: sandbox.Spec{Limits: sandbox.Limits{Output: 4}}, want: sandbox.Result{Exit: -1, Signal: "SIGKILL", Stdout: "y\ny\n", Truncated: true}},
			{name: "terminal escapes", script: `printf 'a\033]0;title\007\033[2Jb\rc\r\nd\303(\302\2331m\t'`, want: sandbox.Result{Stdout: "a\uFFFD]0;title\uFFFD\uFFFD[2Jb\uFFFDc\nd\uFFFD(\uFFFD1m\t"}},
			{
				name: "files", spec: sandbox.Spec{Collect: true, Files: []sandbox.File{{Path: "in/a", Content: []byte("A")}, {Path: "run", Exec: true, Content: []byte("#!/bin/sh\necho ran\n")}}},
				script: "./run; cat in/a >b; ln -s /etc/passwd link; mkfifo pipe; mkdir d; echo x >d/x; ln in/a hard; chmod 000 b 2>/dev/null; rm in/a",
				want: sandbox.Result{Stdout: "ran\n", Files: []sandbox.File{
					{Path: "b", Size: 1, Content: []byte("A")},
					{Path: "d/x", Size: 2, Content: []byte("x\n")},
					{Path: "hard", Size: 1, Content: []byte("A")},
					{Path: "run", Size: 19, Exec: true, Content: []byte("#!/bin/sh\necho ran\n")},
				}, Left: []string{"link is not a regular file, or cannot be read", "pipe is not a regular file"}},
			},
			{
				name: "files after the timeout", spec: sandbox.Spec{Collect: true, Timeout: 300 * time.Millisecond}, script: "echo 1 >a; sleep 60",
				want: sandbox.Result{Exit: -1, Signal: "SIGKILL", TimedOut: true, Files: []sandbox.File{{Path: "a", Size: 2, Content: []byte("1\n")}}},
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				got := sh(t, box, tc.spec, tc.script)
				if got.DurationMS > 10_000 {
					t.Errorf("it took %d ms", got.DurationMS)
				}
				got.DurationMS, got.Degraded = 0, nil
				tc.want.Where = sandbox.Local
				if tc.want.Files == nil {
					tc.want.Files = []sandbox.File{}
				}
				if d := cmp.Diff(tc.want, got); d != "" {
					t.Errorf("(-want +got):\n%s", d)
				}
			})
		}
	})
}

func TestErrors(t *testing.T) {
	sandboxtest.EveryMode(t, func(c *sandbox.Config) { c.Hidden = []string{"/etc/ssl"}; c.Network = sandbox.NoNetwork }, func(t *testing.T, box *sandbox.Box) {
		for _, tc := range []struct {
			name string
			spec sandbox.Spec
			want string
		}{
			{"no program", sandbox.Spec{}, "a program is missing"},
			{"an unknown program", sandbox.Spec{Args: []string{"no-such-program"}}, "starting no-such-program: it is not installed, or not visible"},
			{"not a program", sandbox.Spec{Args: []string{"/usr"}}, "starting /usr: permission denied"},
			{"a zero byte", sandbox.Spec{Args: []string{"a\x00b"}}, "zero byte"},
			{"a hidden bind", sandbox.Spec{Args: []string{"ls"}, Binds: []sandbox.Bind{{Source: "/etc/ssl/certs"}}}, "hidden folder"},
			{"a missing bind", sandbox.Spec{Args: []string{"ls"}, Binds: []sandbox.Bind{{Source: "/no/such"}}}, "bind /no/such"},
			{"a device", sandbox.Spec{Args: []string{"ls"}, Binds: []sandbox.Bind{{Source: "/dev/zero", Target: "/z"}}}, "neither a file nor a folder"},
			{"a bind on /proc", sandbox.Spec{Args: []string{"ls"}, Binds: []sandbox.Bind{{Source: "/usr", Target: "/proc/1"}}}, "the sandbox's own"},
			{"a writable host", sandbox.Spec{Args: []string{"ls"}, Binds: []sandbox.Bind{{Source: "/", Writable: true}}}, "the root cannot be writable"},
			{"a file outside", sandbox.Spec{Args: []string{"ls"}, Files: []sandbox.File{{Path: "../a"}}}, "not a relative path"},
			{"a variable", sandbox.Spec{Args: []string{"ls"}, Env: []string{"A"}}, "write NAME=value"},
			{"a folder that is not there", sandbox.Spec{Args: []string{"ls"}, Dir: "/no/such"}, "cannot start in /no/such"},
			{"a network", sandbox.Spec{Args: []string{"ls"}, Network: "lan"}, `network: "lan" is unknown`},
		} {
			t.Run(tc.name, func(t *testing.T) {
				_, err := box.Run(t.Context(), tc.spec)
				if err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("got %v, want an error with %q", err, tc.want)
				}
				_, isCommand := errors.AsType[*sandbox.CommandError](err)
				if isCommand == errors.Is(err, sandbox.ErrSpec) || sandbox.IsUnavailable(err) {
					t.Errorf("%v has the wrong type", err)
				}
			})
		}
	})
}

func TestOpenWithoutHelper(t *testing.T) {
	_, err := sandbox.Open(t.Context(), sandbox.Config{Helper: "/no/such/svc-sandbox"})
	if !sandbox.IsUnavailable(err) || !strings.Contains(err.Error(), "sandbox_unavailable: there is no helper program /no/such/svc-sandbox") {
		t.Errorf("got %v", err)
	}
	old := filepath.Join(t.TempDir(), "old")
	if err := os.WriteFile(old, []byte("#!/bin/sh\necho 0.4.11\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err = sandbox.Open(t.Context(), sandbox.Config{Helper: old})
	if !sandbox.IsUnavailable(err) || !strings.Contains(err.Error(), "too old for harness features") {
		t.Errorf("got %v", err)
	}
}

// marked counts the processes of the host whose command line has a mark.
func marked(t *testing.T, mark string) (n int) {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		if text, err := os.ReadFile(p); err == nil && strings.Contains(string(text), mark) {
			n++
		}
	}
	return n
}

// Whatever a program starts and however it hides it, nothing is left when Run returns.
func TestNothingIsLeft(t *testing.T) {
	sandboxtest.EveryMode(t, nil, func(t *testing.T, box *sandbox.Box) {
		for i, script := range []string{
			"sleep %s &",
			"setsid sleep %s & echo started",
			"(setsid sh -c 'setsid sleep %s & exec sleep %[1]s' &) ; (sleep %[1]s &)",
			"sleep %s <&- >&- 2>&- &",
			"sleep %s & kill -STOP $!",
			"trap '' TERM HUP INT; nohup sleep %s & disown -a",
			"for i in 1 2 3 4 5; do (while :; do sleep %s & done) & done; sleep 0.1",
			"exec sleep %s",
			"kill -STOP $$; sleep %s",
		} {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				mark := fmt.Sprintf("60.%d%d", os.Getpid(), time.Now().UnixNano())
				start := time.Now()
				sh(t, box, sandbox.Spec{Timeout: 500 * time.Millisecond}, strings.NewReplacer("%[1]s", mark, "%s", mark).Replace(script))
				if n := marked(t, mark); n != 0 {
					t.Errorf("%d processes are left", n)
				}
				if d := time.Since(start); d > 10*time.Second {
					t.Errorf("it took %s", d)
				}
			})
		}
	})
}

func TestCancel(t *testing.T) {
	sandboxtest.EveryMode(t, nil, func(t *testing.T, box *sandbox.Box) {
		mark := fmt.Sprintf("60.%d", time.Now().UnixNano())
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		_, err := box.Run(ctx, sandbox.Spec{Args: []string{"sleep", mark}})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the context's error", err)
		}
		if n := marked(t, mark); n != 0 {
			t.Errorf("%d processes are left", n)
		}
	})
}

// The limits hold, for all processes of a sandbox together where the host can.
func TestLimits(t *testing.T) {
	sandboxtest.EveryMode(t, func(c *sandbox.Config) {
		c.Limits = sandbox.Limits{Memory: 128 << 20, Processes: 20, OpenFiles: 64, Workspace: 4 << 20, Files: 50}
	}, func(t *testing.T, box *sandbox.Box) {
		lacks := func(r sandbox.Result, word string) bool { return slices.Contains(r.Degraded, word) }
		t.Run("processes", func(t *testing.T) {
			// bash would try again and again
			r := sh(t, box, sandbox.Spec{}, "exec sh -c 'i=0; while [ $i -lt 60 ]; do sleep 5 & i=$((i+1)); done; echo all'")
			if r.Stdout != "" {
				t.Errorf("60 processes were started: %+v", r)
			}
		})
		t.Run("memory of one", func(t *testing.T) {
			r := sh(t, box, sandbox.Spec{}, "head -c 400M /dev/zero | tail -c 300M | wc -c")
			if strings.TrimSpace(r.Stdout) == "314572800" {
				t.Error("300 MiB were kept in memory")
			}
		})
		t.Run("memory of all", func(t *testing.T) {
			r := sh(t, box, sandbox.Spec{Timeout: 20 * time.Second}, "for i in 1 2 3 4; do (head -c 62M /dev/zero | tail -c 60M | (sleep 1; wc -c)) & done; wait")
			if !lacks(r, "no_memory_group") && !r.OOM {
				t.Errorf("240 MiB were kept in memory: %+v", r)
			}
		})
		t.Run("disk", func(t *testing.T) {
			r := sh(t, box, sandbox.Spec{Collect: true}, "for i in 1 2 3 4 5 6 7 8; do head -c 1M /dev/zero >f$i || exit 9; done; sleep 1; exit 0")
			if r.Exit == 0 {
				t.Error("8 MiB were written")
			}
			var size int64
			for _, f := range r.Files {
				size += f.Size
			}
			if size > 4<<20 {
				t.Errorf("%d bytes were collected", size)
			}
		})
		t.Run("files", func(t *testing.T) {
			if box.Mode() == "minimal" {
				return
			}
			r := sh(t, box, sandbox.Spec{}, "for i in $(seq 200); do : >f$i || exit 9; done")
			if r.Exit != 9 {
				t.Errorf("200 files were made: %+v", r)
			}
		})
		t.Run("open files", func(t *testing.T) {
			r := sh(t, box, sandbox.Spec{}, "ulimit -n; ulimit -n 1000")
			if strings.TrimSpace(r.Stdout) != "64" || r.Exit == 0 {
				t.Errorf("got %+v", r)
			}
		})
	})
}

// A fork bomb is gone soon after its time is over.
func TestForkBomb(t *testing.T) {
	sandboxtest.EveryMode(t, nil, func(t *testing.T, box *sandbox.Box) {
		const timeout = 500 * time.Millisecond
		mark := fmt.Sprintf("bomb%d", time.Now().UnixNano())
		start := time.Now()
		r := sh(t, box, sandbox.Spec{Timeout: timeout}, ": "+mark+"; b() { b | b & }; b; sleep 60")
		took := time.Since(start) - timeout
		t.Logf("gone %s after its time", took)
		if !r.TimedOut || took > 5*time.Second {
			t.Errorf("got %+v after %s", r, took)
		}
		if n := marked(t, mark); n != 0 {
			t.Errorf("%d processes are left", n)
		}
	})
}

func TestFiftyAtOnce(t *testing.T) {
	sandboxtest.EveryMode(t, nil, func(t *testing.T, box *sandbox.Box) {
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				r, err := box.Run(t.Context(), sandbox.Spec{Args: []string{"sh", "-c", fmt.Sprintf("echo %d >f; cat f", i)}})
				if err != nil || strings.TrimSpace(r.Stdout) != fmt.Sprint(i) || r.Exit != 0 {
					t.Errorf("%d: got %+v, %v", i, r, err)
				}
			})
		}
		all.Wait()
	})
}

// What one program leaves in its workspace, the next does not find.
func TestNothingPersists(t *testing.T) {
	sandboxtest.EveryMode(t, nil, func(t *testing.T, box *sandbox.Box) {
		const script = "find . /tmp /dev/shm -name left 2>/dev/null | wc -l; for d in . /tmp /dev/shm; do touch $d/left; done 2>/dev/null; true"
		for range 2 {
			if r := sh(t, box, sandbox.Spec{}, script); strings.TrimSpace(r.Stdout) != "0" {
				t.Errorf("something was left: %q", r.Stdout)
			}
		}
	})
}

// A helper that dies takes its sandboxes along, and the next run starts another.
func TestHelperDies(t *testing.T) {
	sandboxtest.EveryMode(t, nil, func(t *testing.T, box *sandbox.Box) {
		mark := fmt.Sprintf("60.%d", time.Now().UnixNano())
		done := make(chan error, 1)
		go func() {
			_, err := box.Run(t.Context(), sandbox.Spec{Args: []string{"sleep", mark}})
			done <- err
		}()
		eventually.True(t, "the program runs", func() bool { return marked(t, mark) > 0 })
		if p, err := os.FindProcess(box.Helper()); err != nil || p.Kill() != nil {
			t.Fatal("the helper cannot be killed")
		}
		if err := <-done; !sandbox.IsUnavailable(err) {
			t.Errorf("got %v", err)
		}
		eventually.True(t, "the program ends", func() bool { return marked(t, mark) == 0 })
		if r := sh(t, box, sandbox.Spec{}, "echo again"); r.Stdout != "again\n" {
			t.Errorf("got %+v", r)
		}
	})
}

// The service is killed: its sandboxes end, and the helper.
func TestServiceDies(t *testing.T) {
	sandboxtest.EveryMode(t, nil, func(t *testing.T, box *sandbox.Box) {
		mark := fmt.Sprintf("60.%d", time.Now().UnixNano())
		dir := sandboxtest.Config(t, "svc-sandbox").Dir
		cmd := exec.Command(sandboxtest.Program(t))
		cmd.Env = append(os.Environ(), service+"="+mark, "SVC_SANDBOX_TEST_MODE="+box.Mode(), "SVC_SANDBOX_TEST_HELPER="+sandboxtest.Helper(t, "svc-sandbox"), "SVC_SANDBOX_TEST_RUN="+dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		eventually.True(t, "the program runs", func() bool { return marked(t, "sleep\x00"+mark) == 2 })
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // killed
		eventually.True(t, "the program ends", func() bool { return marked(t, mark) == 0 })
	})
}

// The first process of a sandbox is killed, by the kernel for want of memory for example: what it watched
// over ends all the same.
func TestFirstProcessDies(t *testing.T) {
	sandboxtest.EveryMode(t, nil, func(t *testing.T, box *sandbox.Box) {
		mark := fmt.Sprintf("60.%d", time.Now().UnixNano())
		done := make(chan error, 1)
		go func() {
			_, err := box.Run(t.Context(), sandbox.Spec{Args: []string{"sh", "-c", "setsid sleep " + mark + " & exec sleep " + mark}})
			done <- err
		}()
		eventually.True(t, "the program runs", func() bool { return marked(t, "sleep\x00"+mark) == 2 })
		first := childOf(t, box.Helper(), "inside", mark)
		if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if err := <-done; !sandbox.IsUnavailable(err) || !strings.Contains(err.Error(), "without a report") {
			t.Errorf("got %v", err)
		}
		if n := marked(t, mark); n != 0 {
			t.Errorf("%d processes are left", n)
		}
	})
}

// childOf finds the child of a process with a word in its command line that has the parent of the
// marked one, or is it.
func childOf(t *testing.T, parent int, word, mark string) int {
	t.Helper()
	parents := map[int]int{}
	var named, with []int
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			continue
		}
		var pid, ppid int
		var state string
		pid, _ = strconv.Atoi(filepath.Base(filepath.Dir(p)))
		if _, err := fmt.Sscan(string(text[strings.LastIndexByte(string(text), ')')+1:]), &state, &ppid); err != nil {
			continue
		}
		parents[pid] = ppid
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(p), "cmdline"))
		if ppid == parent && strings.Contains(string(line), word) {
			named = append(named, pid)
		}
		if strings.Contains(string(line), mark) {
			with = append(with, pid)
		}
	}
	for _, pid := range named {
		if slices.ContainsFunc(with, func(w int) bool { return parents[w] == pid }) {
			return pid
		}
	}
	t.Fatal("the first process is not found")
	return 0
}

// TestOutputAsItComes has all output go to a writer, however much it is.
func TestOutputAsItComes(t *testing.T) {
	sandboxtest.EveryMode(t, nil, func(t *testing.T, box *sandbox.Box) {
		var out strings.Builder
		res, err := box.Run(t.Context(), sandbox.Spec{
			Args: []string{"sh", "-c", `head -c 3000000 /dev/zero | tr '\0' x; echo told >&2`}, Output: &out, Limits: sandbox.Limits{Output: 10},
		})
		if err != nil || out.Len() != 3_000_000 || res.Stdout != "" || res.Stderr != "told\n" || res.Truncated || res.Exit != 0 {
			t.Errorf("got %d bytes, %+v, %v", out.Len(), res, err)
		}
	})
}
