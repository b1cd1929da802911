package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/internal/disk"
	"github.com/svc-gateway/svc/internal/heap"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/adminapi"
	"github.com/svc-gateway/svc/policy/identity/ldap"
	"github.com/svc-gateway/svc/policy/identity/oidc"
	"github.com/svc-gateway/svc/scanner/redact"
)

func init() {
	caddy.RegisterModule(new(App))
}

// App is the Caddy app svc. Its JSON is the settings' own: an object with their sections and
// lists, as in config/api.json, with every value optional. Placeholders such as {env.NAME} are
// replaced in strings.
type App struct {
	sections json.RawMessage // as configured

	settings settings.Settings
	secrets  *redact.Secrets
	values   []settings.Value
	home     settings.Home
	shared   *shared
	control  *routes
	onStart  []func(context.Context) error
	unwatch  []func()
	space    *disk.Watch
	archive  archiveState
	ctx      caddy.Context
	logger   *zap.Logger

	directory *ldap.Directory // nil without the mode ldap
	issuers   *oidc.Set       // nil without the mode oidc

	certificates [][]identity.CertificateRule // of each stage that takes certificates
}

// CaddyModule returns the Caddy module information.
func (*App) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "svc", New: func() caddy.Module { return new(App) }}
}

// UnmarshalJSON keeps the sections; [settings.Resolve] reads them when the app is provisioned.
func (a *App) UnmarshalJSON(data []byte) error {
	a.sections = append(json.RawMessage(nil), data...)
	return nil
}

// MarshalJSON returns the sections as they were configured.
func (a *App) MarshalJSON() ([]byte, error) {
	if len(a.sections) == 0 {
		return []byte("{}"), nil
	}
	return a.sections, nil
}

// Provision resolves the settings and opens the shared resources or takes over those of the
// app that ran before.
func (a *App) Provision(ctx caddy.Context) error {
	a.ctx, a.logger = ctx, ctx.Logger()
	var err error
	if a.home, err = LocateHome(); err != nil {
		return err
	}
	if err := a.home.Create(); err != nil {
		return err
	}
	if a.settings, a.values, err = Resolve(a.home, a.sections); err != nil {
		return err
	}
	if err := a.settings.CheckEnvironment(os.LookupEnv); err != nil {
		return a.placed(err)
	}
	if err := a.newSpace(ctx.GetMetricsRegistry()); err != nil {
		return err
	}
	a.secrets = keySecrets(a.settings, os.LookupEnv)
	if a.directory, err = newDirectory(a.settings, a.directoryTrouble); err != nil {
		return a.placed(err)
	}
	if a.shared, err = acquire(a.home, a.settings); err != nil {
		return err
	}
	if err := a.shared.policies.load(a.home); err != nil {
		return err
	}
	if err := a.newIssuers(); err != nil {
		return err
	}
	a.control = newRoutes()
	a.control.handle("GET /status", http.HandlerFunc(a.serveStatus))
	a.control.handle("GET /settings", http.HandlerFunc(a.serveSettings))
	a.control.handle("GET /health/details", http.HandlerFunc(a.serveHealth))
	a.control.handle("GET /auth/whoami", http.HandlerFunc(a.serveWhoami))
	a.control.handle("POST /audit/backup", a.serveBackup(a.shared.backup))
	a.control.handle("POST /audit/archive", http.HandlerFunc(a.serveArchive))
	a.control.handle("POST /backup", a.serveBackup(a.shared.backupAll))
	a.control.handle("POST "+DatabaseRecords, http.HandlerFunc(a.serveDatabaseRecord))
	a.control.handle("GET /policy", http.HandlerFunc(a.servePolicy))
	a.control.handle("POST /policy/apply", http.HandlerFunc(a.serveApply))
	a.control.handle("POST /reload", http.HandlerFunc(a.serveReload))
	a.control.handle("POST /ldap/test", http.HandlerFunc(a.serveLDAPTest))
	a.control.handle("POST /oidc/test", http.HandlerFunc(a.serveOIDCTest))
	a.control.handle("/identity/", http.StripPrefix("/identity", adminapi.Handler(a.Identity())))

	events, err := ctx.App("events")
	if err != nil {
		return fmt.Errorf("loading the events app: %w", err)
	}
	return events.(*caddyevents.App).On("stopping", &onStopping{a.shared})
}

// placed says where the settings are that an error is about.
func (a *App) placed(err error) error {
	return settings.Placed(err, a.values, settings.PlacesIn(a.sections))
}

// onStopping ends streams before Caddy waits for them: the event comes ahead of the apps' own
// Stop, on reloads too.
type onStopping struct{ shared *shared }

func (o *onStopping) Handle(context.Context, caddy.Event) error {
	if caddy.Exiting() {
		o.shared.stop()
	}
	return nil
}

// Start takes possession of the data folder and answers on the control socket.
func (a *App) Start() error {
	if err := a.shared.claim(); err != nil {
		return err
	}
	if err := a.bootstrap(); err != nil {
		return err
	}
	a.startIssuers()
	a.shared.sources.push(a)
	for _, f := range a.onStart {
		if err := f(a.ctx); err != nil {
			return err
		}
	}
	a.shared.server.push(a.control)
	a.warn()
	a.tighten()
	a.unwatch = []func(){a.watchTokens(), a.watchSpace(), a.watchRecords(), a.watchRuns()}
	heap.KeepFloor()
	return nil
}

