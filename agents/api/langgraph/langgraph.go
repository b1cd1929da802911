// Package langgraph is the dialect of the graph-based agent server protocol, in which the published
// SDKs, RemoteGraph and chat UIs talk to the service.
//
// Every agent is a graph of the nodes agent and tools, and a sub-agent is a subgraph of tools. The
// state of a thread is its messages and whatever values its users keep beside them. A stream is made of
// a run's log by a translator that depends on nothing else, so that the events of a stream that is
// joined again have the ids that they had before, whatever stream modes are asked for. Calls that wait
// for approval are interrupts; a resume is a decision at the desk of approvals. docs/api.md lists where
// the dialect differs from the published server.
//
// The thread-centric form of the protocol is here too: commands to a thread, and a feed of its events that
// goes on from run to run, as server-sent events or on a WebSocket. The translator tells a chronicle the
// same facts that it makes the other form's events of, so that there is one machine with two renderings.
//
// Each file adds its endpoints to the table in this one. What is here is safe for concurrent use.
package langgraph

import "github.com/svc-gateway/svc/agents/api/rest"

// dialect serves the endpoints of this one.
type dialect struct{ *rest.Server }

// parts are the endpoints by what they are about. A file that has some adds them here.
var parts = []func(*dialect) []rest.Route{
	(*dialect).threadRoutes,
	(*dialect).searchRoutes,
	(*dialect).stateRoutes,
	(*dialect).runRoutes,
	(*dialect).listRoutes,
	(*dialect).joinRoutes,
	(*dialect).threadStreamRoutes,
	(*dialect).cancelRoutes,
	(*dialect).batchRoutes,
	(*dialect).infoRoutes,
	(*dialect).assistantRoutes,
	(*dialect).itemRoutes,
	(*dialect).cronRoutes,
	(*dialect).metricsRoutes,
	(*dialect).centricRoutes,
}

// Routes are the endpoints of the dialect. The server may be nil for who only wants to know them.
func Routes(s *rest.Server) []rest.Route {
	d := &dialect{s}
	var all []rest.Route
	for _, part := range parts {
		all = append(all, part(d)...)
	}
	return all
}
