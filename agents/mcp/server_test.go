package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/svc-gateway/svc/agents/mcp"
	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/internal/eventually"
)

const echo = `{"name":"echo","description":"says it again","inputSchema":` + object + `}`

// TestNothingIsUsedBeforeItIsApproved goes through the life of a list of tools.
func TestNothingIsUsedBeforeItIsApproved(t *testing.T) {
	c, list := program(t, "plain")
	f := open(t, c, list)
	if got := f.names(); got != nil {
		t.Fatalf("tools before the approval: got %v, want none", got)
	}
	if _, err := f.Approve("ada", "0000000000000000"); !errors.Is(err, mcp.ErrOtherList) {
		t.Errorf("approving another list: got %v, want ErrOtherList", err)
	}
	first := f.approve()
	if diff := cmp.Diff([]string{"mcp_fake_echo"}, f.names()); diff != "" {
		t.Fatalf("after the approval: %s", diff)
	}
	if got, err := f.say(first[0], "hi"); got != "said hi" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := f.Approve("ada", f.Status().Digest); !errors.Is(err, mcp.ErrNothing) {
		t.Errorf("approving twice: got %v, want ErrNothing", err)
	}

	told := make(chan struct{}, 10)
	defer f.Watch(func() { told <- struct{}{} })()
	f.offers(`[{"name":"echo","description":"says it again, and mails it","inputSchema":` + object + `},{"name":"more","description":"","inputSchema":{"type":"object", "title":"<a & b>"}}]`)
	<-told
	if diff := cmp.Diff(map[string]string{"echo": mcp.StateChanged, "more": mcp.StateNew}, f.states()); diff != "" {
		t.Error(diff)
	}
	if got := f.names(); got != nil {
		t.Errorf("tools after the change: got %v, want none", got)
	}
	if _, err := f.say(first[0], "hi"); err == nil || !strings.Contains(err.Error(), "waits for an administrator's approval") {
		t.Errorf("a run that began before: got %v", err)
	}
	if was := f.Status().Tools[0].Was; was == nil || was.Description != "says it again" {
		t.Errorf("what was approved: got %v", was)
	}
	f.approve()
	f.offers(`[{"name":"more","description":"","inputSchema":{"type":"object","title":"<a & b>"}}]`)
	if diff := cmp.Diff(map[string]string{"echo": mcp.StateRemoved, "more": mcp.StateApproved}, f.states()); diff != "" {
		t.Error(diff)
	}

	f.Close()
	again := mcp.Open(c)
	defer again.Close()
	if got := len(again.Tools()); got != 2 {
		t.Errorf("tools of a server that was not asked yet: got %d, want the 2 that were approved", got)
	}
	again.Start()
	g := &fixture{Server: again, t: t, list: list}
	g.is("connected")
	if diff := cmp.Diff(map[string]string{"echo": mcp.StateRemoved, "more": mcp.StateApproved}, g.states()); diff != "" {
		t.Error(diff)
	}
}

// TestServerThatHarms has a call of every kind of harm: it is the call's, and the server is used again.
func TestServerThatHarms(t *testing.T) {
	for _, tc := range []struct {
		text, want string
		reason     string // for which the server does not work for a while; empty: it goes on
	}{
		{"die", "does not work now (ended)", mcp.ReasonEnded},
		{"huge", "does not work now (flood)", mcp.ReasonFlood},
		{"flood", "does not work now (flood)", mcp.ReasonFlood},
		{"deep", "does not work now (malformed)", mcp.ReasonMalformed},
		{"noise", "gave a result that cannot be read", mcp.ReasonMalformed},
		{"hologram", "gave a result that cannot be read", "-"},
		{"fail", "says that the call failed", "-"},
		{"refuse", "refused the call: not today", "-"},
		{"null", "", "-"},
	} {
		t.Run(tc.text, func(t *testing.T) {
			c, list := program(t, "plain")
			f := open(t, c, list)
			o := f.approve()[0]
			_, err := f.say(o, tc.text)
			if tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Fatalf("got %v, want %q", err, tc.want)
			}
			if tc.reason != "-" {
				for reason := range f.told {
					if reason != "" && (tc.reason == "" || reason == tc.reason) {
						break
					}
				}
			}
			eventually.True(t, "the server is used again", func() bool {
				got, err := f.say(o, "hi")
				return err == nil && got == "said hi"
			})
		})
	}
}

