package approval_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/agents/approval/approvaltest"
	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/state"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/audit/audittest"
	"github.com/svc-gateway/svc/audit/sqlite"
	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner/command"
)

// rig is a host with a desk and everything real but the model, the tool and the users. The tool adds its
// command to the file ran.
type rig struct {
	t     *testing.T
	dir   string
	audit *audit.Log
	store approvaltest.Store
	host  *agents.Host
	desk  *approval.Desk
	rt    *agents.Runtime
	bus   bus.Bus
	told  *told
	clock *clock
	users *users
}

const (
	erase  = "rm -rf build"
	reboot = "reboot now"
)

var (
	ada  = policy.Principal{User: "ada", Role: policy.User, Source: policy.SourceToken, TokenID: "t1", Address: "192.0.2.1"}
	bob  = policy.Principal{User: "bob", Role: policy.User, Source: policy.SourceToken}
	look = policy.Principal{User: "look", Role: policy.Readonly, Source: policy.SourceToken}
	root = policy.Principal{User: "root", Role: policy.Admin, Source: policy.SourceToken, TokenID: "t2", Address: "192.0.2.2"}
	eve  = policy.Principal{User: "eve", Role: policy.Admin, Source: policy.SourceToken, TokenID: "t3"}
)

// newRig makes a rig whose agent makes calls with these commands and then answers with what came of them.
func newRig(t *testing.T, commands ...string) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), bus: bus.NewMemory(), told: &told{}, clock: &clock{now: time.Now()}, users: &users{}}
	r.audit = audittest.Open(t, filepath.Join(r.dir, "audit.db"))
	r.open("node", commands...)
	return r
}

// open starts a host and a desk on the rig's files.
func (r *rig) open(node string, commands ...string) {
	r.t.Helper()
	if err := r.start(r.t.Context(), node, nil, commands...); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(r.close)
}

func (r *rig) close() {
	r.desk.Close()
	r.host.Close()
}

// start does the work of open; around wraps the store, nil does not.
func (r *rig) start(ctx context.Context, node string, around func(approvaltest.Store) approvaltest.Store, commands ...string) error {
	engine, err := policy.New()
	if err != nil {
		return err
	}
	s, err := state.Open(ctx, filepath.Join(r.dir, "state.db"))
	if err != nil {
		return err
	}
	r.store = s
	if around != nil {
		r.store = around(s)
	}
	r.host = agents.Open(agents.HostConfig{Store: r.store, Audit: r.audit, Identity: r.users, Bus: r.bus, Node: node, Log: zap.NewNop()})
	r.desk = approval.Open(approval.DeskConfig{Store: r.store, Runs: r.host, Audit: r.audit, Identity: r.users, Log: zap.NewNop(), Now: r.clock.read})
	r.rt, err = r.host.Runtime(agents.Setup{
		Model: caller(commands), Policy: policy.NewLive(engine), Log: zap.NewNop(), Holds: r.desk, Tools: []agents.Tool{tool(r.dir)},
		Agents: []agents.Agent{{Name: agents.Default, Tools: []string{"command"}}},
		Limits: agents.Limits{Steps: 5, Run: time.Minute, Tool: time.Minute, ParallelCalls: 4, ParallelRuns: 50, RunsPerMinute: 10000},
	})
	if err != nil {
		return err
	}
	r.rt.Serve()
	if err := r.host.Recover(ctx); err != nil {
		return err
	}
	r.desk.Serve(approval.Config{TTL: 15 * time.Minute, Notify: []approval.Notifier{r.told}})
	return nil
}

// caller is a model that calls the tool with each command and then says what came of it.
type caller []string

func (caller) Name() string { return "test" }

func (c caller) Turn(_ context.Context, req model.Request, say func(string)) (model.Response, error) {
	var results []string
	for _, m := range req.Messages {
		if m.Role == model.RoleTool {
			results = append(results, m.Status+": "+m.Content)
		}
	}
	if len(results) == 0 {
		var list []model.ToolCall
		for _, cmd := range c {
			args, _ := json.Marshal(map[string]string{"text": cmd})
			list = append(list, model.ToolCall{ID: "same", Name: "command", Arguments: string(args)})
		}
		return model.Response{Message: model.Message{Role: "assistant", ToolCalls: list}, Model: "test"}, nil
	}
	text := strings.Join(results, "\n")
	say(text)
	return model.Response{Message: model.Message{Role: "assistant", Content: text}, Model: "test"}, nil
}

