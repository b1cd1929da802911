package langgraph

import (
	"maps"
	"net/http"
	"strings"

	"github.com/svc-gateway/svc/agents/api/rest"
	kept "github.com/svc-gateway/svc/agents/assistant"
	"github.com/svc-gateway/svc/policy"
)

// GraphRequest asks for the graph of an assistant.
type GraphRequest struct {
	AssistantPath
	XRay string `query:"xray" json:"-" description:"not used: sub-agents are chosen while a run is under way"`
}

// SubgraphsRequest asks for the graphs within one.
type SubgraphsRequest struct {
	AssistantPath
	Recurse string `query:"recurse" json:"-" enum:"true,false,1,0" description:"those within them too"`
}

// SubgraphRequest asks for the graphs at a namespace.
type SubgraphRequest struct {
	SubgraphsRequest
	Namespace string `path:"namespace" json:"-" required:"true" description:"such as tools"`
}

// graphRoutes are the endpoints of assistants' graphs.
func (d *dialect) graphRoutes() []rest.Route {
	faults := []int{404, 503}
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/assistants/{assistant_id}/graph", Action: policy.Use, Summary: "The graph of an assistant, to be drawn",
			Request: new(GraphRequest), Success: rest.JSON(new(kept.Drawing)), Faults: faults, Serve: d.getGraph,
		},
		{
			Method: http.MethodGet, Path: "/assistants/{assistant_id}/schemas", Action: policy.Use, Summary: "The forms of an assistant's input, output and state",
			Request: new(AssistantPath), Success: rest.JSON(new(kept.Schemas)), Faults: faults, Serve: d.getSchemas,
		},
		{
			Method: http.MethodGet, Path: "/assistants/{assistant_id}/subgraphs", Action: policy.Use, Summary: "The sub-agents of an assistant",
			Request: new(SubgraphsRequest), Success: rest.JSON(new(map[string]kept.Schemas)), Faults: faults, Serve: d.getSubgraphs,
		},
		{
			Method: http.MethodGet, Path: "/assistants/{assistant_id}/subgraphs/{namespace}", Action: policy.Use, Summary: "The sub-agents of an assistant at a namespace",
			Request: new(SubgraphRequest), Success: rest.JSON(new(map[string]kept.Schemas)), Faults: faults, Serve: d.getSubgraphs,
		},
	}
}

func (d *dialect) getGraph(w http.ResponseWriter, r *http.Request) {
	if _, err := d.Options.Assistants.Get(r.Context(), rest.Caller(r), asked(r)); err != nil {
		d.failKept(w, r, err)
		return
	}
	rest.WriteJSON(w, kept.Draw())
}

func (d *dialect) getSchemas(w http.ResponseWriter, r *http.Request) {
	a, err := d.Options.Assistants.Get(r.Context(), rest.Caller(r), asked(r))
	if err != nil {
		d.failKept(w, r, err)
		return
	}
	rest.WriteJSON(w, kept.SchemasOf(a.Graph))
}

func (d *dialect) getSubgraphs(w http.ResponseWriter, r *http.Request) {
	a, err := d.Options.Assistants.Get(r.Context(), rest.Caller(r), asked(r))
	if err != nil {
		d.failKept(w, r, err)
		return
	}
	recurse := r.URL.Query().Get("recurse")
	list := d.Options.Assistants.Subgraphs(a.Graph, recurse == "true" || recurse == "1")
	if at := r.PathValue("namespace"); at != "" {
		maps.DeleteFunc(list, func(ns string, _ kept.Schemas) bool { return ns != at && !strings.HasPrefix(ns, at+"|") })
	}
	rest.WriteJSON(w, list)
}
