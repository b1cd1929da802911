package remote_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/agents/sandbox/remote"
)

func sh(line string) sandbox.Spec {
	return sandbox.Spec{Args: []string{"bash", "-c", line}, Collect: true}
}

func TestRun(t *testing.T) {
	input := filepath.Join(t.TempDir(), "data.bin")
	if err := os.WriteFile(input, []byte("snapshot"), 0o600); err != nil {
		t.Fatal(err)
	}
	everywhere(t, func(t *testing.T, x *fixture) {
		b := x.open(nil)
		for _, tc := range []struct {
			name string
			spec sandbox.Spec
			want sandbox.Result
		}{
			{"outputs", sh("echo out; echo err >&2; exit 3"), sandbox.Result{Exit: 3, Stdout: "out\n", Stderr: "err\n"}},
			{"quotes", sandbox.Spec{Args: []string{"printf", "%s|", "it's", `a "b" $c`, "d\ne", ""}}, sandbox.Result{Stdout: "it's|a \"b\" $c|d\ne||"}},
			{"a signal", sh("kill -SEGV $$"), sandbox.Result{Exit: -1, Signal: "SIGSEGV"}},
			{"an environment", sandbox.Spec{Args: []string{"bash", "-c", `echo $X $PROVIDER_TOKEN; [ "$PWD" = "$HOME" ] && ls -A`}, Env: []string{"X=1 2"}}, sandbox.Result{Stdout: "1 2\n"}},
			{"no input", sh("cat"), sandbox.Result{}},
			{"not text", sh(`printf 'a\033[31m\377'`), sandbox.Result{Stdout: "a\uFFFD[31m\uFFFD"}},
			{"a file", sandbox.Spec{Args: []string{"sh", "-c", "cat sub/a; sub/run"}, Files: []sandbox.File{{Path: "sub/a", Content: []byte("A\n")}, {Path: "sub/run", Exec: true, Content: []byte("#!/bin/sh\necho B\n")}}}, sandbox.Result{Stdout: "A\nB\n"}},
			{"a database", sandbox.Spec{Args: []string{"sh", "-c", "cat $SVC_DATABASE"}, Database: &sandbox.Database{File: input}}, sandbox.Result{Stdout: "snapshot"}},
			{"a database in a file", sandbox.Spec{Args: []string{"sh", "x"}, Files: []sandbox.File{{Path: "x", Content: []byte("cat $SVC_DATABASE")}}, Database: &sandbox.Database{File: input}}, sandbox.Result{Stdout: "snapshot"}},
			{"a database for nothing", sandbox.Spec{Args: []string{"sh", "-c", "env | grep -c DATA; ls ../*.duckdb 2>&-"}, Database: &sandbox.Database{File: input + ".none"}}, sandbox.Result{Exit: 2, Stdout: "0\n"}},
			{"cut", sandbox.Spec{Args: []string{"seq", "1000"}, Limits: sandbox.Limits{Output: 10}}, sandbox.Result{Stdout: "1\n2\n3\n4\n5\n", Truncated: true}},
		} {
			t.Run(tc.name, func(t *testing.T) {
				got, err := b.Run(t.Context(), tc.spec)
				if err != nil {
					t.Fatal(err)
				}
				got.DurationMS = 0
				tc.want.Files, tc.want.Where, tc.want.Degraded = []sandbox.File{}, x.p.name, []string{remote.NoEgressRecord, remote.ProviderLimits}
				if d := cmp.Diff(tc.want, got); d != "" {
					t.Errorf("-want +got:\n%s", d)
				}
			})
		}
		if left := x.fleet.Left(); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
		x.noKey()
	})
}

func TestResultFiles(t *testing.T) {
	everywhere(t, func(t *testing.T, x *fixture) {
		b := x.open(nil)
		got, err := b.Run(t.Context(), sh("mkdir b; echo b >b/c; echo a >a; chmod +x a; ln -s /etc/passwd link; mkfifo pipe; touch 'x'$'\\033''y'"))
		if err != nil {
			t.Fatal(err)
		}
		want := []sandbox.File{{Path: "a", Size: 2, Exec: true, Content: []byte("a\n")}, {Path: "b/c", Size: 2, Content: []byte("b\n")}}
		if d := cmp.Diff(want, got.Files); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
		slices.Sort(got.Left)
		if d := cmp.Diff([]string{"a file with a name that cannot be used here", "link: not a regular file", "pipe: not a regular file"}, got.Left); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
	})
}

