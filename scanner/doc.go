// Package scanner is the vocabulary of the packages that read text and say what is dangerous in it:
// what a finding is, its categories, and how sure it is.
//
//   - Package inject finds prompt injection.
//   - Package redact takes credentials out, of whole texts and of streams.
//   - Package command tells what a command line or a program would do.
//
// They know nothing of each other, do no I/O, and import nothing of the rest of this module; each
// can be used on its own. Whoever handles findings, as the audit log and the policy do, needs this
// package alone. It holds types and constants, which are safe for concurrent use.
package scanner
