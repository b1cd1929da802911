// Package mcp offers the runtime's tools as a server of the Model Context Protocol, at POST /mcp.
//
//	setup.Model = mcp.Model(setup.Model)
//	setup.Agents = append(setup.Agents, mcp.Offer(core))
//	routes := mcp.Routes(server)
//
// A call of a client is a run of the agent [Agent] whose model's only turn is this call. So it passes the
// gate like every call: it is decided on, recorded, waits for approval, has a deadline, and is closed after a
// crash. What a client wants to be called was probably written by a model that has read who knows what: it
// has the label tool:mcp_client, and no target in it counts as the user's own word.
//
// Nothing is kept between requests but the run. Revisions with a handshake and the stateless one are served
// alike. A call that waits for approval is answered with input_required to clients that can ask their user,
// with a state that only this service can read: it is bound to the caller, the call and a time, and is good
// once. Other clients get an error that names the approval.
//
// It is safe for concurrent use.
package mcp
