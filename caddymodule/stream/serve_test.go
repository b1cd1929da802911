package stream_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/svc-gateway/svc/caddymodule/auth"
	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"
	_ "github.com/svc-gateway/svc/caddymodule/redact"
	_ "github.com/svc-gateway/svc/caddymodule/scan"
	_ "github.com/svc-gateway/svc/caddymodule/stream"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

// broadcaster is a foreign server: every event goes to all its streams.
type broadcaster struct {
	*httptest.Server
	mu   sync.Mutex
	subs map[chan string]bool
	left int // clients that went away
}

func broadcast(t testing.TB) *broadcaster {
	b := &broadcaster{subs: map[chan string]bool{}}
	b.Server = httptest.NewServer(b)
	t.Cleanup(func() {
		b.CloseClientConnections()
		b.Close()
	})
	return b
}

func (b *broadcaster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	c := make(chan string, 100)
	b.mu.Lock()
	b.subs[c] = true
	b.mu.Unlock()
	rc := http.NewResponseController(w)
	rc.Flush()
	for {
		select {
		case e := <-c:
			if e == "" {
				panic(http.ErrAbortHandler)
			}
			io.WriteString(w, e)
			rc.Flush()
		case <-r.Context().Done():
			b.mu.Lock()
			delete(b.subs, c)
			b.left++
			b.mu.Unlock()
			return
		}
	}
}

// send sends an event to all streams; "" makes the server die.
func (b *broadcaster) send(event string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for c := range b.subs {
		c <- event
	}
}

func (b *broadcaster) streams() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.subs)
}

const chain = "svc_auth\nsvc_scan\nsvc_redact\nsvc_stream {\nkeepalive 100ms\n}\nreverse_proxy "

// lines reads a stream's lines that are not empty, and tells its end by closing the channel.
func lines(t testing.TB, srv *caddytest.Server, token string) <-chan string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	r := srv.Request(http.MethodGet, "/", "", "Authorization", "Bearer "+token).WithContext(ctx)
	resp, err := caddytest.Client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("got %s", resp.Status)
	}
	out := make(chan string, 100)
	go func() {
		defer resp.Body.Close()
		defer close(out)
		sc := bufio.NewScanner(resp.Body)
		for sc.Scan() {
			if sc.Text() != "" {
				out <- sc.Text()
			}
		}
		if err := sc.Err(); err != nil {
			out <- "broken: " + err.Error()
		}
	}()
	return out
}

// next returns the next line of a stream; false at its end.
func next(t testing.TB, from <-chan string) (string, bool) {
	t.Helper()
	select {
	case line, ok := <-from:
		return line, ok
	case <-time.After(10 * time.Second):
		t.Fatal("waited 10s for a line")
	}
	return "", false
}

// TestReload holds that a reload drops no open stream and loses no event.
func TestReload(t *testing.T) {
	const streams = 100
	up := broadcast(t)
	srv := caddytest.Start(t, caddytest.Config{Site: chain + up.URL})
	var open []<-chan string
	for range streams {
		open = append(open, lines(t, srv, srv.Token))
	}
	srv.Eventually("all streams are open", func() bool { return up.streams() == streams })
	for round, site := range []string{chain, "header X-Reloaded 1\n" + chain, chain} {
		if round > 0 {
			srv.Load(site + up.URL)
		}
		up.send(fmt.Sprintf("data: {\"content\":\"event %d\"}\n\n", round))
	}
	for i, s := range open {
		for round := range 3 {
			line, ok := next(t, s)
			if want := fmt.Sprintf("data: {\"content\":\"event %d\"}", round); !ok || line != want {
				t.Fatalf("stream %d: got %q, want %q", i, line, want)
			}
		}
	}
	// What ends streams still works for those of the first configuration.
	if _, err := srv.Admin().RevokeToken(context.Background(), "admin", ""); err == nil {
		t.Fatal("the last admin could be revoked")
	}
	if up.streams() != streams {
		t.Errorf("the upstream has %d streams, want %d", up.streams(), streams)
	}
}

