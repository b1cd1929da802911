// Package rest is what the dialects of the runtime's HTTP API share: who may call an endpoint, how
// bodies are read and held to their form, how errors are told, how endpoints are described.
//
// A dialect is a function that makes [Route]s of a [Server]; package api mounts them. Every route but
// an open one answers 401 without a principal in the request's context ([policy.WithPrincipal]), and
// 403 when the principal's role has not the route's action. What a request may see and do goes through
// [Server.View]. Errors are problem details with a stable code. A Server is safe for concurrent use.
package rest

import (
	"cmp"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/agents/assistant"
	"github.com/svc-gateway/svc/agents/cron"
	"github.com/svc-gateway/svc/agents/items"
	"github.com/svc-gateway/svc/agents/memory"
	"github.com/svc-gateway/svc/internal/budget"
	"github.com/svc-gateway/svc/internal/health"
	"github.com/svc-gateway/svc/internal/seats"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner/redact"
)

// Options are what the API needs to know beside the runtime.
type Options struct {
	BodyBytes int64          // largest request body
	Memory    *budget.Budget // what the bodies of all requests may hold while they are decoded
	Seats     *seats.Seats   // of callers whose answers stay open. Default: seats of this server alone
	Streams   int            // how many of these a caller may have at once. Default: 1000
	Version   string         // of the program, for the OpenAPI document
	// CommandTime is how long a client may take to send a command on a WebSocket that it has begun. Default: a
	// minute.
	CommandTime time.Duration

	Approvals *approval.Desk // where calls wait for people

	Assistants *assistant.Catalog // graphs with a configuration
	Items      *items.Keeper      // what clients keep beside threads
	Crons      *cron.Table        // runs that are started again and again
	Memories   *memory.Keeper     // what agents know from earlier conversations

	// Secrets are values that are shown to nobody. Default: none.
	Secrets *redact.Secrets
	// Health says how the parts of the service are. Default: there are none to speak of.
	Health func() health.Details
	// StateKey is the secret that what clients of the Model Context Protocol give back is sealed with.
	StateKey []byte
	// Origins are those of web pages that may ask. Default: none but this service's own.
	Origins []string
	// Log gets what goes wrong without anybody's fault outside. Default: nobody is told.
	Log *zap.Logger
	// Dialect is what a request to run something speaks when nothing in it tells. Default: spec.
	Dialect string
}

// Server is what the endpoints of all dialects work with.
type Server struct {
	Runtime *agents.Runtime
	Options Options
	forms   forms
}

// NewServer returns a server of a runtime for some routes.
func NewServer(rt *agents.Runtime, o Options) *Server {
	if o.Health == nil {
		o.Health = func() health.Details { return health.New(o.Version, "", 0, nil) }
	}
	if o.Seats == nil {
		o.Seats = new(seats.Seats)
	}
	o.CommandTime = cmp.Or(o.CommandTime, time.Minute)
	o.Streams = cmp.Or(o.Streams, 1000)
	return &Server{Runtime: rt, Options: o, forms: forms{}}
}

// View is what the caller may see and do.
func (s *Server) View(r *http.Request) agents.View { return s.Runtime.As(Caller(r)) }

// Caller is who asks. Every route that is not open has seen one.
func Caller(r *http.Request) policy.Principal {
	p, _ := policy.PrincipalFrom(r.Context())
	return p
}
