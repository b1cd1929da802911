package web

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/adminapi"
	"github.com/svc-gateway/svc/policy/identity/oidc"
)

// Config is what a [Handler] serves and whom it asks. Issuers and Passwords may be nil.
type Config struct {
	Service   *identity.Service
	Chain     identity.Chain         // finds out who logs out
	Prefix    string                 // of all paths, such as /auth
	Lifetime  time.Duration          // of a session
	Origins   []string               // trusted ones, such as https://example.com
	Tokens    bool                   // whether a token logs in
	Passwords Passwords              // what a user name and password are checked with
	Issuers   Issuers                // identity providers that people may log in with
	Keys      func() ([]byte, error) // JWKS that assertions are verified with
	Audit     identity.Recorder      // hears of tokens that did not log in
	Log       *zap.Logger            // hears of technical trouble
}

// Passwords checks user names and passwords; [identity.Passwords] does. address is the client's.
type Passwords interface {
	Check(ctx context.Context, user, password, address string) (policy.Principal, error)
}

// Issuers are the identity providers that people may log in with; [oidc.Flow] is some.
type Issuers interface {
	// Buttons returns what the login page offers.
	Buttons() []oidc.Button
	// Handler serves the paths /oidc/… below the prefix.
	Handler(enter oidc.Enter, refuse oidc.Refuse) http.Handler
	// LogoutURL returns where a browser goes to end the session at the provider too, empty
	// when the provider has no such place.
	LogoutURL(up identity.Upstream) (at, leftOut string)
}

// Handler serves the pages and the API. Get one with [New].
type Handler struct {
	Config
	cookie  identity.Provider // knows the session of a browser
	tokens  identity.Provider
	origins *http.CrossOriginProtection
	issuers http.Handler
	admin   http.Handler
}

// New returns the handler. An error is an origin that is none.
func New(c Config) (*Handler, error) {
	h := &Handler{
		Config:  c,
		tokens:  identity.NewTokenProvider(c.Service),
		origins: http.NewCrossOriginProtection(),
		issuers: http.HandlerFunc(nothing),
		admin:   http.StripPrefix(c.Prefix, adminapi.Handler(c.Service)),
	}
	for _, o := range c.Origins {
		if err := h.origins.AddTrustedOrigin(o); err != nil {
			return nil, fmt.Errorf("trusting origin %q: %w", o, err)
		}
	}
	var err error
	if h.cookie, err = identity.NewSessionProvider(c.Service, c.Origins...); err != nil {
		return nil, err
	}
	if c.Issuers != nil {
		h.issuers = http.StripPrefix(c.Prefix, c.Issuers.Handler(h.Enter, h.Refuse))
	}
	return h, nil
}

// Serves reports whether the path is the handler's.
func (h *Handler) Serves(at string) bool {
	return at == h.Prefix || strings.HasPrefix(at, h.Prefix+"/")
}

// Open reports whether a request for the path needs no principal.
func (h *Handler) Open(at string) bool {
	below, ok := strings.CutPrefix(at, h.Prefix)
	return ok && plain(below) && (strings.HasPrefix(below, providers) || slices.ContainsFunc(routes, func(rte route) bool {
		return rte.access != principal && rte.path == below
	}))
}

// CanLogIn reports whether there is any way to log in.
func (h *Handler) CanLogIn() bool { return h.Tokens || h.Passwords != nil || h.Issuers != nil }

// serve answers a request; p is empty on open paths.
type serve func(h *Handler, w http.ResponseWriter, r *http.Request, p policy.Principal)

// route is an operation below the prefix; HEAD is served as GET.
type route struct {
	method, path string
	access       access
	summary      string
	serve        serve // nil: somebody else's
}

// access says what an operation needs of its caller.
type access int

const (
	principal access = iota // somebody, whatever the role
	anybody
	itself // somebody, whom the operation finds by itself
)

const (
	providers  = "/oidc/" // begins the paths that the identity providers' handler serves
	oneSession = "/sessions/{id}"
)

