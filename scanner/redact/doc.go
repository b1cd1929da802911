// Package redact replaces credentials in text by [Mark]. The word that announces a secret stays, the
// secret goes, and nothing else changes.
//
//	clean := redact.Text("password: hunter2")  // password: REDACTED
//	clean := redact.JSON(doc)
//
// A [TextStream], [JSONStream], [EventStream] or [LineStream] does the same to what comes in pieces:
//
//	dst = r.Append(dst[:0], piece)  // what can be written by now
//	dst = r.Close(dst[:0])          // the rest
//
// [Secrets] holds values that are known to be secret, wherever they stand; its streams know them too.
//
// # How
//
// An automaton looks for the marks of all rules at once: the end of a word such as password, the
// prefix of a vendor's key, a keyword of a device's configuration. Only where one was seen is what
// stands before and after it looked at, by the rule whose mark it is. JSON is walked through, so that
// a key is the word before its value and an escape hides nothing. In an event stream each string
// field is one text from event to event.
//
// # Guarantees
//
// For every text and every way to cut it into pieces a stream writes what the whole text would have
// given. What may still turn out to be part of a secret is not written, but for the first three letters of
// one where nothing follows for a while: see [Idler]. Memory is bounded whatever the length of a secret. Redacting twice changes nothing that redacting once did not, but where
// secrets run into each other it may take more away.
//
// # Concurrency
//
// The functions and [Secrets] are safe for concurrent use. A stream carries the state of one text and
// belongs to one goroutine at a time. The package does no I/O and keeps no mutable state of its own.
package redact
