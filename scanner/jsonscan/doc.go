// Package jsonscan reads JSON where no tree of it is wanted: numbers and strings in what comes piece by
// piece, strings with the form in which they are written, and what tells the objects of a document apart.
//
//	text, n, more := jsonscan.Unescape(raw, room[:0])  // an escape
//	ids := reader.Read(doc)                            // of the objects that have some
//	ok := jsonscan.Strings(doc, visit)                 // all of them, keys included
//
// # Guarantees
//
// Nothing here fails: what is no JSON is read as far as it is, and stands for itself. Only [Strings] tells
// whether it is one. An [Encoded] text
// gives back each byte as it was written.
//
// # Concurrency
//
// The functions are safe for concurrent use. An [IDReader] and an [Encoded] belong to one goroutine at a
// time.
package jsonscan
