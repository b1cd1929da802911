// Package model finds prompt injection by a statistical model: in words that no rule knows.
//
//	for _, f := range model.Scan(text) {
//		if f.Confidence == scanner.High { … }
//	}
//
// [Scan] judges a whole text, a [Stream] one that comes in pieces. Package inject finds by rules; the
// two know nothing of each other, and what one of them misses the other may find.
//
// # How
//
// A text is read as words, signs of scripts without spaces, and what separates them. Compatibility
// characters, accents, lookalikes and invisible characters are made plain as for the rules. Each token
// has features: its parts of four characters, itself, and itself with the one or two before it. Each
// feature has a weight of one byte in a table that it is hashed into. The sum over the last 32 tokens,
// taken at each token, says how likely they are part of an attack. A finding is the worst of windows
// that follow each other, with its category and score.
//
// There are two thresholds, chosen by false alarms in texts of sources that the model was not trained
// with: low confidence from the lower one on, high from the higher one on. The file MODEL.md beside
// this one is the model's card: data, licences and figures. The command that makes weights and card is
// bench/train.
//
// # Guarantees
//
// What is found depends on the text alone, not on how it is cut, and work is linear in its length. A
// text in which nothing is found costs no allocation. At most 256 findings are returned.
//
// # Concurrency
//
// Scan and [Weights] are safe for concurrent use. A Stream belongs to one goroutine at a time. The
// package does no I/O.
package model
