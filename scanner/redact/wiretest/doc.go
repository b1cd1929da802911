// Package wiretest makes streams as servers of models and agents write them, with secrets in them, for
// tests of what redacts them.
//
//	s := wiretest.New(rand.New(rand.NewPCG(1, 2)).IntN)
//	for _, e := range s.Events { … }
//	text, n, err := s.Read(out)  // the pieces of what came out, and how many events there were
//
// A stream is chosen from the shapes of the wire, the kinds of secrets, where the text is cut into
// pieces, how the pieces are escaped, the line ends, and whether the text is JSON itself, at any depth.
//
// # Guarantees
//
// The same choices make the same stream. [Stream.Hidden] is in no event as a whole unless the stream is
// of one piece, and nothing but the secret has it. Nothing here is a real secret.
//
// # Concurrency
//
// The functions are safe for concurrent use, if choose is.
package wiretest
