// Package agents is the Caddy handler svc_agents: the agent runtime's API at the end of a route.
//
// It opens the runtime once for each data folder and keeps it over reloads, so that a run goes
// on, with the setup it started with, while the configuration around it changes. Requests must
// come with a principal, which the stage svc_auth puts there; without one the API answers 401.
// The same API answers on the control socket, where local users act as themselves.
package agents

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/analytics"
	"github.com/svc-gateway/svc/agents/api"
	"github.com/svc-gateway/svc/agents/api/mcp"
	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/agents/approval/webhook"
	"github.com/svc-gateway/svc/agents/assistant"
	"github.com/svc-gateway/svc/agents/callback"
	"github.com/svc-gateway/svc/agents/device"
	"github.com/svc-gateway/svc/agents/fetch"
	"github.com/svc-gateway/svc/agents/items"
	"github.com/svc-gateway/svc/agents/memory"
	"github.com/svc-gateway/svc/agents/remote"
	"github.com/svc-gateway/svc/agents/retention"
	"github.com/svc-gateway/svc/agents/roster"
	"github.com/svc-gateway/svc/agents/skill"
	"github.com/svc-gateway/svc/agents/state"
	"github.com/svc-gateway/svc/agents/tools"
	"github.com/svc-gateway/svc/agents/undo"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/caddymodule/app"
	_ "github.com/svc-gateway/svc/caddymodule/app/commands" // admin, audit, config, login, scan and others
	_ "github.com/svc-gateway/svc/caddymodule/order"        // the directives' places
	"github.com/svc-gateway/svc/internal/budget"
	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/internal/classifier"
	"github.com/svc-gateway/svc/internal/reach"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/scanner/redact"
)

func init() {
	caddy.RegisterModule(new(Handler))
	httpcaddyfile.RegisterHandlerDirective("svc_agents", parseCaddyfile)
	app.RegisterDatabase(app.Database{
		Path: settings.Home.StateDB, Witnessed: state.Witnessed, WitnessAt: state.WitnessAt, Check: state.Check, Backup: state.Backup,
		Unfinished: state.Unfinished,
	})
	app.RegisterCopy(backupDatabase)
}

// drainTime is how long runs may go on when the process stops, in less than the grace period
// of the default Caddyfile, so that their streams can still tell how they end.
const drainTime = 8 * time.Second

// hookTime is how long hooks may go on when the process stops, those of the last runs' ends too: until
// the grace period is almost over.
const hookTime = 9500 * time.Millisecond

// parallelCalls is how many tool calls of one run are made side by side.
const parallelCalls = 8

// hosts holds the open host of each data folder.
var hosts = caddy.NewUsagePool()

// Handler serves the runtime's API. What the runtime does is set in the app svc.
type Handler struct {
	// DefaultStreamDialect is what a request for a run speaks when nothing in it tells: spec or langgraph.
	// Default: spec.
	DefaultStreamDialect string `json:"default_stream_dialect,omitempty"`

	api      *api.Handler
	home     string       // key in hosts; empty until the host is ours
	database *databaseKey // nil until the analytical database is ours
	forgets  func()       // ends the removal of memories that were of no use; nil: it has not begun
	leave    func()       // nil until runs that waited go on with this configuration's setup
	skills   *skills      // nil until its runtime has skills
	toolbox  toolbox      // the tools that MCP servers lend

	webhook    *webhook.Webhook       // nil: nobody is told of approvals
	classifier *classifier.Classifier // nil: none is asked
	callbacks  *callback.Callbacks    // nil: nobody is told of the ends of runs
	unwatch    []func()               // ends what is said of the health of remote agents
}

// CaddyModule returns the Caddy module information.
func (*Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.svc_agents", New: func() caddy.Module { return new(Handler) }}
}

