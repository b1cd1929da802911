package agents

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents"
	api "github.com/svc-gateway/svc/agents/api/mcp"
	"github.com/svc-gateway/svc/agents/mcp"
	"github.com/svc-gateway/svc/agents/remote"
	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/agents/skill"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/internal/health"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/internal/suggest"
)

// mcpServers holds the MCP servers that are used, by data folder and settings: one whose settings a reload
// leaves as they are goes on.
var mcpServers = caddy.NewUsagePool()

// mcpServer is one of them, as a part of the service's health.
type mcpServer struct {
	*mcp.Server
	unwatch func()
}

// Destruct ends it when no configuration has it any more.
func (s mcpServer) Destruct() error {
	s.Close()
	s.unwatch()
	return nil
}

// toolbox gives a runtime the tools that MCP servers have at a time, beside its own.
type toolbox struct {
	gear    *equipment
	log     *zap.Logger
	offers  string // the agent whose tools MCP clients have
	servers []borrowed
	keys    []string // in mcpServers
	leave   []func()

	mu sync.Mutex // one refresh at a time, so that the last one counts
}

// borrowed is a server with the agents that get its tools.
type borrowed struct {
	mcpServer
	to []string
}

// openServers gets the MCP servers of the settings. They are not asked for anything before start.
func (t *toolbox) openServers(a *app.App, b *box, setup agents.Setup, log *zap.Logger) error {
	t.log, t.gear = log, &equipment{agents: setup.Agents, tools: setup.Tools}
	t.gear.lent[lentByServers] = func(all []agents.Agent, own []agents.Tool) ([]agents.Agent, []agents.Tool) {
		return equip(all, own, nil, t.offers), own // tools of servers come with the start
	}
	var names []string
	for _, agent := range setup.Agents {
		names = append(names, agent.Name)
	}
	if slices.Contains(names, api.Agent) {
		return fmt.Errorf("the agent %s of the data folder has the name of the one that makes the calls of MCP clients: rename it", api.Agent)
	}
	if t.offers = a.Settings().MCP.Agent; t.offers != settings.NoAgent && !slices.Contains(names, t.offers) {
		return fmt.Errorf("mcp.agent: there is no agent %q%s: the agents are %s, and none offers no tools", t.offers, suggest.DidYouMean(t.offers, names), strings.Join(names, ", "))
	}
	for _, m := range a.Settings().MCPServers() {
		for _, name := range m.Agents {
			if !slices.Contains(names, name) {
				return fmt.Errorf("mcp_server %s: agents: there is no agent %q%s: the agents are %s", m.Name, name, suggest.DidYouMean(name, names), strings.Join(names, ", "))
			}
		}
		c, err := mcp.FromSettings(m, os.LookupEnv)
		if err != nil {
			return err
		}
		for _, v := range c.Env {
			_, value, _ := strings.Cut(v, "=")
			_ = a.Secrets().Register(value) // one that is too short to be known again is no key
		}
		doc, err := json.Marshal([]any{a.Home().Dir(), m, c.Key, c.Env, c.Version})
		if err != nil {
			return fmt.Errorf("mcp_server %s: %w", m.Name, err)
		}
		sum := sha256.Sum256(doc)
		key := hex.EncodeToString(sum[:])
		shared, _, err := mcpServers.LoadOrNew(key, func() (caddy.Destructor, error) {
			return openServer(a, c, b, setup, log), nil
		})
		if err != nil {
			return fmt.Errorf("mcp_server %s: %w", m.Name, err)
		}
		t.keys = append(t.keys, key)
		t.servers = append(t.servers, borrowed{shared.(mcpServer), m.Agents})
	}
	return nil
}

func openServer(a *app.App, c mcp.Config, b *box, setup agents.Setup, log *zap.Logger) mcpServer {
	set, end := a.Part("mcp."+c.Name, "mcp")
	c.Sandbox = lasting{b, sandbox.FromSettings(a.Settings(), a.Home()).Limits}
	c.Pins, c.Scan, c.Log = a.Home().MCP(), setup.Scan, log
	c.Tell = func(reason string) { set(health.NewPart("mcp", time.Now(), reason)) }
	c.Offered = func(s mcp.Status) { offered(a.Audit(), log, s) }
	c.Egress = (&destinations{server: c.Name, audit: a.Audit(), log: log, seen: map[sandbox.Egress]bool{}}).add
	return mcpServer{mcp.Open(c), end}
}

