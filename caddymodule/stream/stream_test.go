package stream

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

func newHandler(t *testing.T, h *Handler) (*Handler, *fakeApp) {
	t.Helper()
	a := &fakeApp{bus: bus.NewMemory(), stopping: make(chan struct{})}
	h.logger, h.users, h.hub = zap.NewNop(), a, newHub(a)
	h.defaults()
	if err := h.Validate(); err != nil {
		t.Fatal(err)
	}
	return h, a
}

var alice = policy.Principal{User: "alice", Role: policy.User, Source: policy.SourceToken}

// serve runs inner behind h and returns the client and the result when it is through.
func serve(h *Handler, p policy.Principal, inner caddyhttp.HandlerFunc) (*client, <-chan error) {
	c := &client{header: http.Header{}}
	ctx := policy.WithPrincipal(context.Background(), p)
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
	done := make(chan error, 1)
	go func() { done <- h.ServeHTTP(c, r, inner) }()
	return c, done
}

func events(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
}

// wait is an inner handler that sends one event and stays until its context ends.
func wait(w http.ResponseWriter, r *http.Request) error {
	events(w)
	io.WriteString(w, "data: 1\n\n")
	<-r.Context().Done()
	return context.Cause(r.Context())
}

func TestKeepalive(t *testing.T) {
	for _, tt := range []struct {
		name    string
		handler Handler
		write   string
		after   time.Duration
		want    string
	}{
		{"newline", Handler{}, "data: 1\n\n", 25 * time.Second, "data: 1\n\n\n\n\n"},
		{"comment", Handler{KeepaliveStyle: styleComment}, "data: 1\n\n", 17 * time.Second, "data: 1\n\n: hb\n: hb\n"},
		{"off", Handler{Keepalive: -1}, "data: 1\n\n", time.Minute, "data: 1\n\n"},
		{"interval", Handler{Keepalive: caddy.Duration(time.Minute)}, "data: 1\n\n", 59 * time.Second, "data: 1\n\n"},
		{"before the first event", Handler{}, "", 9 * time.Second, "\n"},
		{"inside an event", Handler{}, "data: 1\n", time.Minute, "data: 1\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, _ := newHandler(t, &tt.handler)
				c, done := serve(h, alice, func(w http.ResponseWriter, r *http.Request) error {
					events(w)
					w.WriteHeader(http.StatusOK)
					if tt.write != "" {
						io.WriteString(w, tt.write)
					}
					<-time.After(tt.after)
					return nil
				})
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				if got := c.body(); got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
				if err := h.Cleanup(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// Bytes among those of a compressed stream would break it.
func TestCompressedStreamGetsNoKeepalive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _ := newHandler(t, &Handler{})
		defer h.Cleanup()
		c, done := serve(h, alice, func(w http.ResponseWriter, _ *http.Request) error {
			events(w)
			w.Header().Set("Content-Encoding", "gzip")
			io.WriteString(w, "\x1f\x8b\n\n")
			<-time.After(time.Minute)
			return nil
		})
		<-done
		if got, want := c.body(), "\x1f\x8b\n\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// What looks after streams must not miss one that a client may take for one.
func TestAmongSeveralTypes(t *testing.T) {
	for _, types := range [][]string{{"text/plain", "text/event-stream"}, {"text/event-stream, text/plain"}, {"TEXT/Event-Stream;x=1"}} {
		synctest.Test(t, func(t *testing.T) {
			h, a := newHandler(t, &Handler{})
			defer h.Cleanup()
			c, done := serve(h, alice, func(w http.ResponseWriter, r *http.Request) error {
				w.Header()["Content-Type"] = types
				io.WriteString(w, "data: 1\n\n")
				<-r.Context().Done()
				return nil
			})
			synctest.Wait()
			close(a.stopping)
			<-done
			if got := c.body(); got != "data: 1\n\n" {
				t.Errorf("%q: got %q", types, got)
			}
		})
	}
}

// TestNoWayAround holds that every way to write into a stream is locked, flushed and seen: a keepalive
// comes where the event is complete, and nothing once the stream has ended.
func TestNoWayAround(t *testing.T) {
	const first, second = "data: 1\n", "data: 2\n\n"
	for name, write := range map[string]func(w http.ResponseWriter, s string) error{
		"Write":   func(w http.ResponseWriter, s string) error { _, err := w.Write([]byte(s)); return err },
		"io.Copy": func(w http.ResponseWriter, s string) error { _, err := io.Copy(w, strings.NewReader(s)); return err },
		"ReadFrom": func(w http.ResponseWriter, s string) error {
			_, err := w.(io.ReaderFrom).ReadFrom(strings.NewReader(s))
			return err
		},
		"behind a flush": func(w http.ResponseWriter, s string) error {
			if err := http.NewResponseController(w).Flush(); err != nil {
				return err
			}
			_, err := io.WriteString(w, s)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, a := newHandler(t, &Handler{})
				defer h.Cleanup()
				var late error
				c, done := serve(h, alice, func(w http.ResponseWriter, r *http.Request) error {
					events(w)
					if err := write(w, first); err != nil {
						return err
					}
					<-time.After(9 * time.Second) // inside an event
					if err := write(w, second); err != nil {
						return err
					}
					<-time.After(9 * time.Second)
					if _, _, err := http.NewResponseController(w).Hijack(); !errors.Is(err, http.ErrHijacked) {
						t.Errorf("Hijack: got %v, want %v", err, http.ErrHijacked)
					}
					if _, ok := w.(interface{ Unwrap() http.ResponseWriter }); ok {
						t.Error("the writer can be unwrapped")
					}
					a.set(policy.ErrRevoked)
					<-r.Context().Done()
					<-time.After(2 * time.Second)
					late = write(w, "data: late\n\n")
					return nil
				})
				<-done
				if got, want := c.body(), first+second+"\n"; got != want || !errors.Is(late, policy.ErrRevoked) {
					t.Errorf("got %q, late %v; want %q, %v", got, late, want, policy.ErrRevoked)
				}
			})
		})
	}
}

func TestBusyStreamGetsNoKeepalive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _ := newHandler(t, &Handler{})
		defer h.Cleanup()
		c, done := serve(h, alice, func(w http.ResponseWriter, _ *http.Request) error {
			events(w)
			for range 10 {
				io.WriteString(w, "data: 1\n\n")
				<-time.After(7 * time.Second)
			}
			return nil
		})
		<-done
		if got, want := c.body(), strings.Repeat("data: 1\n\n", 10); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestEnds(t *testing.T) {
	technical := errors.New("disk on fire")
	for _, tt := range []struct {
		name  string
		who   policy.Principal
		act   func(a *fakeApp)
		after time.Duration // from the act on
		cause error
	}{
		{"revoked, told by the bus", alice, func(a *fakeApp) {
			a.set(policy.ErrRevoked)
			a.bus.Publish(context.Background(), identity.TopicChanges, nil)
		}, 0, policy.ErrRevoked},
		{"revoked, nobody told", alice, func(a *fakeApp) { a.set(policy.ErrRevoked) }, 8 * time.Second, policy.ErrRevoked},
		{"disabled", alice, func(a *fakeApp) { a.set(policy.ErrExpired) }, 8 * time.Second, policy.ErrExpired},
		{"the store stays away", alice, func(a *fakeApp) { a.set(technical) }, 16 * time.Second, technical},
		{"stopping", alice, func(a *fakeApp) { close(a.stopping) }, 0, policy.ErrStopping},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h, a := newHandler(t, &Handler{})
				defer h.Cleanup()
				var cause error
				c, done := serve(h, tt.who, func(w http.ResponseWriter, r *http.Request) error {
					wait(w, r)
					cause = context.Cause(r.Context())
					_, err := io.WriteString(w, "data: last\n\n")
					return err
				})
				synctest.Wait()
				start := time.Now()
				tt.act(a)
				if err := <-done; err != nil {
					t.Errorf("got error %v, want none", err)
				}
				if !errors.Is(cause, tt.cause) {
					t.Errorf("cause: got %v, want %v", cause, tt.cause)
				}
				if took := time.Since(start); took > tt.after {
					t.Errorf("took %s, want at most %s", took, tt.after)
				}
				if !strings.HasSuffix(c.body(), "data: last\n\n") {
					t.Errorf("the last event is missing: %q", c.body())
				}
			})
		})
	}
}

func TestExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _ := newHandler(t, &Handler{Keepalive: caddy.Duration(time.Hour)})
		defer h.Cleanup()
		who, start := alice, time.Now()
		who.Expires = start.Add(90 * time.Second)
		_, done := serve(h, who, wait)
		<-done
		if took := time.Since(start); took != 90*time.Second {
			t.Errorf("ended after %s, want 1m30s", took)
		}
	})
}

func TestOneHiccupIsTolerated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, a := newHandler(t, &Handler{})
		defer h.Cleanup()
		_, done := serve(h, alice, wait)
		<-time.After(4 * time.Second) // between two looks
		for range 5 {
			a.set(errors.New("busy"))
			<-time.After(8 * time.Second)
			a.set(nil)
			<-time.After(8 * time.Second)
		}
		select {
		case <-done:
			t.Fatal("the stream ended")
		default:
		}
		close(a.stopping)
		<-done
	})
}

func TestWritesFailAfterTheGracePeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, a := newHandler(t, &Handler{})
		defer h.Cleanup()
		var late error
		c, done := serve(h, alice, func(w http.ResponseWriter, r *http.Request) error {
			wait(w, r)
			<-time.After(1100 * time.Millisecond)
			_, late = io.WriteString(w, "data: late\n\n")
			return late
		})
		synctest.Wait()
		a.set(policy.ErrRevoked)
		a.bus.Publish(context.Background(), identity.TopicChanges, nil)
		if err := <-done; err != nil {
			t.Errorf("got error %v, want none after the first byte", err)
		}
		if !errors.Is(late, policy.ErrRevoked) {
			t.Errorf("late write: got %v, want %v", late, policy.ErrRevoked)
		}
		if strings.Contains(c.body(), "late") {
			t.Errorf("got %q", c.body())
		}
	})
}

func TestWritesGoOnWhileTheProcessStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, a := newHandler(t, &Handler{})
		defer h.Cleanup()
		c, done := serve(h, alice, func(w http.ResponseWriter, r *http.Request) error {
			wait(w, r)
			<-time.After(5 * time.Second)
			_, err := io.WriteString(w, "data: last\n\n")
			return err
		})
		synctest.Wait()
		close(a.stopping)
		if err := <-done; err != nil {
			t.Errorf("got error %v", err)
		}
		if !strings.Contains(c.body(), "last") {
			t.Errorf("got %q, want the last event: the server's grace period bounds it, not ours", c.body())
		}
	})
}

func TestSlowClientIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _ := newHandler(t, &Handler{})
		defer h.Cleanup()
		c, done := serve(h, alice, func(w http.ResponseWriter, r *http.Request) error {
			wait(w, r)
			return context.Cause(r.Context())
		})
		synctest.Wait()
		c.mu.Lock()
		c.err = context.DeadlineExceeded
		c.mu.Unlock()
		if err := <-done; err != nil { // the keepalive finds out
			t.Errorf("got error %v, want none", err)
		}
	})
}

func TestPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, a := newHandler(t, &Handler{})
		defer h.Cleanup()
		caught := func(p any, cut bool) (got any) {
			c := &client{header: http.Header{}}
			r := httptest.NewRequestWithContext(policy.WithPrincipal(context.Background(), alice), http.MethodGet, "/", nil)
			defer func() { got = recover() }()
			h.ServeHTTP(c, r, caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
				events(w)
				io.WriteString(w, "data: 1\n\n")
				if cut {
					a.set(policy.ErrRevoked)
					defer a.set(nil)
					<-r.Context().Done()
				}
				panic(p)
			}))
			return nil
		}
		if got := caught(http.ErrAbortHandler, false); got != any(http.ErrAbortHandler) {
			t.Errorf("an upstream that died: got %v, want the panic to go on", got)
		}
		if got := caught(http.ErrAbortHandler, true); got != nil {
			t.Errorf("a stream we ended: got %v, want a regular end", got)
		}
		if got := caught("bug", true); got != "bug" {
			t.Errorf("a bug: got %v, want the panic to go on", got)
		}
	})
}

func TestErrors(t *testing.T) {
	h, _ := newHandler(t, &Handler{})
	defer h.Cleanup()
	boom := errors.New("boom")
	_, done := serve(h, alice, func(w http.ResponseWriter, _ *http.Request) error {
		events(w)
		return boom
	})
	if err := <-done; !errors.Is(err, boom) {
		t.Errorf("before the header: got %v, want %v", err, boom)
	}
	_, done = serve(h, alice, func(w http.ResponseWriter, _ *http.Request) error {
		events(w)
		w.WriteHeader(http.StatusOK)
		return boom
	})
	if err := <-done; err != nil {
		t.Errorf("after the header: got %v, want none", err)
	}
}

func TestRetiredHubOutlivesItsStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, a := newHandler(t, &Handler{})
		c, done := serve(h, alice, wait)
		synctest.Wait()
		if err := h.Cleanup(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if a.held() != 1 {
			t.Errorf("the shared resources are held %d times, want once", a.held())
		}
		<-time.After(9 * time.Second)
		if got, want := c.body(), "data: 1\n\n\n"; got != want {
			t.Errorf("after the reload: got %q, want %q", got, want)
		}
		close(a.stopping)
		<-done
		synctest.Wait()
		if a.held() != 0 {
			t.Errorf("the shared resources are held %d times, want none", a.held())
		}
	})
}

func TestOtherResponsesPassUntouched(t *testing.T) {
	h, a := newHandler(t, &Handler{})
	c := &client{header: http.Header{}}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	err := h.ServeHTTP(c, r, caddyhttp.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "2")
		_, err := io.Copy(w, strings.NewReader("{}"))
		return err
	}))
	if err != nil || c.got.String() != "{}" || c.sent != "" || c.header.Get("Content-Length") != "2" {
		t.Errorf("got %v, %q flushed %q, header %v", err, c.got.String(), c.sent, c.header)
	}
	if a.held() != 0 {
		t.Error("a response that is no event stream reached the hub")
	}
}
