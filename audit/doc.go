// Package audit is the durable record of what the service did: every request, log-in, administrative
// change, tool call and decision, refused ones included, and the tokens that models used.
//
// A [Log] is made once a process, on a [Store] such as that of package sqlite:
//
//	log := audit.New(store, node)
//	err = log.Record(ctx, audit.Event{Type: audit.ToolStart, Run: run, Call: call, Tool: "df"}) // on disk when it returns
//	err = log.Queue(ctx, audit.Event{Type: audit.Request, Method: "GET", Path: "/threads"})     // on disk within 100 ms
//
// What must be known before it happens (the intent of a tool call, a log-in, an administrative
// change) goes through [Log.Record]; when it returns an error the thing must not happen. What has
// happened already goes through [Log.Queue], which is bounded and makes the caller wait rather than
// lose an event. While the log cannot be written (disk full, read-only) both fail or wait,
// [Log.Healthy] returns [ErrUnavailable], and queued events are kept; it recovers by itself.
//
// Before writing, credentials in free text are replaced by REDACTED (package scanner), text is made
// valid UTF-8, and the record is hashed: [CanonicalRecord] gives the bytes, [Verify] checks them
// against what is stored.
//
// [Log.Prune] removes old records of requests. [Log.Archive] moves the records of runs that are over to
// files, which [CheckArchive] and [ReadArchive] read: no record of a run is ever removed that is not in
// one, and the log knows them.
//
// A [Log] and a [Reader], which another process has, read what was recorded: as events, as an export,
// and with SQL over the tables and views that sqlite/migrations documents. [Store] and its reading
// half, [Source], are the seam for another storage, package audittest its conformance suite.
//
// Everything here is safe for concurrent use.
package audit
