// Package usage proves that a command only reads, from the grammar of its program.
//
//	r, known := usage.Read("sort", words)
//	if known && r.Reads { … }
//
// # How
//
// The tables in programs/*.txt say of each program, and of each of its subcommands, which options
// exist, which of them take values, what its operands are and which of all that does more than read
// (see programs/README.md). [Read] is one parser of options for all of them: it gives each word a
// role, and a command only reads if each word has one that only reads. Where a word is a language of
// its own (the scripts of sed, awk and jq, the expressions of find), a check in Go reads that too.
//
// # Guarantees
//
// What is in no table, and a word that the grammar does not account for, is never said to read. A word
// that is only known at run time, or may become several, is accounted for only where no word in its
// place could do more. The time is linear in the length of the words.
//
// # Concurrency
//
// The functions are safe for concurrent use. The tables are read once and do not change.
package usage
