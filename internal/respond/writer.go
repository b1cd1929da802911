package respond

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"time"
)

// Stage is what becomes of a response.
type Stage interface {
	// Begin takes the status of the final header, 101 included. It passes the header on, keeps it for
	// later or answers in its place.
	Begin(code int)

	// Body takes the next piece of the body.
	Body(p []byte) (int, error)

	// Passes reports whether the body goes by untouched. It is asked after Begin, before each piece.
	Passes() bool
}

// Untouched is for a stage that looks at headers only: it embeds it beside Writer.
type Untouched struct{}

// Passes says that every body goes by.
func (Untouched) Passes() bool { return true }

// Body is not asked for.
func (Untouched) Body([]byte) (int, error) { return 0, http.ErrNotSupported }

// Writer hands a response to its stage, which embeds it. See the package comment.
type Writer struct {
	http.ResponseWriter // towards the client; whoever writes to it gets past the stage
	stage               Stage
	begun               bool
}

// New returns a writer of a stage.
func New(client http.ResponseWriter, s Stage) Writer {
	return Writer{ResponseWriter: client, stage: s}
}

// WriteHeader tells the stage the status. Headers of the class 1xx go to the client.
func (w *Writer) WriteHeader(code int) {
	switch {
	case w.begun: // superfluous
	case code >= 100 && code < 200 && code != http.StatusSwitchingProtocols:
		w.ResponseWriter.WriteHeader(code)
	default:
		w.begun = true
		w.stage.Begin(code)
	}
}

// Imply begins a response that was not begun, with the status 200, as writing and flushing do.
func (w *Writer) Imply() {
	if !w.begun {
		w.begun = true
		w.stage.Begin(http.StatusOK)
	}
}

// Write gives p to the stage.
func (w *Writer) Write(p []byte) (int, error) {
	w.Imply()
	if w.stage.Passes() {
		return w.ResponseWriter.Write(p)
	}
	return w.stage.Body(p)
}

// ReadFrom copies r: to the client where the body passes untouched, else through Write.
func (w *Writer) ReadFrom(r io.Reader) (int64, error) {
	w.Imply()
	if to, ok := w.ResponseWriter.(io.ReaderFrom); ok && w.stage.Passes() {
		return to.ReadFrom(r)
	}
	return io.Copy(struct{ io.Writer }{w}, r)
}

// FlushError flushes what the stage has let go.
func (w *Writer) FlushError() error {
	w.Imply()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Hijack is refused: what goes over a connection that was given away goes past the stage. One that
// allows it calls Tunnel.
func (*Writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return nil, nil, http.ErrNotSupported
}

// Tunnel gives the connection away.
func (w *Writer) Tunnel() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(w.ResponseWriter).Hijack()
}

// SetReadDeadline passes the deadline on.
func (w *Writer) SetReadDeadline(t time.Time) error {
	return http.NewResponseController(w.ResponseWriter).SetReadDeadline(t)
}

// SetWriteDeadline passes the deadline on.
func (w *Writer) SetWriteDeadline(t time.Time) error {
	return http.NewResponseController(w.ResponseWriter).SetWriteDeadline(t)
}

// EnableFullDuplex passes the wish on.
func (w *Writer) EnableFullDuplex() error {
	return http.NewResponseController(w.ResponseWriter).EnableFullDuplex()
}

var _ io.ReaderFrom = (*Writer)(nil)
