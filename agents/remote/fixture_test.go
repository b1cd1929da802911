package remote_test

import (
	"context"
	"encoding/json"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/remote"
	"github.com/svc-gateway/svc/agents/remote/protocol"
	"github.com/svc-gateway/svc/agents/remote/remotetest"
	"github.com/svc-gateway/svc/agents/state"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/audit/audittest"
	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/internal/eventually"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner/redact"
)

var (
	ada  = policy.Principal{User: "ada", Role: policy.User, Source: policy.SourceToken}
	bob  = policy.Principal{User: "bob", Role: policy.User, Source: policy.SourceToken}
	root = policy.Principal{User: "root", Role: policy.Admin, Source: policy.SourceToken}
)

// never is a pause after which a test is over: nobody looks at a task by itself.
const never = time.Hour

// rig is a runtime with a desk, tasks and a server that the test rules. Everything is real but the model.
type rig struct {
	t      *testing.T
	dir    string
	server *remotetest.Server
	audit  *audit.Log
	store  *state.Store
	host   *agents.Host
	desk   *approval.Desk
	tasks  *remote.Tasks
	rt     *agents.Runtime
	script script
	system string // prompt of the last turn
}

// script says what the model calls next, given the results so far, the last one last; no call: it answers.
type script func(results []string) (tool, arguments string)

func newRig(t *testing.T, pause time.Duration) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), server: remotetest.NewServer(t)}
	r.audit = audittest.Open(t, filepath.Join(r.dir, "audit.db"))
	r.open(pause)
	return r
}

