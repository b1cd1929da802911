// Package assistant keeps assistants: graphs with a configuration and a name.
//
// Every agent of the runtime is a graph, and has an assistant of the same name that belongs to the service.
// Its id is a UUID that follows from the name alone, so that it is the same in every installation; it
// never changes. Users make assistants of their own over a graph. A change makes a new version, and the
// older ones can be made the present one again. All of it goes through a [Catalog], which acts for a
// principal:
//
//	catalog := assistant.New(assistant.Config{Store: store, Graphs: rt.Agents, …})
//	a, err := catalog.Get(ctx, principal, "core") // by id, or by the name of a graph
//	config, context := a.Under(run.Config, run.Context)
//
// # Guarantees
//
// What a user made is there for that user and for admins; for others it is not found, and that they asked
// is on record. Versions are numbered without gaps, whatever is changed at the same time. How many
// assistants a user has, and how many versions each of them, is bounded.
//
// # Concurrency
//
// A Catalog is safe for concurrent use, and so are several, in several processes, on one store.
package assistant
