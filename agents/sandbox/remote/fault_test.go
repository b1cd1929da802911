package remote_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/agents/sandbox/remote"
	"github.com/svc-gateway/svc/agents/sandbox/remote/remotetest"
)

var faultNeverReady = remotetest.Faults{NeverReady: true}

// appears waits for a file.
func appears(t *testing.T, path string) {
	t.Helper()
	poll(t, path+" does not appear", func() bool { _, err := os.Stat(path); return err == nil })
}

// gone waits until no process has the word in its command line.
func gone(t *testing.T, word string) {
	t.Helper()
	poll(t, "a process is left: "+word, func() bool {
		found, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		return !slices.ContainsFunc(found, func(path string) bool {
			line, err := os.ReadFile(path)
			return err == nil && strings.HasPrefix(string(line), "sleep\x00"+word)
		})
	})
}

func poll(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(15 * time.Second); !is(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
	}
}

// What goes wrong for a while does not matter.
func TestPassingFaults(t *testing.T) {
	for name, faults := range map[string]remotetest.Faults{
		"slow start":  {SlowStart: 3},
		"busy":        {Busy: 2},
		"busy, told":  {Busy: 1, RetryAfter: "1"},
		"two deletes": {FailDelete: 2},
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, func(t *testing.T, x *fixture) {
				b := x.open(nil)
				x.until("the first look for orphans", func(int, string) bool { return len(x.fleet.Calls()) > 0 })
				x.fleet.Break(faults)
				got, err := b.Run(t.Context(), sh("echo done"))
				if err != nil || got.Stdout != "done\n" {
					t.Fatalf("got %+v, %v", got, err)
				}
				x.empty()
				if slices.Contains(got.Degraded, remote.NotDeleted) {
					t.Errorf("got %v", got.Degraded)
				}
				x.noKey()
			})
		})
	}
}

// A deletion that fails is told, stands in the result when the run does not wait for it, and is repeated
// until it succeeds.
func TestDeletionFails(t *testing.T) {
	everywhere(t, func(t *testing.T, x *fixture) {
		b := x.open(func(c *remote.Config) { c.Pace.Retry = 2 * time.Second })
		x.fleet.Break(remotetest.Faults{FailDelete: 100})
		got, err := b.Run(t.Context(), sh("echo done"))
		if err != nil || !slices.Contains(got.Degraded, remote.NotDeleted) {
			t.Fatalf("got %+v, %v", got, err)
		}
		x.until("one is not deleted", func(n int, reason string) bool { return n == 1 && reason == "refused" })
		if n := x.logs.FilterMessageSnippet("could not be deleted; it is tried again").Len(); n == 0 {
			t.Error("no warning")
		}
		x.fleet.Break(remotetest.Faults{})
		x.empty()
		x.until("all are deleted", func(n int, reason string) bool { return n == 0 && reason == "" })
		x.noKey()
	})
}

// Orphans of this installation are deleted at the start; those of others are nobody's business here.
func TestOrphans(t *testing.T) {
	everywhere(t, func(t *testing.T, x *fixture) {
		for range 3 {
			x.fleet.Add(map[string]string{remote.LabelInstallation: installation, remote.LabelRun: "dead"})
		}
		other := x.fleet.Add(map[string]string{remote.LabelInstallation: "another", remote.LabelRun: "dead"})
		bare := x.fleet.Add(nil)
		x.open(nil)
		poll(t, "orphans are left", func() bool { return slices.Equal(x.fleet.Left(), []string{other.ID, bare.ID}) })
	})
}

// A sandbox that was made without anybody here learning of it is found and deleted.
func TestLostCreate(t *testing.T) {
	everywhere(t, func(t *testing.T, x *fixture) {
		if x.p.name == "modal" {
			t.Skip("the SDK repeats calls by itself, with a key that makes them one; see TestOrphans")
		}
		b := x.open(func(c *remote.Config) { c.Pace.Sweep = 50 * time.Millisecond })
		x.fleet.Break(remotetest.Faults{LostCreate: true})
		_, err := b.Run(t.Context(), sh("echo"))
		if !sandbox.IsUnavailable(err) || x.fleet.Made() != 1 {
			t.Errorf("got %v, %d made", err, x.fleet.Made())
		}
		x.fleet.Break(remotetest.Faults{})
		x.empty()
	})
}