// parseCaddyfile reads the directive:
//
//	svc_agents [<matcher>] {
//		default_stream_dialect spec|langgraph
//	}
func parseCaddyfile(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	h.Next() // directive name
	if h.NextArg() {
		return nil, h.Errf("svc_agents takes no argument, found %q", h.Val())
	}
	handler := new(Handler)
	for h.NextBlock(0) {
		if h.Val() != "default_stream_dialect" {
			return nil, h.Errf("svc_agents has no option %q: the runtime is set up in the global option svc", h.Val())
		}
		switch args := h.RemainingArgs(); {
		case handler.DefaultStreamDialect != "":
			return nil, h.Err("default_stream_dialect: is given twice")
		case len(args) != 1 || !slices.Contains(api.Dialects(), args[0]):
			return nil, h.Errf("default_stream_dialect: must be spec or langgraph, found %q", strings.Join(args, " "))
		default:
			handler.DefaultStreamDialect = args[0]
		}
	}
	return handler, nil
}

// Provision opens the runtime with the settings of this configuration.
func (h *Handler) Provision(ctx caddy.Context) error {
	if h.DefaultStreamDialect != "" && !slices.Contains(api.Dialects(), h.DefaultStreamDialect) {
		return fmt.Errorf("default_stream_dialect: must be spec or langgraph, found %q", h.DefaultStreamDialect)
	}
	a, err := app.Get(ctx)
	if err != nil {
		return err
	}
	log := ctx.Logger()
	shared, _, err := hosts.LoadOrNew(a.Home().Dir(), func() (caddy.Destructor, error) { return open(a, log) })
	if err != nil {
		return err
	}
	h.home = a.Home().Dir()
	opened := shared.(*host)
	db, err := h.openDatabase(a, opened.boxes.local, log)
	if err != nil {
		return err
	}
	remotes, err := h.newRemotes(a, log)
	if err != nil {
		return err
	}
	scan, outside, err := newScan(a.Settings(), a.Secrets(), ctx.GetMetricsRegistry(), log)
	if err != nil {
		return err
	}
	h.classifier = outside
	known, err := newMemory(a, opened, scan, log)
	if err != nil {
		return err
	}
	setup, definitions, store, err := newSetup(ctx, a, opened, db, known, remotes, log)
	if err != nil {
		return err
	}
	setup.Holds, setup.Scan = opened.desk, scan
	if h.callbacks, err = newCallbacks(a.Settings().Webhooks, log); err != nil {
		return err
	}
	if h.callbacks != nil {
		setup.Callbacks = h.callbacks
	}
	if err := h.toolbox.openServers(a, opened.boxes.local, setup, log); err != nil {
		return err
	}
	setup.Model = mcp.Model(setup.Model)
	gear := h.toolbox.gear
	setup.Agents, setup.Tools = gear.now(gear.lent)
	rt, err := opened.Runtime(setup)
	if err != nil {
		return err
	}
	gear.rt = rt
	h.skills = opened.skills
	if err := h.skills.join(taker{h, store, Named(definitions), lendSkills(gear, definitions, scripts(a, opened.boxes))}); err != nil {
		return err
	}
	desk, err := h.newDesk(a, opened, log)
	if err != nil {
		return err
	}
	a.OnStart(func(ctx context.Context) error {
		if err := h.toolbox.start(); err != nil {
			return err
		}
		leave := rt.Serve()
		h.leave = leave
		opened.hooks.Redact(setup.Secrets)
		if err := recordAgents(ctx, a.Audit(), definitions); err != nil {
			return err
		}
		if err := h.skills.record(ctx, a.Audit(), a.Secrets()); err != nil {
			return err
		}
		if err := recoverRuns(ctx, rt, log); err != nil {
			return err
		}
		release := opened.desk.Serve(desk)
		idle := opened.crons.Serve(h.api.Crons())
		apart := opened.tasks.Serve(remotes, a.Secrets())
		h.forgets = sweepMemory(known)
		h.leave = func() { apart(); idle(); release(); leave() }
		return nil
	})
	h.api, err = api.New(rt, api.Options{
		BodyBytes: a.Settings().Limits.BodyBytes,
		Memory:    budget.New(a.Settings().Limits.Decoding()),
		Seats:     &opened.seats,
		Streams:   a.Settings().Limits.StreamsPerUser,
		Version:   settings.Version,
		Health:    a.Health,
		Approvals: opened.desk,
		Dialect:   h.DefaultStreamDialect,

		Assistants: assistant.New(assistant.Config{Store: opened.store, Audit: a.Audit(), Graphs: rt.Agents}),
		Items:      items.New(items.Config{Store: opened.store, Audit: a.Audit(), Log: log, Secrets: a.Secrets()}),
		Crons:      opened.crons,
		Memories:   known,
		Secrets:    a.Secrets(),

		StateKey: setup.PolicyKey,
		Origins:  a.Settings().CORS.Origins,
		Log:      log,
	})
	if err != nil {
		return err
	}
	a.HandleControl("/", h.api)
	h.toolbox.handleControl(a)
	a.HandleControl("POST /undo", undoing{opened.undo, a.Audit(), log})
	handleSkills(a, h.skills, log)
	return nil
}

