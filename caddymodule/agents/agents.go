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
	"slices"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/svc-gateway/svc/agents/api"
	"github.com/svc-gateway/svc/agents/api/mcp"
	"github.com/svc-gateway/svc/agents/approval/webhook"
	"github.com/svc-gateway/svc/agents/assistant"
	"github.com/svc-gateway/svc/agents/callback"
	"github.com/svc-gateway/svc/agents/items"
	"github.com/svc-gateway/svc/agents/state"
	"github.com/svc-gateway/svc/caddymodule/app"
	_ "github.com/svc-gateway/svc/caddymodule/app/commands" // admin, audit, config, login, scan and others
	_ "github.com/svc-gateway/svc/caddymodule/order"        // the directives' places
	"github.com/svc-gateway/svc/internal/budget"
	"github.com/svc-gateway/svc/internal/classifier"
	"github.com/svc-gateway/svc/internal/settings"
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
	p, err := h.newPlan(ctx, a, opened, log)
	if err != nil {
		return err
	}
	if err := h.toolbox.openServers(a, opened.boxes.local, p.Setup, log); err != nil {
		return err
	}
	p.Model = mcp.Model(p.Model)
	gear := h.toolbox.gear
	p.Agents, p.Tools = gear.now(gear.lent)
	rt, err := opened.Runtime(p.Setup)
	if err != nil {
		return err
	}
	gear.rt = rt
	h.skills = opened.skills
	if err := h.skills.join(taker{h, p.skills, Named(p.definitions), lendSkills(gear, p.definitions, scripts(a, opened.boxes))}); err != nil {
		return err
	}
	desk, err := h.newDesk(a, opened, log)
	if err != nil {
		return err
	}
	a.OnStart(func(ctx context.Context) error { return h.start(ctx, a, opened, rt, p, desk) })
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
		Memories:   p.memory,
		Secrets:    a.Secrets(),

		StateKey: p.PolicyKey,
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