// TestRevoked holds that a stream ends, regularly, when its token is revoked, also when the
// configuration it came from is gone; and that others go on.
func TestRevoked(t *testing.T) {
	up := broadcast(t)
	srv := caddytest.Start(t, caddytest.Config{Site: chain + up.URL})
	ursula := lines(t, srv, srv.AddUser("ursula", policy.User, time.Time{}))
	admin := lines(t, srv, srv.Token)
	srv.Eventually("both streams are open", func() bool { return up.streams() == 2 })
	srv.Load("header X-Reloaded 1\n" + chain + up.URL)
	if _, err := srv.Admin().RevokeToken(context.Background(), "ursula", ""); err != nil {
		t.Fatal(err)
	}
	if line, ok := next(t, ursula); ok {
		t.Errorf("got %q, want the end of the stream", line)
	}
	up.send("data: still here\n\n")
	if line, _ := next(t, admin); line != "data: still here" {
		t.Errorf("the other stream: got %q", line)
	}
	srv.Eventually("the upstream was told", func() bool { return up.streams() == 1 })
}

// A stream shows what a role may see: with a weaker one it has to be asked for again.
func TestDemoted(t *testing.T) {
	up := broadcast(t)
	srv := caddytest.Start(t, caddytest.Config{Site: chain + up.URL})
	ursula := lines(t, srv, srv.AddUser("ursula", policy.User, time.Time{}))
	bob := lines(t, srv, srv.AddUser("bob", policy.User, time.Time{}))
	srv.Eventually("both streams are open", func() bool { return up.streams() == 2 })
	for name, role := range map[string]policy.Role{"ursula": policy.Readonly, "bob": policy.Admin} {
		if _, err := srv.Admin().UpdateUser(context.Background(), name, identity.UpdateUser{Role: &role}); err != nil {
			t.Fatal(err)
		}
	}
	if line, ok := next(t, ursula); ok {
		t.Errorf("got %q, want the end of the stream", line)
	}
	up.send("data: still here\n\n")
	if line, _ := next(t, bob); line != "data: still here" {
		t.Errorf("the stream of a stronger role: got %q", line)
	}
}

func TestTokenExpires(t *testing.T) {
	up := broadcast(t)
	srv := caddytest.Start(t, caddytest.Config{Site: chain + up.URL})
	token := srv.AddUser("ursula", policy.User, time.Now().Add(1500*time.Millisecond))
	if line, ok := next(t, lines(t, srv, token)); ok {
		t.Errorf("got %q, want the end of the stream", line)
	}
}

func TestKeepaliveOnTheWire(t *testing.T) {
	up := broadcast(t)
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_redact\nsvc_stream {\nkeepalive 100ms\nkeepalive_style comment\n}\nreverse_proxy " + up.URL})
	s := lines(t, srv, "")
	for range 2 {
		if line, _ := next(t, s); line != ": hb" {
			t.Fatalf("got %q, want a comment", line)
		}
	}
	up.send("data: ok\n\n")
	for {
		line, _ := next(t, s)
		if line == "data: ok" {
			return
		}
		if line != ": hb" {
			t.Fatalf("got %q", line)
		}
	}
}

func TestClientLeaves(t *testing.T) {
	up := broadcast(t)
	srv := caddytest.Start(t, caddytest.Config{Site: chain + up.URL})
	ctx, cancel := context.WithCancel(context.Background())
	r := srv.Request(http.MethodGet, "/", "", "Authorization", "Bearer "+srv.Token).WithContext(ctx)
	resp, err := caddytest.Client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	srv.Eventually("the stream is open", func() bool { return up.streams() == 1 })
	cancel()
	srv.Eventually("the upstream was told", func() bool { return up.streams() == 0 })
}

// TestUpstreamDies holds that the client learns that the stream is not complete.
func TestUpstreamDies(t *testing.T) {
	up := broadcast(t)
	srv := caddytest.Start(t, caddytest.Config{Site: chain + up.URL})
	s := lines(t, srv, srv.Token)
	srv.Eventually("the stream is open", func() bool { return up.streams() == 1 })
	up.send("data: one\n\n")
	if line, _ := next(t, s); line != "data: one" {
		t.Fatalf("got %q", line)
	}
	up.send("")
	if line, _ := next(t, s); !strings.HasPrefix(line, "broken: ") {
		t.Errorf("got %q, want a broken stream", line)
	}
}

