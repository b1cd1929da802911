// Package api is the runtime's HTTP API: REST for threads, server-sent events for runs.
//
// [New] returns a plain http.Handler over an [agents.Runtime]. It expects the caller's
// principal in the request's context ([policy.WithPrincipal]) and answers 401 without one, so
// that a handler that was mounted without authentication in front of it serves nobody. Errors
// are problem details with a stable code. Users see their own threads on every path, admins
// all of them. The OpenAPI document is made from the same table of routes and the same types
// that requests are decoded and validated with. A Handler is safe for concurrent use.
//
// There are two dialects, on the same threads and runs: the specification's (package spec) and the
// graph-based agent server protocol's (package langgraph). What both serve at one path is served in the
// one that the request speaks; dialect.go has the rule.
package api

import (
	"fmt"
	"net/http"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/api/langgraph"
	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/agents/api/spec"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
)

// Options are what the API needs to know beside the runtime.
type Options = rest.Options

// Handler serves the API.
type Handler struct {
	mux      *http.ServeMux
	document []byte // GET /openapi.json
}

// New makes the API of a runtime.
func New(rt *agents.Runtime, o Options) (*Handler, error) {
	s := rest.NewServer(rt, o)
	h := &Handler{mux: http.NewServeMux()}
	byPath, all := h.table(s)
	var err error
	if h.document, err = rest.Describe(all, o.Version); err != nil {
		return nil, fmt.Errorf("describing the API: %w", err)
	}
	if err := s.Learn(all); err != nil {
		return nil, err
	}
	for path, rte := range byPath {
		h.mux.Handle(path, rte.serve(s))
	}
	assets := rest.Route{Method: http.MethodGet, Path: "/docs/", Action: policy.Use, Serve: servePage}
	h.mux.Handle("GET /docs/", assets.Permit())
	return h, nil
}

// spoken is an endpoint in the dialects that it is served in.
type spoken map[Dialect]rest.Route

// table is all that is served, by method and path, and one after the other.
func (h *Handler) table(s *rest.Server) (byPath map[string]spoken, all []rest.Route) {
	byPath = map[string]spoken{}
	for _, part := range []struct {
		d      Dialect
		routes []rest.Route
	}{{Spec, append(spec.Routes(s), h.pages()...)}, {LangGraph, langgraph.Routes(s)}} {
		for _, rte := range part.routes {
			key := rte.Method + " " + rte.Path
			if byPath[key] == nil {
				byPath[key] = spoken{}
			}
			byPath[key][part.d] = rte
			all = append(all, rte)
		}
	}
	return byPath, all
}

// serve is the endpoint's handler, which asks what a request speaks where that makes a difference.
func (sp spoken) serve(s *rest.Server) http.Handler {
	if len(sp) == 1 {
		for _, rte := range sp {
			return rte.Permit()
		}
	}
	first := sp[Spec] // the dialects differ in what they answer, not in whom
	first.Serve = func(w http.ResponseWriter, r *http.Request) {
		d, err := speaks(s, w, r)
		if err != nil {
			s.Fail(w, r, err)
			return
		}
		sp[d].Serve(w, r)
	}
	return first.Permit()
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

// Endpoints lists what the API serves and whom.
func Endpoints() []policy.Endpoint {
	_, all := new(Handler).table(nil)
	var list []policy.Endpoint
	seen := map[string]bool{}
	for _, rte := range all {
		if key := rte.Method + " " + rte.Path; !seen[key] {
			seen[key] = true
			list = append(list, rte.Endpoint())
		}
	}
	return list
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
