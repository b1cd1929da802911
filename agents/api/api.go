// Package api is the runtime's HTTP API in the dialect of the specification: REST for threads,
// server-sent events for runs.
//
// [New] returns a plain http.Handler over an [agents.Runtime]. It expects the caller's
// principal in the request's context ([policy.WithPrincipal]) and answers 401 without one, so
// that a handler that was mounted without authentication in front of it serves nobody. Errors
// are problem details with a stable code. Users see their own threads on every path, admins
// all of them. The OpenAPI document is made from the same table of routes and the same types
// that requests are decoded and validated with. A Handler is safe for concurrent use.
package api

import (
	"fmt"
	"net/http"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/internal/budget"
	"github.com/svc-gateway/svc/internal/health"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
)

// Service is what GET /health calls this API.
const Service = "svc-api"

// Options are what the API needs to know beside the runtime.
type Options struct {
	BodyBytes int64          // largest request body
	Memory    *budget.Budget // what the bodies of all requests may hold while they are decoded
	Version   string         // of the program, for the OpenAPI document
	Approvals *approval.Desk // where calls wait for people

	// Health says how the parts of the service are. Default: there are none to speak of.
	Health func() health.Details
}

// Handler serves the API.
type Handler struct {
	rt       *agents.Runtime
	opts     Options
	mux      *http.ServeMux
	forms    forms
	document []byte // GET /openapi.json
}

// New makes the API of a runtime.
func New(rt *agents.Runtime, o Options) (*Handler, error) {
	if o.Health == nil {
		o.Health = func() health.Details { return health.New(o.Version, "", 0, nil) }
	}
	h := &Handler{rt: rt, opts: o, mux: http.NewServeMux()}
	var err error
	if h.document, err = describe(routes, o.Version); err != nil {
		return nil, fmt.Errorf("describing the API: %w", err)
	}
	if h.forms, err = newForms(); err != nil {
		return nil, err
	}
	for _, rte := range append(routes[:len(routes):len(routes)], pageAssets) {
		h.mux.Handle(rte.method+" "+rte.path, h.permit(rte))
	}
	return h, nil
}

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if fallback, pattern := h.mux.Handler(r); pattern == "" {
		h.unmatched(w, r, fallback)
		return
	}
	h.mux.ServeHTTP(w, r)
}

// unmatched answers a path or method that is not served, as a problem.
func (h *Handler) unmatched(w http.ResponseWriter, r *http.Request, fallback http.Handler) {
	var seen statusOnly
	fallback.ServeHTTP(&seen, r)
	if allow := seen.Header().Get("Allow"); allow != "" {
		w.Header().Set("Allow", allow)
		problem.Write(w, r, problem.Problem{
			Status: http.StatusMethodNotAllowed, Code: "method_not_allowed",
			Detail: fmt.Sprintf("%s is not served here with %s; allowed: %s", r.URL.Path, r.Method, allow),
		})
		return
	}
	problem.Write(w, r, problem.Problem{
		Status: http.StatusNotFound, Code: "not_found", Detail: "there is nothing at " + r.URL.Path,
	})
}

// permit lets only a principal through whose role has the route's action.
func (h *Handler) permit(rte route) http.Handler {
	serve := func(w http.ResponseWriter, r *http.Request) { rte.serve(h, w, r) }
	if rte.open {
		return http.HandlerFunc(serve)
	}
	return h.authenticated(func(w http.ResponseWriter, r *http.Request) {
		if p, _ := policy.PrincipalFrom(r.Context()); !p.Role.May(rte.action) {
			if rte.refuse != nil {
				rte.refuse(h, w, r)
				return
			}
			problem.Write(w, r, problem.Problem{
				Status: http.StatusForbidden, Code: "forbidden",
				Detail: fmt.Sprintf("this needs the permission %s, which the role %s does not have", rte.action, p.Role),
			})
			return
		}
		serve(w, r)
	})
}

// view is what the caller may see and do.
func (h *Handler) view(r *http.Request) agents.View {
	p, _ := policy.PrincipalFrom(r.Context()) // permit has seen one
	return h.rt.As(p)
}

func (h *Handler) authenticated(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok := policy.PrincipalFrom(r.Context()); !ok {
			w.Header().Set("WWW-Authenticate", "Bearer")
			problem.Write(w, r, problem.Problem{
				Status: http.StatusUnauthorized, Code: "unauthenticated",
				Detail: "no stage in front of the API has authenticated this request",
			})
			return
		}
		next(w, r)
	})
}

// statusOnly takes an answer for its header.
type statusOnly struct{ header http.Header }

func (s *statusOnly) Header() http.Header {
	if s.header == nil {
		s.header = http.Header{}
	}
	return s.header
}
func (s *statusOnly) Write(b []byte) (int, error) { return len(b), nil }
func (s *statusOnly) WriteHeader(int)             {}