func tool(dir string) agents.Tool {
	return agents.NewTool(agents.ToolDef{
		Name: "command", Action: policy.Mutate,
		Parameters: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"},"note":{"type":"string"}},"required":["text"],"additionalProperties":false}`),
		Classify: func(args map[string]any) agents.Classification {
			c := command.Analyze(args["text"].(string))
			where, err := os.ReadFile(filepath.Join(dir, "where"))
			if err != nil {
				where = []byte("nowhere")
			}
			return agents.Classification{Command: &c, Where: string(where)}
		},
	}, func(_ context.Context, tc agents.ToolContext, args map[string]any) (agents.Result, error) {
		f, err := os.OpenFile(filepath.Join(dir, "ran"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return agents.Result{}, err
		}
		defer f.Close()
		if _, err = fmt.Fprintln(f, args["text"]); err != nil {
			return agents.Result{}, err
		}
		if os.Getenv(childDie) == "effect" {
			die()
		}
		return agents.Result{Text: fmt.Sprint("did ", args["text"], " approved=", tc.Approved)}, nil
	})
}

// ran are the commands that the tool was called with.
func (r *rig) ran() []string {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(r.dir, "ran"))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// ask starts a run of a user.
func (r *rig) ask(p policy.Principal) agents.Handle {
	r.t.Helper()
	run, err := r.rt.As(p).Start(r.t.Context(), agents.Request{Input: []model.Message{{Role: "user", Content: "go"}}})
	if err != nil {
		r.t.Fatalf("Start: %v", err)
	}
	return run
}

// pending waits until n calls of a run wait for people, and returns them in the order of the calls.
func (r *rig) pending(run string, n int) []approval.Approval {
	r.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; {
		list, err := r.store.Approvals(r.t.Context(), approval.Filter{Run: run, State: []approval.State{approval.Pending}, Limit: 10})
		if err != nil {
			r.t.Fatal(err)
		}
		if info, err := r.store.RunInfo(r.t.Context(), run); err != nil {
			r.t.Fatal(err)
		} else if len(list) == n && info.Status == agents.Interrupted {
			for i, j := 0, n-1; i < j; i, j = i+1, j-1 {
				list[i], list[j] = list[j], list[i]
			}
			return list
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("%d calls wait, want %d", len(list), n)
		}
	}
}

// events are all that a run tells, to its end.
func (r *rig) events(run string) []eventlog.Event {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), 30*time.Second)
	defer cancel()
	h, err := r.rt.As(root).Run(ctx, "", run)
	if err != nil {
		r.t.Fatal(err)
	}
	var all []eventlog.Event
	for events, err := range h.Follow(ctx, 0) {
		if err != nil {
			r.t.Fatalf("Follow: %v after %+v", err, all)
		}
		all = append(all, events...)
	}
	return all
}

// answer is what the run's agent says in the end.
func (r *rig) answer(run string) string {
	r.t.Helper()
	var text string
	for _, e := range r.events(run) {
		if e.Type == eventlog.Message {
			text = e.Content
		}
	}
	return text
}

// records are the types and statuses of a run's records about calls and decisions.
func (r *rig) records(run string) string {
	r.t.Helper()
	if err := r.audit.Flush(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	all, err := r.audit.Events(r.t.Context(), audit.Filter{Run: run})
	if err != nil {
		r.t.Fatal(err)
	}
	var list []string
	for _, e := range all {
		if strings.HasPrefix(e.Type, "tool.") || strings.HasPrefix(e.Type, "approval.") {
			list = append(list, strings.TrimSpace(e.Type+" "+e.Status))
		}
	}
	return strings.Join(list, ", ")
}

// told notes what a notifier is told.
type told struct {
	mu   sync.Mutex
	list []string
}

func (n *told) Requested(_ context.Context, v approval.View) { n.add("requested " + v.State) }
func (n *told) Decided(_ context.Context, v approval.View)   { n.add("decided " + v.Outcome) }

func (n *told) add(what string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.list = append(n.list, what)
}

func (n *told) all() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.list, ", ")
}

// clock is a time that a test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// users is an identity whose answers a test changes.
type users struct {
	mu    sync.Mutex
	roles map[string]policy.Role // those that changed, by name or token; empty: revoked
}

func (u *users) set(name string, r policy.Role) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.roles == nil {
		u.roles = map[string]policy.Role{}
	}
	u.roles[name] = r
}

func (u *users) Resolve(_ context.Context, p policy.Principal) (policy.Principal, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	who := cmp.Or(p.OnBehalfOf, p.User)
	if p.Role == "" {
		p.Role = policy.Admin
	}
	role, ok := u.roles[who]
	if !ok {
		role, ok = u.roles[p.TokenID]
	}
	if ok {
		p.Role = role
		if role == "" {
			return p, policy.ErrRevoked
		}
	}
	return p, nil
}

func (u *users) ActFor(_ context.Context, p policy.Principal, user string) (policy.Principal, error) {
	if user != "" && user != p.User {
		p.OnBehalfOf = user
	}
	return p, nil
}

// openAudit opens the log of a process that is to be killed.
func openAudit(ctx context.Context, dir string) (*audit.Log, error) {
	s, err := sqlite.Open(ctx, filepath.Join(dir, "audit.db"))
	if err != nil {
		return nil, err
	}
	return audit.New(s, "child"), nil
}