// newDesk is what the settings make of approvals.
func (h *Handler) newDesk(a *app.App, opened *host, log *zap.Logger) (approval.Config, error) {
	s := a.Settings().Approvals
	c := approval.Config{TTL: s.TTL, Auto: s.Auto, Secrets: a.Secrets(), Notify: []approval.Notifier{approvalHooks{opened.hooks}, opened.tasks}}
	if s.WebhookURL != "" {
		secret, err := s.WebhookSecret.Reveal(os.LookupEnv)
		if err != nil {
			return c, fmt.Errorf("approvals.webhook_secret: %w", err)
		}
		h.webhook = webhook.New(webhook.Config{URL: s.WebhookURL, Secret: secret, Private: s.WebhookPrivate, Log: log})
		c.Notify = append(c.Notify, h.webhook)
	}
	return c, nil
}

// newCallbacks tells servers of the ends of runs; nil when none may be told.
func newCallbacks(s settings.Webhooks, log *zap.Logger) (*callback.Callbacks, error) {
	if len(s.Hosts) == 0 {
		return nil, nil
	}
	c := callback.Config{Body: api.RunEnded, Log: log}
	var err error
	if c.Hosts, err = reach.ParseHosts(s.Hosts); err != nil {
		return nil, fmt.Errorf("webhooks.hosts: %w", err)
	}
	for _, text := range s.Reach {
		n, err := reach.ParseNetwork(text)
		if err != nil {
			return nil, fmt.Errorf("webhooks.reach: %w", err)
		}
		c.Networks = append(c.Networks, n)
	}
	if c.Secret, err = s.Secret.Reveal(os.LookupEnv); err != nil {
		return nil, fmt.Errorf("webhooks.secret: %w", err)
	}
	return callback.New(c), nil
}

// recoverRuns closes what an earlier process left behind. While the live bus is away nobody knows
// which runs others are at: that is no reason not to serve. The host looks again by itself.
func recoverRuns(ctx context.Context, rt *agents.Runtime, log *zap.Logger) error {
	err := rt.Recover(ctx)
	if errors.Is(err, bus.ErrUnavailable) {
		log.Warn("runs of earlier processes are not closed yet: the live bus is away", zap.Error(err))
		return nil
	}
	return err
}