// A program that does not end is stopped with all that it has started, and what it printed comes back.
func TestTimeout(t *testing.T) {
	everywhere(t, func(t *testing.T, x *fixture) {
		b := x.open(nil)
		start := time.Now()
		s := sh("sleep 76543.21 & echo started; while true; do :; done")
		s.Timeout = 300 * time.Millisecond
		got, err := b.Run(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if !got.TimedOut || got.Exit != -1 || got.Signal != "SIGKILL" || got.Stdout != "started\n" || time.Since(start) > 12*time.Second {
			t.Errorf("got %+v after %s", got, time.Since(start))
		}
		if left := x.fleet.Left(); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
		gone(t, "76543.21")
		if x.p.name == "runloop" && !slices.Contains(x.fleet.Calls(), "POST /v1/devboxes/ID/executions/exec-1/kill") {
			t.Errorf("nothing was killed: %v", x.fleet.Calls())
		}
	})
}

// The box's clock is for everything: a sandbox that never starts is given back when it has run out.
func TestNeverReady(t *testing.T) {
	everywhere(t, func(t *testing.T, x *fixture) {
		b := x.open(func(c *remote.Config) { c.Timeout = 700 * time.Millisecond })
		x.fleet.Break(faultNeverReady)
		_, err := b.Run(t.Context(), sh("echo"))
		if !sandbox.IsUnavailable(err) || !strings.Contains(err.Error(), "did not start within 700ms (runtime.timeout)") {
			t.Errorf("got %v", err)
		}
		x.empty()
	})
}

func TestCancel(t *testing.T) {
	everywhere(t, func(t *testing.T, x *fixture) {
		b := x.open(nil)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ended := make(chan error, 1)
		mark := filepath.Join(t.TempDir(), "mark")
		go func() {
			_, err := b.Run(ctx, sh("echo >"+mark+"; sleep 87651.5"))
			ended <- err
		}()
		appears(t, mark)
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		x.empty()
		gone(t, "87651.5")
	})
}

func TestOffline(t *testing.T) {
	everywhere(t, func(t *testing.T, x *fixture) {
		b := x.open(func(c *remote.Config) { c.Network = sandbox.NoNetwork })
		mark := filepath.Join(t.TempDir(), "mark")
		type end struct {
			r   sandbox.Result
			err error
		}
		ended := make(chan end, 1)
		go func() {
			r, err := b.Run(t.Context(), sh("echo >"+mark+"; until [ -e "+mark+".go ]; do sleep 0.02; done"))
			ended <- end{r, err}
		}()
		appears(t, mark)
		for _, m := range x.fleet.Machines() {
			if !m.Offline {
				t.Error("the sandbox has a network")
			}
		}
		if err := os.WriteFile(mark+".go", nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if e := <-ended; e.err != nil || slices.Contains(e.r.Degraded, remote.NoEgressRecord) {
			t.Errorf("got %+v, %v", e.r, e.err)
		}
	})
}

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	big := filepath.Join(dir, "big")
	if err := os.WriteFile(big, make([]byte, 2000), 0o600); err != nil {
		t.Fatal(err)
	}
	everywhere(t, func(t *testing.T, x *fixture) {
		b := x.open(func(c *remote.Config) { c.Upload = 1500 })
		for _, tc := range []struct {
			name string
			spec sandbox.Spec
			want string
		}{
			{"no program", sandbox.Spec{}, "a program is missing"},
			{"zero byte", sandbox.Spec{Args: []string{"a\x00"}}, "zero byte"},
			{"a bind", sandbox.Spec{Args: []string{"ls"}, Binds: []sandbox.Bind{{Source: "/etc"}}}, "a remote sandbox shows nothing of this host"},
			{"a folder", sandbox.Spec{Args: []string{"ls"}, Dir: "/etc"}, "dir: "},
			{"stdin", sandbox.Spec{Args: []string{"ls"}, Stdin: bytes.NewReader(nil)}, "stdin: "},
			{"a variable", sandbox.Spec{Args: []string{"ls"}, Env: []string{"A-B=1"}}, `"A-B" is not a variable`},
			{"a path", sandbox.Spec{Args: []string{"ls"}, Files: []sandbox.File{{Path: "../x"}}}, "not a relative path"},
			{"no database", sandbox.Spec{Args: []string{"SVC_DATABASE"}, Database: &sandbox.Database{File: dir + "/none"}}, "no such file"},
			{"a device", sandbox.Spec{Args: []string{"SVC_DATABASE"}, Database: &sandbox.Database{File: "/dev/zero"}}, "not a regular file"},
			{"much", sandbox.Spec{Args: []string{"SVC_DATABASE"}, Database: &sandbox.Database{File: big}}, "set sandbox.upload_size higher"},
		} {
			if _, err := b.Run(t.Context(), tc.spec); !errors.Is(err, sandbox.ErrSpec) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: got %v, want %q", tc.name, err, tc.want)
			}
		}
		if n := x.fleet.Made(); n > 0 {
			t.Errorf("%d sandboxes were made", n)
		}
	})
}

func TestNoSuchProgram(t *testing.T) {
	everywhere(t, func(t *testing.T, x *fixture) {
		b := x.open(nil)
		_, err := b.Run(t.Context(), sandbox.Spec{Args: []string{"no-such-program"}})
		if c, ok := errors.AsType[*sandbox.CommandError](err); !ok || !strings.Contains(c.Reason, `no program "no-such-program" in the sandbox of `+x.p.name) {
			t.Errorf("got %v", err)
		}
		x.empty()
	})
}

// A program that writes without end is stopped, and what comes back of it is bounded.
func TestFlood(t *testing.T) {
	everywhere(t, func(t *testing.T, x *fixture) {
		b := x.open(func(c *remote.Config) { c.Limits = sandbox.Limits{Workspace: 1 << 20, Output: 1000, Files: 4} })
		got, err := b.Run(t.Context(), sh("yes"))
		if err != nil {
			t.Fatal(err)
		}
		if !got.Truncated || len(got.Stdout) != 1000 || got.TimedOut || got.Exit == 0 {
			t.Errorf("got %d bytes, %+v", len(got.Stdout), got.Signal)
		}
		got, err = b.Run(t.Context(), sh("for i in 1 2 3; do head -c 1000000 /dev/zero >$i; done"))
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Files) != 1 || !slices.ContainsFunc(got.Left, func(s string) bool { return strings.HasPrefix(s, "the rest: ") }) {
			t.Errorf("got %d files, left %v", len(got.Files), got.Left)
		}
	})
}