// offered tells of tools that are not those that were approved, in the log and in the audit log.
func offered(record *audit.Log, log *zap.Logger, s mcp.Status) {
	var waiting, refused []string
	for _, t := range s.Tools {
		switch t.State {
		case mcp.StateApproved:
		case mcp.StateRefused:
			refused = append(refused, t.Tool+": "+t.Problem)
		default:
			waiting = append(waiting, t.Tool+": "+t.State)
		}
	}
	if len(waiting)+len(refused) == 0 {
		return
	}
	log.Warn("tools of an MCP server are not used: see service mcp list", zap.String("server", s.Name), zap.Strings("wait_for_approval", waiting), zap.Strings("refused", refused))
	input, err := json.Marshal(map[string]any{"server": s.Name, "digest": s.Digest, "waiting": waiting, "refused": refused})
	if err == nil {
		err = record.Queue(context.Background(), audit.Event{Type: audit.Admin, Action: "mcp.offer", Input: string(input), Status: "pending"})
	}
	if err != nil {
		log.Error("recording what an MCP server offers failed", zap.Error(err))
	}
}

// start begins to use the servers, and gives the runtime their tools from now on.
func (t *toolbox) start() error {
	for _, s := range t.servers {
		t.leave = append(t.leave, s.Watch(t.changed))
		s.Start()
	}
	return t.refresh()
}

func (t *toolbox) changed() {
	if err := t.refresh(); err != nil {
		t.log.Error("the tools of MCP servers cannot be used, agents keep those that they have", zap.Error(err))
	}
}

// refresh gives the runtime the tools that there are now.
func (t *toolbox) refresh() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lent []agents.Tool
	to := map[string][]string{} // names of tools by the agent that gets them
	for _, s := range t.servers {
		for _, tool := range s.Tools() {
			lent = append(lent, tool)
			for _, agent := range s.to {
				to[agent] = append(to[agent], tool.Name)
			}
		}
	}
	return t.gear.lend(lentByServers, func(all []agents.Agent, own []agents.Tool) ([]agents.Agent, []agents.Tool) {
		tools := slices.Concat(own, lent)
		return equip(all, tools, to, t.offers), tools
	})
}

// equip gives agents the tools that they name and there are, and those that a server is to lend them.
// With them is the agent that makes the calls of MCP clients, with the tools of the one called offers.
func equip(all []agents.Agent, tools []agents.Tool, to map[string][]string, offers string) []agents.Agent {
	there := map[string]bool{}
	for _, t := range tools {
		there[t.Name] = true
	}
	equipped := slices.Clone(all)
	for i := range equipped {
		a := &equipped[i]
		var names []string
		for _, name := range slices.Concat(a.Tools, to[a.Name]) {
			if there[name] && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		a.Tools = names
	}
	for _, a := range equipped {
		if a.Name == offers {
			a.Tools = slices.DeleteFunc(slices.Clone(a.Tools), ofItsAgent)
			equipped = append(equipped, api.Offer(a))
		}
	}
	return equipped
}

// ofItsAgent reports whether a tool works for the agent alone that has it: no other one has its skills and
// remote agents.
func ofItsAgent(tool string) bool {
	return tool == skill.ReadTool || slices.Contains(remote.ToolNames(), tool)
}

// close lets go of the servers.
func (t *toolbox) close() error {
	for _, leave := range t.leave {
		leave()
	}
	var errs []error
	for _, key := range t.keys {
		_, err := mcpServers.Delete(key)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// prefixes begin the names of the tools that the servers may have.
func prefixes(all []settings.MCPServer) []string {
	list := make([]string, len(all))
	for i, m := range all {
		list[i] = mcp.Prefix(m.Name)
	}
	return list
}

// lasting is the sandbox of programs that run as long as the service does.
type lasting struct {
	box    *box
	limits sandbox.Limits
}

// lastingTime is how long such a program runs before it is started anew.
const lastingTime = 30 * 24 * time.Hour

// Run implements [mcp.Sandbox].
func (l lasting) Run(ctx context.Context, s sandbox.Spec) (sandbox.Result, error) {
	if err := l.box.found(ctx); err != nil {
		return sandbox.Result{}, err
	}
	return l.box.box.With(l.limits, lastingTime).Run(ctx, s)
}
