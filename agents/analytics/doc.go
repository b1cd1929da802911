// Package analytics is the analytical database of the service: tables that people import, and that
// agents and people ask with SQL.
//
// The database itself is in svc-duck, a helper program beside the service, so that the service needs
// no C code. [Open] prepares it, [DB.Serve] keeps the only writer running, [DB.Import] sends it files,
// and [DB.Query] asks. [QueryDatabase] is the tool for agents. Without the helper everything here
// returns an error that matches [ErrMissing], and the rest of the service works.
//
// # Guarantees
//
// A query never sees the live database: it runs in a process of its own on a snapshot, an immutable
// copy that is at most [Config.MaxAge] old. That process can read the snapshot and nothing else, cannot
// write, has no network, and is killed when its time is over; see package svc-duck for the layers. A
// file is imported whole or not at all. Only one process writes: a command that finds the service's
// writer at work uses it, else starts one of its own for as long as it needs it.
//
// # Concurrency
//
// A DB is safe for concurrent use. Its writer belongs to Serve and ends with Close.
package analytics
