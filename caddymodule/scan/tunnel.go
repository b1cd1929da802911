package scan

import (
	"bufio"
	"net"
	"net/http"
	"slices"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/respond"
	"github.com/svc-gateway/svc/internal/websocket"
)

// tunnel is the ResponseWriter that has a say when the next handler changes the protocol. What goes over
// the connection then is neither the request's body nor the response's.
type tunnel struct {
	respond.Writer
	handler *Handler
	request *http.Request
	asker   *asker
	sides   []side
	asks    bool // for a WebSocket
	begun   bool
	refused bool
	talks   bool    // as a WebSocket
	socket  *socket // nil: no such connection was given away
}

// tunnel returns the writer of a response, and takes from the request what could not be scanned.
func (h *Handler) tunnel(w http.ResponseWriter, r *http.Request, a *asker, sides []side) *tunnel {
	websocket.Plain(r.Header)
	if h.strict() {
		websocket.Narrow(r)
	}
	t := &tunnel{handler: h, request: r, asker: a, sides: sides, asks: websocket.Asks(r)}
	t.Writer = respond.New(w, t)
	return t
}

// strict reports whether something may be blocked or annotated: nothing passes before it was scanned.
func (h *Handler) strict() bool { return h.does(actionBlock) || h.does(actionAnnotate) }

// Begin passes the header on, unless it changes the protocol to one that cannot be scanned.
func (t *tunnel) Begin(code int) {
	t.begun = true
	if code == http.StatusSwitchingProtocols {
		if t.talks = t.asks && websocket.Opens(t.Header()); !t.talks && t.handler.strict() {
			t.refuse("the upstream changed the protocol")
			return
		}
	}
	t.ResponseWriter.WriteHeader(code)
}

func (t *tunnel) refuse(reason string) {
	t.refused = true
	t.handler.logger.Error("response refused because it cannot be scanned", zap.String("reason", reason))
	t.Instead(func(out http.ResponseWriter) {
		t.asker.refuse(out, t.request, unscannable("upstream_upgraded", reason))
	})
}

// Passes reports whether there is a response to pass on.
func (t *tunnel) Passes() bool { return !t.refused }

// Body takes nothing in place of a response that was refused.
func (*tunnel) Body([]byte) (int, error) { return 0, errEnded }

// Hijack gives the connection of a WebSocket away, to be scanned message by message. Any other goes
// unscanned where nothing may be blocked or annotated.
func (t *tunnel) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if !t.talks && t.handler.strict() {
		return t.Writer.Hijack()
	}
	conn, rw, err := t.Tunnel()
	if err != nil {
		return nil, nil, err
	}
	t.begun = true
	if !t.talks {
		t.handler.logger.Warn("connection passes unscanned because its protocol was changed", zap.String("path", t.request.URL.Path))
		return conn, rw, nil
	}
	// The server's own reader ends the context of the request when a read fails, as reads do that are
	// interrupted, and with it the connection to the upstream.
	sent, _ := rw.Peek(rw.Reader.Buffered()) // it has them
	t.socket = newSocket(t, conn, slices.Clone(sent))
	return t.socket, bufio.NewReadWriter(bufio.NewReader(t.socket), bufio.NewWriter(t.socket)), nil
}

// finish refuses what the next handler has answered with nothing, as reverse_proxy does after a 101 for
// something else: it did not mean 200.
func (t *tunnel) finish() {
	if t.asks && !t.begun {
		t.refuse("the upstream did not open the WebSocket")
	}
}

// stop lets nothing through any more.
func (t *tunnel) stop() {
	if t.socket != nil {
		t.socket.stop()
	}
}

// refuseTunnel answers CONNECT. Over HTTP/2 and HTTP/3 it may open a WebSocket (RFC 8441, RFC 9220), whose
// messages are the body of the request and that of its response.
func refuseTunnel(w http.ResponseWriter, r *http.Request, a *asker) {
	w.Header().Set("Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
	a.refuse(w, r, problem.Problem{
		Status: http.StatusMethodNotAllowed, Code: "tunnel_refused",
		Detail: "Bodies are scanned here, and a tunnel cannot be. Open a WebSocket over HTTP/1.1.",
	})
}
