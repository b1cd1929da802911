// Package words has the vocabulary that tells secrets from prose, and says what names that are made of
// words promise.
//
//	if words.Functions.Has(token) { … }        // password is …
//	if words.Handle([]byte("nextPageToken")) { … }
//
// # Guarantees
//
// The functions look at their arguments only and allocate nothing. The sets are never changed.
//
// # Concurrency
//
// All of it is safe for concurrent use.
package words