// A run that is under way is no orphan, however often they are looked for.
func TestNoOrphan(t *testing.T) {
	everywhere(t, func(t *testing.T, x *fixture) {
		b := x.open(func(c *remote.Config) { c.Pace.Sweep = 10 * time.Millisecond })
		x.fleet.Break(remotetest.Faults{SlowStart: 3})
		got, err := b.Run(t.Context(), sh("sleep 0.5; echo done"))
		if err != nil || got.Stdout != "done\n" {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

// When the connection is lost while a program runs, it is asked for again where the API allows that;
// where not, the run is an error and the sandbox goes.
func TestLostExecution(t *testing.T) {
	everywhere(t, func(t *testing.T, x *fixture) {
		b := x.open(nil)
		x.fleet.Break(remotetest.Faults{LostExec: 1})
		got, err := b.Run(t.Context(), sh("sleep 0.2; echo done"))
		if x.p.name == "daytona" {
			if err == nil || !strings.Contains(err.Error(), "how it went is not known; the sandbox is being deleted") {
				t.Errorf("got %+v, %v", got, err)
			}
		} else if err != nil || got.Stdout != "done\n" {
			t.Errorf("got %+v, %v", got, err)
		}
		x.empty()
	})
}

// What the server writes reaches the log only, without the key in it.
func TestErrors(t *testing.T) {
	for _, tc := range []struct {
		name   string
		faults remotetest.Faults
		want   string
		skip   string // provider whose SDK does this by itself
	}{
		{"garbage", remotetest.Faults{Garbage: true}, "the answer is not the JSON", "modal"},
		{"a redirect", remotetest.Faults{RedirectTo: "http://192.0.2.1/elsewhere"}, "redirect, which is not followed", "modal"},
		{"broken", remotetest.Faults{Fail: 1000}, "the server answered ", ""},
		{"busy for long", remotetest.Faults{Busy: 1000, RetryAfter: "3600"}, "the time of the call is over before it may be repeated (in 1h0m0s)", "modal"},
		{"a large answer", remotetest.Faults{BigAnswer: 64 << 20}, "its result did not come", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			everywhere(t, func(t *testing.T, x *fixture) {
				if tc.skip == x.p.name {
					t.Skip("this is the SDK's own")
				}
				b := x.open(nil)
				x.fleet.Break(tc.faults)
				_, err := b.Run(t.Context(), sh("echo"))
				if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), remotetest.Key) || strings.Contains(err.Error(), "out of order") || strings.Contains(err.Error(), "Internal server error, key") {
					t.Errorf("got %v, want %q", err, tc.want)
				}
				x.fleet.Break(remotetest.Faults{})
				x.empty()
				x.noKey()
			})
		})
	}
}

func TestWrongKey(t *testing.T) {
	everywhere(t, func(t *testing.T, x *fixture) {
		x.p.open = wrongKeys[x.p.name]
		b := x.open(nil)
		_, err := b.Run(t.Context(), sh("echo"))
		if !sandbox.IsUnavailable(err) || !strings.Contains(err.Error(), "allow this?") || !strings.Contains(err.Error(), "sandbox."+x.p.name) || strings.Contains(err.Error(), "wrong-key") {
			t.Errorf("got %v", err)
		}
		x.until("it is refused", func(_ int, reason string) bool { return reason == "refused" })
		for _, e := range x.logs.All() {
			for _, v := range e.ContextMap() {
				if s, ok := v.(string); ok && strings.Contains(s, "wrong-key") {
					t.Errorf("the log has the key: %s", s)
				}
			}
		}
	})
}

// What does not answer is an error in time.
func TestUnreachable(t *testing.T) {
	everywhere(t, func(t *testing.T, x *fixture) {
		b := x.open(func(c *remote.Config) { c.Timeout = 3 * time.Second })
		x.server.Close()
		start := time.Now()
		if _, err := b.Run(t.Context(), sh("echo")); !sandbox.IsUnavailable(err) || time.Since(start) > 10*time.Second {
			t.Errorf("got %v after %s", err, time.Since(start))
		}
	})
}

// Lists lag behind: an orphan that is not in the first one is found later.
func TestLaggingList(t *testing.T) {
	everywhere(t, func(t *testing.T, x *fixture) {
		x.fleet.Add(map[string]string{remote.LabelInstallation: installation, remote.LabelRun: "dead"})
		x.fleet.Break(remotetest.Faults{HideFromAll: true})
		x.open(func(c *remote.Config) { c.Pace.Sweep = 20 * time.Millisecond })
		poll(t, "nobody looks", func() bool { return len(x.fleet.Calls()) >= 6 })
		if n := len(x.fleet.Left()); n != 1 {
			t.Errorf("%d left", n)
		}
		x.fleet.Break(remotetest.Faults{})
		x.empty()
	})
}

// The key does not go where an answer points, unless that is over TLS or this host like the API itself.
func TestToolboxElsewhere(t *testing.T) {
	everywhere(t, func(t *testing.T, x *fixture) {
		if x.p.name != "daytona" {
			t.Skip("it has no toolbox")
		}
		b := x.open(nil)
		x.fleet.Break(remotetest.Faults{Toolbox: "http://192.0.2.1/toolbox"})
		if _, err := b.Run(t.Context(), sh("echo")); !sandbox.IsUnavailable(err) || !strings.Contains(err.Error(), "names an address that the key is not sent to") {
			t.Errorf("got %v", err)
		}
		x.empty()
	})
}
