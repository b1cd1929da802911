package rest

import (
	"fmt"
	"net/http"

	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
)

// Route is one endpoint of a dialect: how it is served and how it is described.
type Route struct {
	Method, Path string
	Open         bool          // needs no principal
	Action       policy.Action // what the caller's role must have
	Summary      string
	Request      any   // pointer to the type of path, query and body; nil: none
	Success      Reply // what a good request gets
	Faults       []int // statuses of problems, beside those of every route
	Lasting      bool  // the answer may stay open for long, as streams do anyway
	Serve        http.HandlerFunc
	Refuse       http.HandlerFunc // answers who has not the action; nil: like all others
}

// Reply is what a good request gets.
type Reply struct {
	Status int
	Media  string
	Body   any
}

// JSON is an answer with a value of a type.
func JSON(body any) Reply { return Reply{http.StatusOK, MediaJSON, body} }

// Events is a stream of events, whose data are of a type.
func Events(data any) Reply { return Reply{http.StatusOK, MediaSSE, data} }

// Nothing is an answer without a body.
func Nothing(status int) Reply { return Reply{Status: status} }

// The media types of replies.
const (
	MediaJSON = "application/json"
	MediaSSE  = "text/event-stream"
)

// Permit lets only a principal through whose role has the route's action.
func (rte Route) Permit() http.Handler {
	if rte.Open {
		return rte.Serve
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, ok := policy.PrincipalFrom(r.Context())
		switch {
		case !ok:
			w.Header().Set("WWW-Authenticate", "Bearer")
			problem.Write(w, r, problem.Problem{
				Status: http.StatusUnauthorized, Code: "unauthenticated",
				Detail: "no stage in front of the API has authenticated this request",
			})
		case p.Role.May(rte.Action):
			rte.Serve(w, r)
		case rte.Refuse != nil:
			rte.Refuse(w, r)
		default:
			problem.Write(w, r, problem.Problem{
				Status: http.StatusForbidden, Code: "forbidden",
				Detail: fmt.Sprintf("this needs the permission %s, which the role %s does not have", rte.Action, p.Role),
			})
		}
	})
}

// Endpoint says what the route is and whom it serves.
func (rte Route) Endpoint() policy.Endpoint {
	return policy.Endpoint{Method: rte.Method, Path: rte.Path, Action: rte.Action, Open: rte.Open, Summary: rte.Summary}
}
