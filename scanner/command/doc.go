// Package command tells what a command line, a statement of SQL, a command of a network device or a
// program would do, before it is run.
//
//	c := command.Analyze("df -h; sudo rm -rf /var/log")
//	if c.Class != command.ReadOnly { … }
//
// [Analyze] gives a command line its class, what it does at worst, with the categories of what makes
// it dangerous and the places that say so. [ScanCode] finds in programs of Python, JavaScript, shell
// and SQL the requests and statements that write.
//
// # How
//
// A command line is parsed as a shell would; its wrappers are taken off, and what it hands to another
// shell, interpreter or database is analysed too. Each simple command is judged by the tables: of
// programs and their options, of tools by their verbs, of devices by their first words, of SQL by its
// tokens. A program is read by its tokens, and the names and constants in it are followed.
//
// # Guarantees
//
// What is only probable makes a command dangerous, but only what is certain makes it harmless: what
// cannot be parsed, is not in a table or is only known at run time is at least [Unknown]. Work and
// nesting are bounded. A text is judged alone: no file, variable or host is looked up. It is a check
// before a sandbox and does not replace it.
//
// # Concurrency
//
// The functions are safe for concurrent use. The package does no I/O and keeps no mutable state.
package command