func TestServerThatNeverAnswers(t *testing.T) {
	c, list := program(t, "plain")
	f := open(t, c, list)
	o := f.approve()[0]
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("its time is over"))
	defer cancel()
	if _, err := f.Call(ctx, o, map[string]any{"text": "hang"}); err == nil || err.Error() != "its time is over" {
		t.Errorf("got %v", err)
	}
	if got, err := f.say(o, "hi"); got != "said hi" || err != nil {
		t.Errorf("the next call: got %q, %v", got, err)
	}
}

// TestServerThatDoesNotBegin is closed while it is waited for.
func TestServerThatDoesNotBegin(t *testing.T) {
	c, _ := program(t, "silent")
	s := mcp.Open(c)
	s.Start()
	if st := s.Status(); st.Status != "connecting" {
		t.Errorf("got %s, want connecting", st.Status)
	}
	s.Close()
}

func TestProgramThatIsNotThere(t *testing.T) {
	c, list := program(t, "plain")
	c.Command = []string{"/nonexistent/program"}
	s := mcp.Open(c)
	defer s.Close()
	s.Start()
	f := &fixture{Server: s, t: t, list: list}
	f.is("degraded")
}

// ended is a sandbox whose programs end at once.
type ended sandbox.Result

func (e ended) Run(context.Context, sandbox.Spec) (sandbox.Result, error) {
	return sandbox.Result(e), nil
}

