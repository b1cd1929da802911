package agents_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/hook"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/state"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/audit/audittest"
	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner/command"
)

// fixture is a host with everything real but the model, the tools and the users.
type fixture struct {
	t     *testing.T
	dir   string
	bus   *bus.Memory
	users *users
	audit *audit.Log
	store agents.Store
	host  *agents.Host
	setup agents.Setup
	rt    *agents.Runtime

	hooks   *hook.Hooks // nil: none; see withHooks
	hookLog string      // the file in which the hooks write
}

func newFixture(t *testing.T, m model.Model, tools ...agents.Tool) *fixture {
	t.Helper()
	engine, err := policy.New()
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, dir: t.TempDir(), bus: bus.NewMemory(), users: &users{}}
	names := []string{}
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	f.setup = agents.Setup{
		Model: m, Tools: tools, Policy: policy.NewLive(engine), Log: zap.NewNop(),
		Agents: []agents.Agent{
			{Name: agents.Default, Description: "routes", Delegates: []string{"core"}},
			{Name: "core", Description: "works", Tools: names},
			{Name: "quick", Description: "answers"},
		},
		Limits: agents.Limits{
			Steps: 10, Run: time.Minute, Tool: 10 * time.Second, ParallelCalls: 8, ParallelRuns: 100, RunsPerMinute: 10000,
		},
	}
	f.audit = audittest.Open(t, filepath.Join(f.dir, "audit.db"))
	f.open()
	return f
}

// open starts a host on the fixture's files; the last one is closed with the test.
func (f *fixture) open() {
	f.t.Helper()
	var err error
	if f.store, err = state.Open(f.t.Context(), filepath.Join(f.dir, "state.db")); err != nil {
		f.t.Fatal(err)
	}
	f.host = agents.Open(agents.HostConfig{
		Store: f.store, Audit: f.audit, Identity: f.users, Bus: f.bus, Node: "node", Log: zap.NewNop(), Hooks: f.hooks,
	})
	if err := f.host.Recover(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { f.host.Close() })
	f.configure()
}

// configure makes a runtime of the present setup, and has it go on with runs that waited.
func (f *fixture) configure() {
	f.t.Helper()
	var err error
	if f.rt, err = f.host.Runtime(f.setup); err != nil {
		f.t.Fatal(err)
	}
	f.rt.Serve()
}

var (
	ada  = policy.Principal{User: "ada", Role: policy.User, Source: policy.SourceToken, TokenID: "t1"}
	root = policy.Principal{User: "root", Role: policy.Admin, Source: policy.SourceToken, TokenID: "t2"}
)

// start asks an agent something in a thread (empty: a new one).
func (f *fixture) start(agent, thread, text string) agents.Handle {
	f.t.Helper()
	run, err := f.rt.As(ada).Start(f.t.Context(), agents.Request{
		Assistant: agent, Thread: thread, Input: []model.Message{{Role: "user", Content: text}},
	})
	if err != nil {
		f.t.Fatalf("Start: %v", err)
	}
	return run
}

// find is a run as an admin gets it.
func (f *fixture) find(run string) agents.Handle {
	f.t.Helper()
	h, err := f.rt.As(root).Run(f.t.Context(), "", run)
	if err != nil {
		f.t.Fatalf("Run: %v", err)
	}
	return h
}

// events reads a run's whole log, waiting for its end.
func (f *fixture) events(run string) []eventlog.Event {
	f.t.Helper()
	return f.eventsFrom(run, 0)
}

func (f *fixture) eventsFrom(run string, from int) []eventlog.Event {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), 30*time.Second)
	defer cancel()
	var all []eventlog.Event
	for events, err := range f.find(run).Follow(ctx, from) {
		if err != nil {
			f.t.Fatalf("Follow: %v after %d events", err, len(all))
		}
		all = append(all, events...)
	}
	return all
}

// run does it all: it returns the finished run and its events.
func (f *fixture) run(agent, text string) (*agents.Run, []eventlog.Event) {
	f.t.Helper()
	started := f.start(agent, "", text)
	events := f.events(started.ID)
	run, err := f.store.Run(f.t.Context(), started.ID)
	if err != nil {
		f.t.Fatal(err)
	}
	return run, events
}