// warn says what is probably not meant, or not for production.
func (a *App) warn() {
	for _, stray := range settings.StrayEnv(os.Environ()) {
		a.logger.Warn("unknown environment variable", zap.String("hint", stray))
	}
	auth := a.settings.Auth
	if auth.Has(settings.ModeNone) {
		a.logger.Warn("auth.mode none: every local user acts as an admin; other hosts are refused. Use auth.mode token in production")
	}
	switch ldap := a.settings.LDAP; {
	case !auth.Has(settings.ModeLDAP) && len(ldap.URL) > 0:
		a.logger.Warn("ldap.url is set and auth.mode does not list ldap: users of the directory cannot log in")
	case a.directory != nil && ldap.Insecure:
		a.logger.Warn("ldap.insecure: passwords are sent in clear to the ldap:// servers of ldap.url")
	}
	if bus := a.settings.Bus; bus.Kind != settings.BusRedis && len(bus.Address) > 0 {
		a.logger.Warn("bus.address is set, and bus.kind is memory: nothing is shared with other processes")
	}
	if a.settings.Approvals.Auto {
		a.logger.Warn("SVC_AUTO_APPROVE: dangerous calls in runs of admins are made without asking anybody. This is for tests only")
	}
	if auth.Has(settings.ModeOIDC) {
		a.warnIssuers()
	}
	if !auth.Has(settings.ModeOIDC) && len(a.settings.Issuers()) > 0 {
		a.logger.Warn("identity providers are configured and auth.mode does not list oidc: their users cannot log in")
	}
}

// tighten closes files with secrets to others, who may have read them before.
func (a *App) tighten() {
	closed, err := a.home.Tighten()
	for _, path := range closed {
		a.logger.Warn("others could read a file with secrets, and cannot any more: replace what is in it if they may have", zap.String("file", path))
	}
	if err != nil {
		a.logger.Warn("others can read a file with secrets: change its mode to 0600", zap.Error(err))
	}
}

// Stop gives the control socket back to the app that is left, if any.
func (a *App) Stop() error {
	for _, stop := range a.unwatch { // none if it has not started
		stop()
	}
	if caddy.Exiting() {
		a.shared.stop()
		return nil // the socket answers until the process is gone
	}
	a.shared.server.remove(a.control)
	return nil
}

// Cleanup lets go of the shared resources and of the directory.
func (a *App) Cleanup() error {
	if a.issuers != nil {
		a.issuers.Close()
	}
	if a.directory != nil {
		a.directory.Close()
	}
	if a.shared == nil {
		return nil
	}
	a.shared.sources.remove(a)
	return a.shared.release()
}

// Get returns the app of the configuration that is being loaded, provisioned. Where the
// configuration has no svc, the app has its defaults.
func Get(ctx caddy.Context) (*App, error) {
	loaded, err := ctx.App("svc")
	if err != nil {
		return nil, fmt.Errorf("loading the svc app: %w", err)
	}
	return loaded.(*App), nil
}

// Secrets returns the secrets that the settings refer to, for redactors.
func (a *App) Secrets() *redact.Secrets { return a.secrets }

// Audit returns the audit log.
func (a *App) Audit() *audit.Log { return a.shared.audit }

// Identity returns the service of users and tokens.
func (a *App) Identity() *identity.Service { return a.shared.identity }

// Policy returns the policy, which admins replace while the service runs.
func (a *App) Policy() *policy.Live { return a.shared.policies.live }

// Bus returns the live bus.
func (a *App) Bus() bus.Bus { return a.shared.bus }

// Settings returns the settings; Runtime.ProjectRoot is resolved and never empty.
func (a *App) Settings() settings.Settings { return a.settings }

// Home returns the data folder.
func (a *App) Home() settings.Home { return a.home }

// Node returns the name of this node in records and leases.
func (a *App) Node() string { return a.shared.node }

// HandleControl mounts h on the control socket under a pattern of [http.ServeMux]. The same
// pattern again replaces the handler. The request's context has the local user as principal,
// with the role admin and the source os. On a reload the new app's handlers take over.
func (a *App) HandleControl(pattern string, h http.Handler) { a.control.handle(pattern, h) }

// OnStart has f called when the configuration starts and the data folder is this process's own.
// A configuration that is only validated never starts: another process may be serving.
func (a *App) OnStart(f func(context.Context) error) { a.onStart = append(a.onStart, f) }

// Stopping returns a channel that is closed when the process goes down and never on a reload.
// Streams end then, so that the exit has not to wait for them.
func (a *App) Stopping() <-chan struct{} { return a.shared.stopping }

// Hold keeps the shared resources open until release is called, also when a reload removes
// the app meanwhile. Whoever works outside of requests, or longer than its module lives,
// holds them; release may be called once.
func (a *App) Hold() (release func()) { return a.shared.hold() }

var (
	_ caddy.App          = (*App)(nil)
	_ caddy.Provisioner  = (*App)(nil)
	_ caddy.CleanerUpper = (*App)(nil)
)
