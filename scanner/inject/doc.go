// Package inject finds prompt injection in text: instructions that were slipped in, in many
// languages and under disguises, invisible characters and homograph domains.
//
//	for _, f := range inject.Scan(text) {
//		if f.Confidence == scanner.High { … }
//	}
//
// [Scan] looks at a whole text, a [Stream] at one that comes in pieces.
//
// # How
//
// All words of a lexicon are looked for at once: in a whole text by the hashes of its words, in one that
// comes in pieces by an automaton. The lexicon says what a word means, the threats say which meanings
// together are an attack, and where that is not enough what the text around must
// look like. The parts of a text whose bytes give reason to are also looked at without the disguises
// that they may wear: decoded, folded, put together, turned round. A literal phrase alone is a finding of low
// confidence; a rule that understands the phrase's surroundings gives high confidence.
//
// # Guarantees
//
// A finding has its place in the original text, whatever the disguise it was found under. What is
// found depends on the text alone. The time that a scan takes grows with the length of the text and
// no faster: each byte is looked at once, what stands around a mark of a disguise again, in views
// that together have at most twelve times the text's bytes; what trying threats may cost is bounded as
// well. A text that would take more is scanned in part, and a finding says so. At most 256 findings
// are returned.
//
// # Concurrency
//
// Scan is safe for concurrent use. A Stream carries the state of one text and belongs to one
// goroutine at a time. The package does no I/O.
package inject
