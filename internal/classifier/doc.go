// Package classifier asks a classifier of the operator's own, such as a guard model behind a server of
// HTTP, whether a text is an attack.
//
//	c, err := classifier.New(classifier.Config{URL: "http://127.0.0.1:8400/classify"})
//	findings, err := c.Classify(ctx, text)
//
// A server is asked in one of two shapes. Its own protocol ([Plain]) is a POST of
//
//	{"input": "the text", "model": "the name, where one is configured"}
//
// which is answered with {"score": 0.97}, with {"score": 0.97, "category": "role_hijacking"}, or with
// {"findings": [{"category": "…", "score": 0.97}, …]}, where an empty list means that nothing was found. The
// other ([OpenAI]) is that of POST /v1/moderations.
//
// # Guarantees
//
// Credentials are taken out of what is sent, unless the configuration says otherwise. A text is sent in
// pieces that overlap, and no more of it than is configured; of a longer one, a finding of the category
// [scanner.PartlyScanned] tells. The key goes to the configured host only and is never printed. No redirect is followed, no
// proxy of the environment is used, link-local addresses, which lead to the metadata of clouds, are never
// connected to, and of an answer no more than 64 KiB is read. An answer that is not understood is a failure,
// never "nothing found". After a number of failures in a row the server is left alone for a while, and then
// tried with one call. Errors hold neither the address, nor the text, nor anything of the answer.
//
// # Concurrency
//
// A [Classifier] is safe for concurrent use. A [Stream] is for one goroutine at a time.
package classifier
