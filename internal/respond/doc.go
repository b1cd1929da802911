// Package respond is the ResponseWriter that a stage puts between the handler behind it and the
// client, with all that such a writer has to do whatever the stage is for.
//
//	type writer struct {
//		respond.Writer
//		…
//	}
//
//	func (w *writer) Begin(code int)                  { w.ResponseWriter.WriteHeader(code) }
//	func (w *writer) Body(p []byte) (int, error)      { return w.ResponseWriter.Write(change(p)) }
//	func (w *writer) Passes() bool                    { return false }
//
//	w := new(writer)
//	w.Writer = respond.New(client, w)
//
// A stage says in three methods what becomes of a response ([Stage]). It does not override Write or
// ReadFrom: whatever way the handler takes, the bytes come to Body.
//
// # Guarantees
//
// Begin comes once, before the body, also where the handler writes or flushes without a header. No
// byte of the body gets past the stage while Passes says no, neither through io.Copy nor through
// http.ResponseController: there is no Unwrap, and Hijack refuses unless a stage says otherwise.
// Headers of the class 1xx pass, but for 101, which is final. A second header is dropped.
//
// # Concurrency
//
// A writer belongs to one goroutine at a time, as any ResponseWriter. A stage whose handlers may write
// from several has to lock in Body.
package respond
