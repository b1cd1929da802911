// Package literal finds fixed texts in what comes piece by piece: the marks of rules, and values that
// are known.
//
//	state, n, found := automaton.Find(state, piece)  // a mark ends after n bytes
//	at, form := forms.Find(text, eof)                // a known value stands there, in one of its forms
//
// An [Automaton] is made once and looks for marks in any case. [Forms] are as a value may be written:
// escaped as in JSON or a URL, and inside of base64 at any offset.
//
// # Guarantees
//
// What is found does not depend on how the text is cut: the state of an automaton goes on, and Forms
// say from where on more bytes are needed. Neither allocates while it looks.
//
// # Concurrency
//
// An Automaton, and Forms that nothing is added to any more, are safe for concurrent use.
package literal