// newSetup is what the settings make of runs.
func newSetup(ctx context.Context, a *app.App, opened *host, db *analytics.DB, known *memory.Keeper, remotes []*remote.Remote, log *zap.Logger) (agents.Setup, []roster.Definition, skill.Store, error) {
	s := a.Settings()
	m, err := newModels(s, log)
	if err != nil {
		return agents.Setup{}, nil, skill.Store{}, err
	}
	key, err := a.PolicyKey()
	if err != nil {
		return agents.Setup{}, nil, skill.Store{}, err
	}
	web, err := newWeb(s, a.Secrets())
	if err != nil {
		return agents.Setup{}, nil, skill.Store{}, err
	}
	devices, err := newFleet(s, a.Home(), a.Secrets())
	if err != nil {
		return agents.Setup{}, nil, skill.Store{}, err
	}
	tools := Tools(s, a.Home(), Means{
		Log: a.Audit(), Box: opened.boxes, Keeper: opened.undo, Database: db, Web: fetch.New(web), Secrets: a.Secrets(), Memory: known, Devices: devices,
	})
	store, err := SkillStore(a.Home(), tools)
	if err != nil {
		return agents.Setup{}, nil, skill.Store{}, err
	}
	skillNames, err := store.Names()
	if err != nil {
		return agents.Setup{}, nil, skill.Store{}, err
	}
	definitions, err := readAgents(ctx, a, tools, m, skillNames, log)
	if err != nil {
		return agents.Setup{}, nil, skill.Store{}, err
	}
	team, abroad := opened.withRemotes(definitions, remotes)
	setup := agents.Setup{
		Model: opened.tasks.News(withBudget(m, s.Budget, opened.store, log)), Agents: withWindows(team, m), Tools: append(tools, abroad...), Policy: a.Policy(), PolicyKey: key, Log: log, Secrets: a.Secrets(),
		Retention: retention.Policy{
			Threads: s.Retention.Threads, Ephemeral: s.Retention.Ephemeral, Events: s.Retention.Events, Size: s.Retention.Size,
		},
		Answers: agents.Answers{MaxBytes: int(s.Output.MaxBytes), Once: !s.Output.Retry},
		Limits: agents.Limits{
			Steps: s.Runtime.MaxSteps, Depth: s.Runtime.MaxDepth, Context: m.Window(""), Tokens: int64(s.Runtime.MaxTokens), Run: s.Runtime.RunTimeout, Tool: s.Runtime.Timeout,
			ParallelCalls: parallelCalls, ParallelRuns: s.Limits.ParallelRuns, RunsPerMinute: int64(s.Limits.RunsPerMinute),
		},
	}
	if s.Memory.Enabled {
		setup.Memory = known
	}
	return setup, definitions, store, nil
}

// Means are what tools work with. Without them they describe and class calls, and nothing else; Web and
// Devices are required.
type Means struct {
	Log      *audit.Log
	Box      tools.Sandbox
	Keeper   *undo.Keeper
	Database *analytics.DB
	Web      *fetch.Client
	Secrets  *redact.Secrets
	Memory   *memory.Keeper
	Devices  *device.Fleet
}

// Tools are the tools of the runtime.
func Tools(s settings.Settings, home settings.Home, m Means) []agents.Tool {
	code := tools.CodeConfig{Box: m.Box, Log: m.Log, Timeout: s.Runtime.Timeout}
	if m.Database != nil {
		code.Database = m.Database
	}
	for _, l := range s.Languages() {
		code.Languages = append(code.Languages, tools.Language(l))
	}
	writer := tools.NewWriter(s.Runtime.ProjectRoot, m.Keeper, home.Dir())
	return append([]agents.Tool{
		tools.RunCommand(s.Runtime.ProjectRoot, m.Box, home.Dir()),
		tools.At(tools.RunCode(code), place(s.Sandbox)),
		tools.HTTPGet(m.Web, m.Log, s.Runtime.Timeout),
		tools.HTTPRequest(m.Web, m.Secrets, m.Log, s.Runtime.Timeout),
		writer.WriteFile(),
		writer.EditFile(),
		tools.ReadFile(s.Runtime.ProjectRoot, home.Dir()),
		tools.QueryAudit(m.Log),
		tools.WriteTodos(),
		analytics.QueryDatabase(m.Database),
		memory.Tool(m.Memory),
	}, deviceTools(s, home, m.Database, m.Devices)...)
}

// ServeHTTP is the end of the route.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	h.api.ServeHTTP(w, r)
	return nil
}

// Cleanup lets go of the runtime; the last one closes it.
func (h *Handler) Cleanup() error {
	if h.leave != nil {
		h.leave()
	}
	if h.forgets != nil {
		h.forgets()
	}
	if h.skills != nil {
		h.skills.leave(h)
	}
	if h.webhook != nil {
		h.webhook.Close()
	}
	if h.classifier != nil {
		h.classifier.Close()
	}
	if h.callbacks != nil {
		h.callbacks.Close()
	}
	for _, end := range h.unwatch {
		end()
	}
	err := errors.Join(h.toolbox.close(), h.closeDatabase())
	if h.home == "" {
		return err
	}
	_, closing := hosts.Delete(h.home)
	return errors.Join(err, closing)
}

var (
	_ caddy.Provisioner           = (*Handler)(nil)
	_ caddy.CleanerUpper          = (*Handler)(nil)
	_ caddyhttp.MiddlewareHandler = (*Handler)(nil)
)
