// Package convention knows what events mean by the conventions of the protocols that agents and models
// speak: which of them end a stream, which are calls, and what their strings are to those of the events
// before.
//
//	if convention.Ends(name, data) { … }
//
// # Guarantees
//
// The functions look at their arguments only.
//
// # Concurrency
//
// They are safe for concurrent use.
package convention
