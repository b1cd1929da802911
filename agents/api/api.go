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
	"slices"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/api/langgraph"
	"github.com/svc-gateway/svc/agents/api/mcp"
	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/agents/api/spec"
	"github.com/svc-gateway/svc/agents/cron"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
)

// Options are what the API needs to know beside the runtime.
type Options = rest.Options

// Handler serves the API.
type Handler struct {
	mux      *http.ServeMux
	document []byte // GET /openapi.json
	crons    cron.Starter
}

// New makes the API of a runtime.
func New(rt *agents.Runtime, o Options) (*Handler, error) {
	s := rest.NewServer(rt, o)
	h := &Handler{mux: http.NewServeMux(), crons: langgraph.Starter(s)}
	table, err := h.table(s)
	if err != nil {
		return nil, err
	}
	if h.document, err = rest.Describe(table, o.Version); err != nil {
		return nil, fmt.Errorf("describing the API: %w", err)
	}
	for _, dialects := range table {
		if err := s.Learn(dialects); err != nil {
			return nil, err
		}
		h.mux.Handle(dialects[0].Method+" "+dialects[0].Path, serve(s, dialects))
	}
	assets := rest.Route{Method: http.MethodGet, Path: "/docs/", Action: policy.Use, Serve: servePage}
	h.mux.Handle("GET /docs/", assets.Permit())
	return h, nil
}

// table are all endpoints, each in the dialects that it is served in: one, or the specification's and then
// the other.
func (h *Handler) table(s *rest.Server) ([][]rest.Route, error) {
	protocol, err := mcp.Routes(s)
	if err != nil {
		return nil, err
	}
	var table [][]rest.Route
	place := map[string]int{}
	for _, rte := range slices.Concat(spec.Routes(s), h.pages(), langgraph.Routes(s), protocol) {
		key := rte.Method + " " + rte.Path
		if i, ok := place[key]; ok {
			table[i] = append(table[i], rte)
			continue
		}
		place[key] = len(table)
		table = append(table, []rest.Route{rte})
	}
	return table, nil
}

// serve is an endpoint's handler, which asks what a request speaks where that makes a difference.
func serve(s *rest.Server, dialects []rest.Route) http.Handler {
	first := dialects[0] // the dialects differ in what they answer, not in whom
	if len(dialects) > 1 {
		first.Serve = func(w http.ResponseWriter, r *http.Request) {
			d, err := speaks(s, w, r)
			switch {
			case err != nil:
				s.Fail(w, r, err)
			case d == LangGraph:
				dialects[1].Serve(w, r)
			default:
				dialects[0].Serve(w, r)
			}
		}
	}
	return s.Seated(first).Permit()
}

// RunEnded is how a server that a request has named is told of the end of its run: in the dialect in which
// there are such requests.
func RunEnded(end agents.RunEnd) any { return langgraph.RunEnded(end) }

// Crons starts the runs of crons.
func (h *Handler) Crons() cron.Starter { return h.crons }

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
	var list []policy.Endpoint
	table, err := new(Handler).table(nil)
	if err != nil {
		panic(err) // without a server nothing can fail
	}
	for _, dialects := range table {
		list = append(list, dialects[0].Endpoint())
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
