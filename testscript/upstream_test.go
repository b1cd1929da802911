//go:build linux

package testscript

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"sync"
)

// secret is what no client may see. The scripts know it, too.
const secret = "hunter2-correct-horse"

// upstream is somebody else's server, which knows nothing of us and leaks.
type upstream struct {
	mu       sync.Mutex
	log      *os.File
	released chan struct{}
}

func startUpstream(c *call) error {
	log, err := os.Create(c.ts.MkAbs("upstream.log"))
	if err != nil {
		return err
	}
	u := &upstream{log: log, released: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("/", u.hello)
	mux.HandleFunc("/split", u.split)
	mux.HandleFunc("/events", u.events)
	mux.HandleFunc("/count", u.count)
	mux.HandleFunc("/dies", u.dies)
	server := httptest.NewServer(u.record(mux))
	c.cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		_ = log.Close()
	})
	c.releases = append(c.releases, func() { close(u.released) })
	c.ts.Setenv("UPSTREAM", server.Listener.Addr().String())
	return nil
}

// record writes down what came.
func (u *upstream) record(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		dump, err := httputil.DumpRequest(r, true)
		u.mu.Lock()
		_, werr := fmt.Fprintf(u.log, "%s\n", dump)
		u.mu.Unlock()
		if err != nil || werr != nil {
			http.Error(w, "the request could not be recorded", http.StatusInternalServerError)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (u *upstream) hello(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"greeting":"hello","password":%q}`, secret)
}

// split sends the secret once for each place where it can be cut, in two writes each.
func (u *upstream) split(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	out := http.NewResponseController(w)
	line := "db password " + secret
	for i := 1; i < len(line); i++ {
		for _, part := range []string{line[:i], line[i:] + "\n"} {
			_, _ = io.WriteString(w, part)
			_ = out.Flush()
		}
	}
	_, _ = io.WriteString(w, "end\n")
}

// events sends the secret once for each place where it can be cut, in the content of two events
// each.
func (u *upstream) events(w http.ResponseWriter, _ *http.Request) {
	send := eventStream(w)
	line := "db password " + secret
	for i := 1; i < len(line); i++ {
		for _, part := range []string{line[:i], line[i:] + "\n"} {
			send(map[string]any{"type": "message_chunk", "content": part})
		}
	}
	send(map[string]any{"type": "done"})
}

// count sends five events, and five more after the release.
func (u *upstream) count(w http.ResponseWriter, r *http.Request) {
	send := eventStream(w)
	for n := range 10 {
		if n == 5 {
			select {
			case <-u.released:
			case <-r.Context().Done():
				return
			}
		}
		send(map[string]any{"type": "message_chunk", "content": fmt.Sprintf("%d ", n)})
	}
	send(map[string]any{"type": "done"})
}

// dies breaks off in the middle of an event.
func (u *upstream) dies(w http.ResponseWriter, _ *http.Request) {
	send := eventStream(w)
	send(map[string]any{"type": "message_chunk", "content": "so far so good"})
	_, _ = io.WriteString(w, `data: {"type":"message_chunk","content":"db password hunt`)
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

func eventStream(w http.ResponseWriter) (send func(map[string]any)) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	return func(event map[string]any) {
		data, err := json.Marshal(event)
		if err != nil {
			panic(err) // strings always encode
		}
		fmt.Fprintf(w, "data: %s\n\n", data)
		_ = out.Flush()
	}
}
