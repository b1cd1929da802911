package mcp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/mcp"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner/inject"
)

// remote is a server with an address, made with the library, and what it was sent.
type remote struct {
	*httptest.Server
	away   atomic.Bool
	locked atomic.Bool
	flood  atomic.Bool
	deep   atomic.Bool
	mu     sync.Mutex
	keys   map[string]bool
	speaks map[string]bool // revisions
}

func newRemote(t *testing.T, o *sdk.StreamableHTTPOptions, revisions ...string) *remote {
	s := sdk.NewServer(&sdk.Implementation{Name: "remote", Version: "1"}, &sdk.ServerOptions{SupportedProtocolVersions: revisions})
	type in struct {
		Text string `json:"text"`
	}
	sdk.AddTool(s, &sdk.Tool{Name: "echo", Description: "says it again"}, func(_ context.Context, _ *sdk.CallToolRequest, v in) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "said " + v.Text}}}, nil, nil
	})
	h := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, o)
	r := &remote{keys: map[string]bool{}, speaks: map[string]bool{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		r.keys[req.Header.Get("Authorization")] = true
		r.speaks[req.Header.Get("Mcp-Protocol-Version")] = true
		r.mu.Unlock()
		switch {
		case r.away.Load():
			http.Error(w, "away", http.StatusInternalServerError)
		case r.locked.Load():
			http.Error(w, "who is it", http.StatusUnauthorized)
		case r.deep.Load():
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, strings.Repeat("[", 1000))
		case r.flood.Load():
			w.Header().Set("Content-Type", "application/json")
			for range 100 {
				if _, err := io.WriteString(w, strings.Repeat(" ", 1<<20)); err != nil {
					return
				}
			}
		default:
			h.ServeHTTP(w, req)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *remote) config(t *testing.T) mcp.Config {
	return mcp.Config{
		Name: "fake", URL: r.URL, Key: "key-of-the-server", Actions: map[string]policy.Action{"echo": policy.Use},
		Pins: t.TempDir() + "/mcp", Version: "test", Scan: inject.Scan, Log: zap.NewNop(),
	}
}

// TestRevisions uses servers of the stateless revision and of those with a handshake.
func TestRevisions(t *testing.T) {
	for _, want := range []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"} {
		t.Run(want, func(t *testing.T) {
			r := newRemote(t, &sdk.StreamableHTTPOptions{Stateless: want == "2026-07-28"}, want)
			f := open(t, r.config(t), "")
			if got, err := f.say(f.approve()[0], "hi"); got != "said hi" || err != nil {
				t.Fatalf("got %q, %v", got, err)
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			if !r.speaks[want] {
				t.Errorf("got revisions %v, want %s among them", r.speaks, want)
			}
			if len(r.keys) != 1 || !r.keys["Bearer key-of-the-server"] {
				t.Errorf("got keys %v, want the same with every request", r.keys)
			}
		})
	}
}

func TestRemoteServerComesBack(t *testing.T) {
	r := newRemote(t, &sdk.StreamableHTTPOptions{Stateless: true})
	f := open(t, r.config(t), "")
	o := f.approve()[0]
	for name, harm := range map[string]*atomic.Bool{"refused": &r.away, "authentication": &r.locked, "flood": &r.flood, "malformed": &r.deep} {
		harm.Store(true)
		if _, err := f.say(o, "hi"); err == nil || !strings.Contains(err.Error(), "does not work now ("+name+")") {
			t.Errorf("%s: got %v", name, err)
		}
		f.is("degraded")
		harm.Store(false)
		f.is("connected")
		if got, err := f.say(o, "hi"); got != "said hi" || err != nil {
			t.Errorf("after %s: got %q, %v", name, got, err)
		}
	}
}

// TestKeyStaysWithItsServer tells the attack: a server that redirects, so that another one is sent the key.
func TestKeyStaysWithItsServer(t *testing.T) {
	var asked atomic.Int32
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer thief.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			r := newRemote(t, nil)
			c := r.config(t)
			bad := httptest.NewServer(http.RedirectHandler(thief.URL, status))
			defer bad.Close()
			c.URL = bad.URL
			s := mcp.Open(c)
			defer s.Close()
			s.Start()
			(&fixture{Server: s, t: t}).is("degraded")
			if n := asked.Load(); n != 0 {
				t.Errorf("another server was asked %d times", n)
			}
		})
	}
}
