// Package media tells what a body is, by the header before it and by its first bytes, for everything
// that reads bodies on their way: the stages must not differ in what they take for text.
//
//	b := media.Of(header)
//	switch {
//	case b.Coding != "":
//		// compressed; a reader has to decode it or refuse it
//	case !b.Readable():
//		// several types that contradict each other, or a character set that bytes of ASCII do not survive
//	case b.Kind == media.Events:
//		// …
//	}
//	start, ok := media.Sniff(first, b.Kind)
//
// # How
//
// [Of] reads Content-Type and Content-Encoding: fields that are repeated, lists in one field,
// parameters, quotes. A type that is malformed or says nothing, such as application/octet-stream, is
// [Unknown]: it may be text. The lists of types stand in kind.go, those of character sets in
// charset.go, the formats known by their first bytes in start.go. Where readers are known to differ,
// the answer is the one that has a body looked at, or refused: two types are ambiguous, a character
// set counts wherever it is named, one that is not in the list cannot be read, and a type that is not
// in the list of [Binary] ones is not binary.
//
// # Guarantees
//
// Nothing fails or panics, whatever the bytes. The case of letters, white space around separators and
// the order of parameters do not change an answer. No I/O is done, nothing is kept, and the usual
// headers cost no memory.
//
// # Concurrency
//
// The functions are safe for concurrent use.
package media
