package langgraph

import (
	"net/http"

	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/policy"
)

// OK is the answer of GET /ok.
type OK struct {
	OK bool `json:"ok" required:"true"`
}

// Info is the answer of GET /info.
type Info struct {
	Version string          `json:"version" required:"true"`
	Context string          `json:"context" required:"true" description:"what the service is"`
	Flags   map[string]bool `json:"flags" required:"true" nullable:"false" description:"what it has"`
}

// infoRoutes are the endpoints that tell of the service.
func (d *dialect) infoRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/ok", Action: policy.Use, Summary: "Whether the service is there",
			Success: rest.JSON(new(OK)), Serve: func(w http.ResponseWriter, _ *http.Request) { rest.WriteJSON(w, OK{true}) },
		},
		{
			Method: http.MethodGet, Path: "/info", Action: policy.Use, Summary: "What the service has",
			Success: rest.JSON(new(Info)), Serve: d.info,
		},
	}
}

func (d *dialect) info(w http.ResponseWriter, _ *http.Request) {
	rest.WriteJSON(w, Info{
		Version: d.Options.Version, Context: "svc",
		Flags: map[string]bool{"assistants": true, "crons": true, "langsmith": false, "langsmith_tracing_replicas": false},
	})
}
