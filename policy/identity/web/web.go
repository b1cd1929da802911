package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/oidc"
)

// Config is what a [Handler] serves and whom it asks. Issuers and Passwords may be nil.
type Config struct {
	Service   *identity.Service
	Chain     identity.Chain    // finds out who logs out
	Prefix    string            // of all paths, such as /auth
	Lifetime  time.Duration     // of a session
	Origins   []string          // trusted ones, such as https://example.com
	Tokens    bool              // whether a token logs in
	Passwords Passwords         // what a user name and password are checked with
	Issuers   Issuers           // identity providers that people may log in with
	Audit     identity.Recorder // hears of tokens that did not log in
	Log       *zap.Logger       // hears of technical trouble
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
	LogoutURL(up identity.Upstream) string
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
		admin:   http.StripPrefix(c.Prefix, c.Service.AdminHandler()),
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
func (h *Handler) Serves(path string) bool {
	return path == h.Prefix || strings.HasPrefix(path, h.Prefix+"/")
}

// Open reports whether a request for the path needs no principal.
func (h *Handler) Open(path string) bool {
	below, ok := strings.CutPrefix(path, h.Prefix)
	return ok && (below == "/login" || below == "/logout" || strings.HasPrefix(below, "/oidc/"))
}

// CanLogIn reports whether there is any way to log in.
func (h *Handler) CanLogIn() bool { return h.Tokens || h.Passwords != nil || h.Issuers != nil }

// serve answers a request; p is empty on open paths.
type serve func(h *Handler, w http.ResponseWriter, r *http.Request, p policy.Principal)

// routes are the paths below the prefix, by method. HEAD is served as GET.
var routes = map[string]map[string]serve{
	"":              {http.MethodGet: (*Handler).home},
	"/":             {http.MethodGet: (*Handler).home},
	"/login":        {http.MethodGet: (*Handler).loginPage, http.MethodPost: (*Handler).login},
	"/logout":       {http.MethodPost: (*Handler).logout},
	"/account":      {http.MethodGet: (*Handler).account},
	"/whoami":       {http.MethodGet: (*Handler).whoami},
	"/sessions":     {http.MethodGet: (*Handler).listSessions, http.MethodDelete: (*Handler).endSessions},
	"/sessions/end": {http.MethodPost: (*Handler).endForm},
}

// oneSession is the route of /sessions/{id}.
var oneSession = map[string]serve{http.MethodDelete: (*Handler).endSessions}

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
	methods, ok := routes[below]
	switch {
	case ok:
	case strings.HasPrefix(below, "/oidc/"):
		h.issuers.ServeHTTP(w, r)
		return
	case sessionID(below) != "":
		methods = oneSession
	default:
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
