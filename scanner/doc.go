// Package scanner reads text and says what is dangerous in it. Package inject finds prompt
// injection, package command what command lines and programs would do; this package knows
// credentials:
//
//   - [Redact], [RedactJSON] and the streaming [Redactor], [JSONRedactor] and [SSERedactor]
//     replace credentials by [Redacted]. The word that announces a secret stays, the secret
//     goes, and nothing else changes. [Secrets] holds values that are known to be secret.
//
// # Guarantees
//
// For every text and every way to cut it into pieces a streaming redactor writes what the
// whole text would have given. What may still turn out to be part of a secret is never written;
// memory is bounded whatever the length of a secret. Redacting twice changes nothing that
// redacting once did not, but where secrets run into each other it may take more away.
//
// # Concurrency
//
// The functions are safe for concurrent use. A redactor carries the state of one stream and
// belongs to one goroutine at a time. The package does no I/O and keeps no mutable state.
package scanner