// open starts everything on the rig's files.
func (r *rig) open(pause time.Duration) {
	r.t.Helper()
	var err error
	if r.store, err = state.Open(r.t.Context(), filepath.Join(r.dir, "state.db")); err != nil {
		r.t.Fatal(err)
	}
	client, err := protocol.New(protocol.Config{URL: r.server.URL, Key: remotetest.Key, Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	if err != nil {
		r.t.Fatal(err)
	}
	remotes := []*remote.Remote{{Name: "far", Description: "elsewhere", Assistant: "agent", Client: client}}
	r.tasks = remote.Open(remote.Config{Store: r.store, Approvals: r.store, Audit: r.audit, Log: zap.NewNop(), Pause: pause})
	r.host = agents.Open(agents.HostConfig{Store: r.store, Audit: r.audit, Identity: anybody{}, Bus: bus.NewMemory(), Node: "node", Log: zap.NewNop()})
	r.desk = approval.Open(approval.DeskConfig{Store: r.store, Runs: r.host, Audit: r.audit, Identity: anybody{}, Log: zap.NewNop()})
	engine, err := policy.New()
	if err != nil {
		r.t.Fatal(err)
	}
	r.rt, err = r.host.Runtime(agents.Setup{
		Model: r.tasks.News(r), Policy: policy.NewLive(engine), Log: zap.NewNop(), Holds: r.desk,
		Tools:  r.tasks.Tools(remotes, func(agent, name string) bool { return agent == agents.Default && name == "far" }),
		Agents: []agents.Agent{{Name: agents.Default, Tools: remote.ToolNames()}, {Name: "other", Tools: remote.ToolNames()}},
		Limits: agents.Limits{Steps: 20, Run: time.Minute, Tool: time.Minute, ParallelCalls: 4, ParallelRuns: 50, RunsPerMinute: 10000},
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.rt.Serve()
	r.desk.Serve(approval.Config{TTL: 15 * time.Minute, Notify: []approval.Notifier{r.tasks}})
	var secrets redact.Secrets
	if err := secrets.Register(secret); err != nil {
		r.t.Fatal(err)
	}
	r.tasks.Serve(remotes, &secrets)
	r.t.Cleanup(r.close)
}

func (r *rig) close() {
	r.desk.Close()
	r.tasks.Close()
	r.host.Close()
}

// Name and Turn make the rig the model.
func (r *rig) Name() string { return "test" }

func (r *rig) Turn(_ context.Context, req model.Request, _ func(string)) (model.Response, error) {
	r.system = req.System
	var results []string
	last := len(req.Messages) - 1
	for last >= 0 && req.Messages[last].Role != model.RoleUser {
		last--
	}
	for _, m := range req.Messages[last+1:] {
		if m.Role == model.RoleTool {
			results = append(results, m.Status+": "+m.Content+" "+strings.Join(m.Labels, " "))
		}
	}
	m := model.Message{Role: model.RoleAssistant, Content: strings.Join(results, "\n---\n")}
	if tool, arguments := r.script(results); tool != "" {
		m = model.Message{Role: model.RoleAssistant, ToolCalls: []model.ToolCall{{ID: "c", Name: tool, Arguments: arguments}}}
	}
	return model.Response{Message: m, Model: "test"}, nil
}

// calls is a script of calls, one after the other; $ in their arguments is the id of the task.
func calls(pairs ...string) script {
	return func(results []string) (string, string) {
		n := 2 * len(results)
		if n >= len(pairs) {
			return "", ""
		}
		args := pairs[n+1]
		for _, text := range results {
			if _, rest, ok := strings.Cut(text, "task far-"); ok {
				args = strings.ReplaceAll(args, "$", "far-"+rest[:8])
			}
		}
		return pairs[n], args
	}
}

// begin starts a run with a script.
func (r *rig) begin(p policy.Principal, thread string, s script) agents.Handle {
	r.t.Helper()
	r.script = s
	run, err := r.rt.As(p).Start(r.t.Context(), agents.Request{Thread: thread, CreateThread: true, Input: []model.Message{{Role: "user", Content: "go"}}})
	if err != nil {
		r.t.Fatalf("Start: %v", err)
	}
	return run
}

// end is what a run answers.
func (r *rig) end(run agents.Handle) (text string) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 30*time.Second)
	defer cancel()
	h, err := r.rt.As(root).Run(ctx, "", run.ID)
	if err != nil {
		r.t.Fatal(err)
	}
	for events, err := range h.Follow(ctx, 0) {
		if err != nil {
			r.t.Fatalf("Follow: %v", err)
		}
		for _, e := range events {
			if e.Type == eventlog.Message {
				text = e.Content
			}
		}
	}
	return text
}

// do is what a run with these calls answers.
func (r *rig) do(p policy.Principal, pairs ...string) string {
	r.t.Helper()
	return r.end(r.begin(p, "", calls(pairs...)))
}

// pending waits for the call of a run that people are asked about.
func (r *rig) pending(run agents.Handle) (a approval.Approval) {
	r.t.Helper()
	eventually.True(r.t, "a call waits", func() bool {
		list, err := r.store.Approvals(r.t.Context(), approval.Filter{Run: run.ID, State: []approval.State{approval.Pending}, Limit: 1})
		if err != nil || len(list) == 0 {
			return false
		}
		a = list[0]
		info, err := r.store.RunInfo(r.t.Context(), run.ID)
		return err == nil && info.Status == agents.Interrupted
	})
	return a
}

func (r *rig) decide(a approval.Approval, v approval.Verdict) {
	r.t.Helper()
	if _, err := r.desk.Decide(r.t.Context(), root, a.ID, v); err != nil {
		r.t.Fatal(err)
	}
}

// task is the newest task.
func (r *rig) task() remote.Task {
	r.t.Helper()
	list, err := r.store.RemoteTasks(r.t.Context(), remote.Filter{Limit: 1})
	if err != nil || len(list) != 1 {
		r.t.Fatalf("no task: %v", err)
	}
	return list[0]
}

func (r *rig) becomes(s remote.Status) remote.Task {
	r.t.Helper()
	eventually.True(r.t, "the task is "+string(s), func() bool { return r.task().Status == s })
	return r.task()
}

// asks is an interrupt with one action.
func asks(id, action, args string) string {
	doc, _ := json.Marshal([]any{map[string]any{"id": id, "value": map[string]any{
		"action_requests": []any{map[string]any{"name": action, "args": json.RawMessage(args), "description": "please"}},
		"review_configs":  []any{map[string]any{"action_name": action, "allowed_decisions": []string{"approve", "reject", "edit"}}},
	}}})
	return string(doc)
}

const answered = `{"messages":[{"type":"human","content":"go"},{"type":"ai","content":"All is well."}]}`

// anybody is an identity that knows everybody.
type anybody struct{}

func (anybody) Resolve(_ context.Context, p policy.Principal) (policy.Principal, error) {
	if p.Role == "" { // whether who approved still may is asked so
		p.Role = policy.Admin
	}
	return p, nil
}

func (anybody) ActFor(_ context.Context, p policy.Principal, _ string) (policy.Principal, error) {
	return p, nil
}