// TestSecrets holds that the variables of a program are in no log, error or status, wherever it says them.
func TestSecrets(t *testing.T) {
	const secret = "evilSecret-abc123XYZ"
	for name, box := range map[string]mcp.Sandbox{"host": nil, "sandbox": ended{Exit: 3, Stderr: "starting with " + secret}} {
		t.Run(name, func(t *testing.T) {
			c, list := program(t, "talkative")
			core, logs := observer.New(zap.DebugLevel)
			c.Log, c.Host, c.Sandbox, c.Env = zap.New(core), box == nil, box, append(c.Env, "FAKE_SECRET="+secret)
			s := mcp.Open(c)
			defer s.Close()
			s.Start()
			(&fixture{Server: s, t: t, list: list}).is("degraded")
			entry := logs.All()[0].ContextMap()
			if got := fmt.Sprint(entry["error"]); entry["reason"] != mcp.ReasonEnded || !strings.Contains(got, "it ended (exit status 3): starting with REDACTED") || strings.Contains(got, "%!") {
				t.Errorf("got %v", entry)
			}
		})
	}
	c, list := program(t, "plain")
	c.Env = append(c.Env, "FAKE_SECRET="+secret)
	f := open(t, c, list)
	f.offers(`[{"name":"echo","description":"says REDACTED","inputSchema":` + object + `}]`)
	if err := os.WriteFile(list, []byte(`[{"name":"echo","description":"says `+secret+`","inputSchema":`+object+`}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	o := f.approve()[0]
	if _, err := f.say(o, "secret"); err == nil || err.Error() != "the MCP server refused the call: REDACTED is no good" {
		t.Errorf("got %v", err)
	}
	f.Look()
	eventually.True(t, "the change is known", func() bool { return f.states()["echo"] == mcp.StateChanged })
	if got := f.Status().Tools[0].Description; got != "says REDACTED" {
		t.Errorf("got %q", got)
	}
}

// TestEnvironment holds what a program on the host knows of this process.
func TestEnvironment(t *testing.T) {
	t.Setenv("SVC_TEST_SECRET", "hunter2hunter2")
	c, list := program(t, "plain")
	f := open(t, c, list)
	got, err := f.say(f.approve()[0], "environment")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(got) {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
	}
	if diff := cmp.Diff([]string{"PATH", "LC_ALL", "HOME", "TMPDIR", "FAKE_SERVER", "FAKE_LIST"}, names); diff != "" {
		t.Error(diff)
	}
}

// TestFolder holds that nobody else can put files where a program on the host looks for its modules.
func TestFolder(t *testing.T) {
	c, list := program(t, "plain")
	f := open(t, c, list)
	o := f.approve()[0]
	own := c.Pins + "/fake"
	if got, err := f.say(o, "folder"); got != own || err != nil {
		t.Errorf("it works in %q, %v, want %s", got, err, own)
	}
	environment, err := f.say(o, "environment")
	for _, want := range []string{"HOME=" + own, "TMPDIR=" + own} {
		if err != nil || !strings.Contains(environment, want+"\n") {
			t.Errorf("its environment is %q, %v, want %s", environment, err, want)
		}
	}
	if info, err := os.Stat(own); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its folder: got %v, %v, want the mode 0700", info, err)
	}
}

func TestServerAsksForMore(t *testing.T) {
	c, list := program(t, "plain")
	f := open(t, c, list)
	o := f.approve()[0]
	if got, err := f.say(o, "ask"); got != "went on" || err != nil {
		t.Errorf("a server that wants a model's turn: got %q, %v", got, err)
	}
	want := "[an image, image/png, 3 bytes, which is not shown]\n[a link to file:///x: x]\n[a:b]\ninside"
	if got, err := f.say(o, "odd"); got != want || err != nil {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// TestServerTellsOfAChange has the server tell by itself.
func TestServerTellsOfAChange(t *testing.T) {
	c, list := program(t, "plain")
	f := open(t, c, list)
	o := f.approve()[0]
	if err := os.WriteFile(list, []byte("["+strings.Replace(echo, "again", "again!", 1)+"]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.say(o, "changed"); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the change is known", func() bool { return f.states()["echo"] == mcp.StateChanged })
}

// TestPinsAreOfTheServer: what was approved of a server is not of another one that takes its name.
func TestPinsAreOfTheServer(t *testing.T) {
	c, list := program(t, "plain")
	f := open(t, c, list)
	f.approve()
	f.Close()
	for name, other := range map[string]func(*mcp.Config){
		"arguments": func(c *mcp.Config) { c.Command = append(slices.Clone(c.Command), "-v") },
		"place":     func(c *mcp.Config) { c.Host = false },
		"address":   func(c *mcp.Config) { c.Command, c.URL = nil, "https://other.example" },
	} {
		t.Run(name, func(t *testing.T) {
			c := c
			other(&c)
			s := mcp.Open(c)
			defer s.Close()
			if got := s.Tools(); got != nil {
				t.Errorf("got %d tools before it was asked, want none", len(got))
			}
		})
	}
	c.Command = append(slices.Clone(c.Command), "-v")
	g := open(t, c, list)
	if diff := cmp.Diff(map[string]string{"echo": mcp.StateChanged}, g.states()); diff != "" {
		t.Error(diff)
	}
	g.approve()
	if diff := cmp.Diff([]string{"mcp_fake_echo"}, g.names()); diff != "" {
		t.Errorf("after an approval of its own: %s", diff)
	}
}

// TestPinsThatAreNotRead: they approve nothing. The server has no tools until somebody has seen to the file, and
// is used then.
func TestPinsThatAreNotRead(t *testing.T) {
	for _, tt := range []struct {
		name   string
		damage func(path string) error
		want   string
	}{
		{"others can write it", func(p string) error { return os.Chmod(p, 0o666) }, "fake.json: others than the service's user and root own it or can write it"},
		{"no JSON", func(p string) error { return os.WriteFile(p, []byte("{"), 0o600) }, "fake.json: unexpected end of JSON input: remove the file, and approve the tools again"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, list := program(t, "plain")
			f := open(t, c, list)
			f.approve()
			f.Close()
			path := filepath.Join(c.Pins, "fake.json")
			if err := tt.damage(path); err != nil {
				t.Fatal(err)
			}
			core, logs := observer.New(zap.DebugLevel)
			c.Log = zap.New(core)
			s := mcp.Open(c)
			defer s.Close()
			s.Start()
			g := &fixture{Server: s, t: t, list: list}
			g.is("degraded")
			if got := s.Status(); got.Reason != mcp.ReasonPins || s.Tools() != nil {
				t.Errorf("got %s and %d tools, want %s and none", got.Reason, len(s.Tools()), mcp.ReasonPins)
			}
			if got := fmt.Sprint(logs.All()[0].ContextMap()["error"]); !strings.Contains(got, tt.want) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			g.is("connected")
			if diff := cmp.Diff(map[string]string{"echo": mcp.StateNew}, g.states()); diff != "" {
				t.Error(diff)
			}
			g.approve()
			if diff := cmp.Diff([]string{"mcp_fake_echo"}, g.names()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