// TestSlowClient holds that a client that does not read is cut and the upstream told.
func TestSlowClient(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		event := "data: " + strings.Repeat("x", 64<<10) + "\n\n"
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, event); err != nil {
				return
			}
			http.NewResponseController(w).Flush()
		}
	}))
	defer up.Close()
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_stream {\nwrite_timeout 200ms\n}\nreverse_proxy " + up.URL})
	c, err := net.Dial("tcp", strings.TrimPrefix(srv.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", strings.TrimPrefix(srv.URL, "http://"))
	start := time.Now()
	up.Config.SetKeepAlivesEnabled(false)
	up.Close() // waits for the handler
	if took := time.Since(start); took > 8*time.Second {
		t.Errorf("it took %s", took)
	}
}

// TestErrorStatus holds that answers that are no streams keep their status and body.
func TestErrorStatus(t *testing.T) {
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_redact\nsvc_stream\nreverse_proxy 127.0.0.1:1"})
	if resp, _ := srv.Do(http.MethodGet, "/", ""); resp.StatusCode != http.StatusBadGateway {
		t.Errorf("got %s", resp.Status)
	}
}

// TestHTTP2 holds that a deadline for writes does not end an idle stream, which on HTTP/2 it
// would if it were left standing.
func TestHTTP2(t *testing.T) {
	up := broadcast(t)
	srv := caddytest.Start(t, caddytest.Config{
		Global: "servers {\nprotocols h1 h2 h2c\n}",
		Site:   "svc_auth\nsvc_stream {\nwrite_timeout 100ms\nkeepalive 400ms\nkeepalive_style comment\n}\nreverse_proxy " + up.URL,
	})
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	tr := &http.Transport{Protocols: &protocols}
	defer tr.CloseIdleConnections()
	resp, err := tr.RoundTrip(srv.Request(http.MethodGet, "/", "", "Authorization", "Bearer "+srv.Token))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.ProtoMajor != 2 {
		t.Fatalf("got %s", resp.Proto)
	}
	sc := bufio.NewScanner(resp.Body)
	for beats := 0; beats < 2; {
		if !sc.Scan() {
			t.Fatalf("the stream ended: %v", sc.Err())
		}
		if sc.Text() == ": hb" {
			beats++
		}
	}
}

// TestSecretThroughAllStages sends a secret over two events of a foreign server.
func TestSecretThroughAllStages(t *testing.T) {
	up := broadcast(t)
	srv := caddytest.Start(t, caddytest.Config{Site: chain + up.URL})
	s := lines(t, srv, srv.Token)
	srv.Eventually("the stream is open", func() bool { return up.streams() == 1 })
	up.send(`data: {"type":"message_chunk","content":"the password: hunt"}` + "\n\n")
	up.send(`data: {"type":"message_chunk","content":"er2tiger is it"}` + "\n\n")
	up.send(`data: {"type":"done"}` + "\n\n")
	var got []string
	for len(got) < 3 {
		line, ok := next(t, s)
		if !ok {
			t.Fatalf("the stream ended after %q", got)
		}
		got = append(got, line)
	}
	all := strings.Join(got, "\n")
	if strings.Contains(all, "hunt") || strings.Contains(all, "2tiger") || !strings.Contains(all, "is it") || !strings.HasSuffix(all, `{"type":"done"}`) {
		t.Errorf("got %s", all)
	}
}

// TestCompressedStream holds that an event stream that cannot be redacted is refused as a whole.
func TestCompressedStream(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Content-Encoding", "gzip")
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, "password: hunter2tiger"); err != nil {
				return
			}
			http.NewResponseController(w).Flush()
		}
	}))
	defer up.Close()
	srv := caddytest.Start(t, caddytest.Config{Site: chain + up.URL})
	resp, body := srv.Do(http.MethodGet, "/", "")
	if resp.StatusCode != http.StatusBadGateway || !strings.Contains(body, "upstream_encoded") || strings.Contains(body, "hunter") {
		t.Errorf("got %s %s", resp.Status, body)
	}
}