var routes = []route{
	{http.MethodGet, "", principal, "To the account page", (*Handler).home},
	{http.MethodGet, "/", principal, "To the account page", (*Handler).home},
	{http.MethodGet, "/login", anybody, "The login page", (*Handler).loginPage},
	{http.MethodPost, "/login", anybody, "Log in with a token, or user name and password", (*Handler).login},
	{http.MethodPost, "/logout", itself, "End the session, here and at its provider", (*Handler).logout},
	{http.MethodGet, providers + "{name}", anybody, "Log in with an identity provider", nil},
	{http.MethodGet, providers + "{name}/callback", anybody, "Back from the identity provider", nil},
	{http.MethodPost, providers + "{name}/backchannel", anybody, "A logout that the identity provider tells of", nil},
	{http.MethodGet, "/jwks", anybody, "The keys that assertions are verified with", (*Handler).jwks},
	{http.MethodGet, "/account", principal, "The account page: own sessions, an admin's shows all", (*Handler).account},
	{http.MethodGet, "/whoami", principal, "As whom the caller acts", (*Handler).whoami},
	{http.MethodPost, "/ticket", principal, "A ticket to open one WebSocket with, from a browser", (*Handler).ticket},
	{http.MethodGet, "/sessions", principal, "Own sessions; with all or user an admin sees those of others", (*Handler).listSessions},
	{http.MethodDelete, "/sessions", principal, "End all own sessions", (*Handler).endSessions},
	{http.MethodDelete, oneSession, principal, "End one of one's own sessions", (*Handler).endSessions},
	{http.MethodPost, "/sessions/end", principal, "End sessions, from the account page", (*Handler).endForm},
}

// Endpoints lists what is served below the prefix.
func Endpoints(prefix string) []policy.Endpoint {
	var list []policy.Endpoint
	for _, rte := range routes {
		list = append(list, policy.Endpoint{Method: rte.method, Path: prefix + rte.path, Open: rte.access == anybody, Summary: rte.summary})
	}
	for _, e := range adminapi.Endpoints() {
		if e.Path = prefix + e.Path; !slices.ContainsFunc(list, func(own policy.Endpoint) bool { return own.Method == e.Method && own.Path == e.Path }) {
			list = append(list, e)
		}
	}
	return list
}

// served returns what is served at a path below the prefix, by method.
func served(below string) map[string]serve {
	methods := map[string]serve{}
	for _, rte := range routes {
		if rte.serve != nil && (rte.path == below || rte.path == oneSession && sessionID(below) != "") {
			methods[rte.method] = rte.serve
		}
	}
	return methods
}

// ServeHTTP answers a request that [Handler.Serves] is true for. On paths that are not open the
// request's context has the principal; one without is refused.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = arrived(r, h.Prefix)
	p, known := policy.PrincipalFrom(r.Context())
	if !known && !h.Open(r.URL.Path) {
		h.Problem(w, r, h.Chain.Problem(identity.ErrNoCredentials))
		return
	}
	below := strings.TrimPrefix(r.URL.Path, h.Prefix)
	methods := served(below)
	switch {
	case !plain(below):
		nothing(w, r)
		return
	case strings.HasPrefix(below, providers):
		h.issuers.ServeHTTP(w, r)
		return
	case len(methods) == 0:
		h.admin.ServeHTTP(w, r)
		return
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	serve, ok := methods[method]
	if !ok {
		notAllowed(w, r, methods)
		return
	}
	serve(h, w, r, p)
}

// plain reports whether a path is what it looks like: those that answer below would send a client
// from /oidc/../users to /users, without the prefix.
func plain(below string) bool {
	cleaned := path.Clean("/" + below)
	return below == "" || below == cleaned || below == cleaned+"/"
}

// sessionID returns the id in a path of one session, empty for other paths.
func sessionID(below string) string {
	id, _ := strings.CutPrefix(below, "/sessions/")
	if id == below || strings.Contains(id, "/") {
		return ""
	}
	return id
}

func notAllowed(w http.ResponseWriter, r *http.Request, methods map[string]serve) {
	var allow []string
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
		if methods[m] == nil {
			continue
		}
		allow = append(allow, m)
		if m == http.MethodGet {
			allow = append(allow, http.MethodHead)
		}
	}
	list := strings.Join(allow, ", ")
	w.Header().Set("Allow", list)
	problem.Write(w, r, problem.Problem{
		Status: http.StatusMethodNotAllowed, Code: "method_not_allowed",
		Detail: "Allowed here: " + list + ".",
	})
}

func nothing(w http.ResponseWriter, r *http.Request) {
	problem.Write(w, r, problem.Problem{Status: http.StatusNotFound, Detail: "There is nothing at " + r.URL.Path + "."})
}

func (*Handler) home(w http.ResponseWriter, r *http.Request, _ policy.Principal) {
	redirect(w, ArrivalOf(r).Root+"/account")
}

// redirect sends a browser to a path of this host, with GET.
func redirect(w http.ResponseWriter, to string) {
	header := w.Header()
	header.Set("Location", to)
	header.Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusSeeOther)
}