// records are a run's audit events of the given types.
func (f *fixture) records(run string, types ...string) []audit.Event {
	f.t.Helper()
	if err := f.audit.Flush(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	all, err := f.audit.Events(f.t.Context(), audit.Filter{Run: run})
	if err != nil {
		f.t.Fatal(err)
	}
	var found []audit.Event
	for _, e := range all {
		for _, typ := range types {
			if e.Type == typ {
				found = append(found, e)
			}
		}
	}
	return found
}

// users is an identity whose answers a test changes.
type users struct {
	mu   sync.Mutex
	role policy.Role // empty: as the principal says
	err  error
}

func (u *users) set(role policy.Role, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.role, u.err = role, err
}

func (u *users) Resolve(_ context.Context, p policy.Principal) (policy.Principal, error) {
	if p.Role == "" { // whether root still decides is asked so
		p.Role = policy.Admin
		return p, nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.role != "" {
		p.Role = u.role
	}
	return p, u.err
}

func (u *users) ActFor(_ context.Context, p policy.Principal, user string) (policy.Principal, error) {
	if user != "" && user != p.User {
		p.OnBehalfOf, p.Role = user, policy.Readonly
	}
	return p, nil
}

// modelFunc is a model made of one function.
type modelFunc func(ctx context.Context, req model.Request, say func(string)) (model.Response, error)

func (modelFunc) Name() string { return "test" }

func (m modelFunc) Turn(ctx context.Context, req model.Request, say func(string)) (model.Response, error) {
	return m(ctx, req, say)
}

// answer streams a text in pieces that end where | stands.
func answer(say func(string), text string) model.Response {
	for piece := range strings.SplitSeq(text, "|") {
		say(piece)
	}
	return model.Response{
		Message: model.Message{Role: "assistant", Content: strings.ReplaceAll(text, "|", "")},
		Usage:   model.Usage{PromptTokens: 3, CompletionTokens: 4, TotalTokens: 7}, Model: "test",
	}
}

func calls(list ...model.ToolCall) model.Response {
	return model.Response{
		Message: model.Message{Role: "assistant", ToolCalls: list},
		Usage:   model.Usage{TotalTokens: 5}, Model: "test",
	}
}

func call(name, arguments string) model.ToolCall {
	return model.ToolCall{ID: "same", Name: name, Arguments: arguments}
}

// callThenAnswer calls the tools once and then answers with what they returned.
func callThenAnswer(list ...model.ToolCall) modelFunc {
	return func(_ context.Context, req model.Request, say func(string)) (model.Response, error) {
		var results []string
		for _, m := range req.Messages {
			if m.Role == model.RoleTool {
				results = append(results, m.Status+": "+m.Content)
			}
		}
		if len(results) == 0 {
			return calls(list...), nil
		}
		return answer(say, strings.Join(results, "\n")), nil
	}
}

type toolBody = func(ctx context.Context, tc agents.ToolContext, args map[string]any) (agents.Result, error)

func tool(name string, body toolBody) agents.Tool {
	return agents.NewTool(agents.ToolDef{
		Name: name, Description: name, Action: policy.Use,
		Parameters: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"},"n":{"type":"integer"}},"additionalProperties":false}`),
	}, body)
}

// echo returns its argument text.
func echo() agents.Tool {
	return tool("echo", func(_ context.Context, _ agents.ToolContext, args map[string]any) (agents.Result, error) {
		text, _ := args["text"].(string)
		return agents.Result{Text: text}, nil
	})
}

// commandTool classifies its argument text as a command line, and never runs it.
func commandTool() agents.Tool {
	return agents.NewTool(agents.ToolDef{
		Name: "command", Action: policy.Mutate,
		Parameters: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
		Classify: func(args map[string]any) agents.Classification {
			c := command.Analyze(args["text"].(string))
			if c.Class == command.ReadOnly {
				return agents.Classification{Action: policy.Use, Command: &c}
			}
			return agents.Classification{Command: &c}
		},
	}, func(context.Context, agents.ToolContext, map[string]any) (agents.Result, error) {
		return agents.Result{Text: "ran"}, nil
	})
}

// never refuses each call of its own, before it is made.
func never() agents.Tool {
	t := tool("never", func(context.Context, agents.ToolContext, map[string]any) (agents.Result, error) {
		return agents.Result{Text: "made"}, nil
	})
	t.Classify = func(map[string]any) agents.Classification {
		return agents.Classification{Refused: "code_writes: line 1"}
	}
	return t
}

// fragile panics when its arguments are looked at.
func fragile() agents.Tool {
	return agents.NewTool(agents.ToolDef{
		Name: "fragile", Action: policy.Use, Parameters: json.RawMessage(`{"type":"object"}`),
		Classify: func(map[string]any) agents.Classification { panic("kaboom") },
	}, func(context.Context, agents.ToolContext, map[string]any) (agents.Result, error) {
		return agents.Result{}, nil
	})
}

func types(events []eventlog.Event) string {
	var list []string
	for _, e := range events {
		list = append(list, string(e.Type))
	}
	return strings.Join(list, " ")
}

func text(events []eventlog.Event) string {
	var b strings.Builder
	for _, e := range events {
		if e.Frame == 0 && (e.Type == eventlog.Chunk || e.Type == eventlog.Message && !e.Streamed) {
			b.WriteString(e.Content)
		}
	}
	return b.String()
}

var errBroken = errors.New("broken on purpose")
