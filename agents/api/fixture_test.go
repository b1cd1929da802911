package api_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/api"
	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/agents/assistant"
	"github.com/svc-gateway/svc/agents/cron"
	"github.com/svc-gateway/svc/agents/items"
	"github.com/svc-gateway/svc/agents/memory"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/state"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/audit/audittest"
	"github.com/svc-gateway/svc/internal/budget"
	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/identitytest"
)

// mostStates are the bytes of the states in one list.
const mostStates = 64 << 10

// server is the API over a real runtime; the header X-Test-User says who asks.
type server struct {
	t      *testing.T
	url    string
	id     *identity.Service
	audit  *audit.Log
	tokens map[string]string // by user
	memory *budget.Budget
	wrap   func(http.Handler) http.Handler // a stage in front of the API; nil: none
	later  func(time.Duration)             // starts what crons want started so much later
}

func newServer(t *testing.T, m model.Model) *server {
	t.Helper()
	return newServerOn(t, m, bus.NewMemory())
}

func newServerOn(t *testing.T, m model.Model, live bus.Bus) *server {
	t.Helper()
	return newServerWith(t, m, live, api.Options{BodyBytes: 64 << 10, Memory: budget.New(64 << 20), Version: "test"})
}

func newServerWith(t *testing.T, m model.Model, live bus.Bus, o api.Options) *server {
	t.Helper()
	engine, err := policy.New()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	log := audittest.Open(t, filepath.Join(dir, "audit.db"))
	id := identitytest.Open(t, filepath.Join(dir, "identity.db"), log, live)
	store, err := state.Open(t.Context(), filepath.Join(dir, "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	host := agents.Open(agents.HostConfig{
		Store: store, Audit: log, Identity: id, Bus: live, Node: "node", Log: zap.NewNop(),
	})
	t.Cleanup(func() { host.Close() })
	desk := approval.Open(approval.DeskConfig{Store: store, Runs: host, Audit: log, Identity: id, Log: zap.NewNop()})
	t.Cleanup(desk.Close)
	t.Cleanup(desk.Serve(approval.Config{}))
	rt, err := host.Runtime(agents.Setup{
		Model: m, Policy: policy.NewLive(engine), Log: zap.NewNop(), Holds: desk, Tools: []agents.Tool{dangerous()},
		Agents: []agents.Agent{{Name: agents.Default}, {Name: "quick"}, {Name: "core", Tools: []string{"command"}}},
		Limits: agents.Limits{Steps: 5, Run: time.Minute, Tool: time.Second, ParallelCalls: 2, ParallelRuns: 5, RunsPerMinute: 1000, States: mostStates},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rt.Serve())
	crons := cron.Open(cron.Config{Store: store, Audit: log, Identity: id, Log: zap.NewNop()})
	t.Cleanup(crons.Close)
	o.Approvals, o.Crons = desk, crons
	o.Assistants = assistant.New(assistant.Config{Store: store, Audit: log, Graphs: rt.Agents})
	o.Items = items.New(items.Config{Store: store, Audit: log, Log: zap.NewNop()})
	o.Memories = memory.New(memory.Config{Store: store, Audit: log, Log: zap.NewNop(), Queue: new(memory.Queue)})
	handler, err := api.New(rt, o)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, id: id, audit: log, tokens: map[string]string{}, memory: o.Memory}
	s.later = func(d time.Duration) {
		t.Helper()
		future := cron.Open(cron.Config{Store: store, Audit: log, Identity: id, Log: zap.NewNop(), Now: func() time.Time { return time.Now().Add(d) }})
		future.Close() // it starts nothing by itself
		future.Serve(handler.Crons())
		if err := future.Fire(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for name, role := range roles {
		_, secret, err := id.AddUser(t.Context(), identity.Actor{User: "test", Role: policy.Admin, Source: policy.SourceOS}, identity.AddUser{Name: name, Role: role})
		if err != nil {
			t.Fatal(err)
		}
		s.tokens[name] = secret.Reveal()
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p, ok := s.principal(r); ok {
			r = r.WithContext(policy.WithPrincipal(r.Context(), p))
		}
		if s.wrap != nil {
			s.wrap(handler).ServeHTTP(w, r)
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	s.url = web.URL
	return s
}

func (s *server) principal(r *http.Request) (policy.Principal, bool) {
	p, err := s.id.Verify(r.Context(), s.tokens[r.Header.Get("X-Test-User")])
	return p, err == nil
}

var roles = map[string]policy.Role{"root": policy.Admin, "ada": policy.User, "bob": policy.User, "eve": policy.Readonly}

// do sends a request as a user and returns status, header and body.
func (s *server) do(user, method, path string, body any, headers ...string) (int, http.Header, string) {
	s.t.Helper()
	resp := s.open(user, method, path, body, headers...)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatalf("reading the answer of %s %s: %v", method, path, err)
	}
	return resp.StatusCode, resp.Header, string(text)
}

func (s *server) open(user, method, path string, body any, headers ...string) *http.Response {
	s.t.Helper()
	var payload io.Reader = http.NoBody
	switch b := body.(type) {
	case nil:
	case string:
		payload = strings.NewReader(b)
	default:
		encoded, err := json.Marshal(b)
		if err != nil {
			s.t.Fatal(err)
		}
		payload = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, payload)
	if err != nil {
		s.t.Fatal(err)
	}
	if user != "" {
		req.Header.Set("X-Test-User", user)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp
}

// thread creates a thread of a user.
func (s *server) thread(user string) string {
	s.t.Helper()
	status, _, body := s.do(user, "POST", "/threads", "{}")
	var made struct {
		ThreadID string `json:"thread_id"`
	}
	if err := json.Unmarshal([]byte(body), &made); err != nil || status != 200 {
		s.t.Fatalf("creating a thread: %d %s", status, body)
	}
	return made.ThreadID
}

func ask(text string) map[string]any {
	return map[string]any{"input": map[string]any{"messages": []any{map[string]any{"role": "user", "content": text}}}}
}

// parse reads a stream the way the specification tells clients to: line by line, the prefix
// taken off, the rest as JSON.
func parse(t *testing.T, stream string) []map[string]any {
	t.Helper()
	var events []map[string]any
	lines := bufio.NewScanner(strings.NewReader(stream))
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e map[string]any
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Errorf("event %q: %v", data, err)
		}
		events = append(events, e)
	}
	return events
}

func answerOf(events []map[string]any) string {
	var b strings.Builder
	for _, e := range events {
		if e["type"] == "message_chunk" || e["type"] == "text" {
			fmt.Fprint(&b, e["content"])
		}
	}
	return b.String()
}

// parrot says how many messages it has seen and repeats the last one, in two pieces. It waits
// for release when the message is "wait", and fails when it is "fail".
type parrot struct{ release chan struct{} }

func (parrot) Name() string { return "parrot" }

func (p parrot) Turn(ctx context.Context, req model.Request, say func(string)) (model.Response, error) {
	last := req.Messages[len(req.Messages)-1].Content
	switch last {
	case "fail":
		return model.Response{}, model.ErrUnavailable
	case "wait":
		say("…")
		select {
		case <-p.release:
		case <-ctx.Done():
			return model.Response{}, ctx.Err()
		}
		say(" done")
		return model.Response{Message: model.Message{Content: "… done"}}, nil
	case "whole":
		return model.Response{Message: model.Message{Content: "in one <piece>"}}, nil
	}
	count := fmt.Sprint(len(req.Messages), ": ")
	say(count)
	say(last)
	return model.Response{Message: model.Message{Content: count + last}}, nil
}
