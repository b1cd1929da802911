package protocol_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents/remote/protocol"
	"github.com/svc-gateway/svc/agents/remote/remotetest"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}

const (
	thread = "a39c3124-9b20-4c31-9d17-67e89b565b2f"
	run    = "01a207b7-2cc0-73e2-8188-8f58425f8743"
)

func client(t *testing.T, url string) *protocol.Client {
	t.Helper()
	c, err := protocol.New(protocol.Config{URL: url, Key: remotetest.Key, Networks: loopback, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// What a server does wrong is an error in words of ours, whatever it does.
func TestHostileServers(t *testing.T) {
	good := fmt.Sprintf(`{"run_id":%q,"thread_id":%q,"status":"running"}`, run, thread)
	for _, tc := range []struct {
		name   string
		answer http.HandlerFunc
		want   string
	}{
		{"a page", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>hunter2 sign in</html>") }, "does not answer as an agent server"},
		{"an error with words", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "hunter2", 500) }, "the server answers 500"},
		{"no access", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, "look at the key"},
		{"a redirect", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "https://hunter2.example")
			w.WriteHeader(307)
		}, "redirects (307)"},
		{"another thread", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"run_id":%q,"thread_id":"hunter2","status":"running"}`, run)
		}, "not the thread's"},
		{"another run", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"run_id":"11a207b7-2cc0-73e2-8188-8f58425f8743","thread_id":%q,"status":"running"}`, thread)
		}, "another run"},
		{"an id that is a path", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"run_id":"../../x","thread_id":%q,"status":"running"}`, thread)
		}, "not the thread's"},
		{"an unknown state", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, strings.Replace(good, "running", "approved", 1))
		}, "state that is not known"},
		{"100 MB", func(w http.ResponseWriter, _ *http.Request) {
			for range 1600 {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		}, "more than 4 MiB"},
		{"a broken answer", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, good)
		}, "broke off"},
		{"a large header", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 1<<20)) }, "does not answer as an HTTP server"},
		{"fine", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, good) }, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := httptest.NewServer(tc.answer)
			defer s.Close()
			_, err := client(t, s.URL).Run(t.Context(), thread, run)
			if tc.want == "" {
				if err != nil {
					t.Errorf("got %v", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, want %q and no word of the server", err, tc.want)
			}
		})
	}
}

// The key goes to the host of the settings and to no other.
func TestTheKeyStays(t *testing.T) {
	got := make(chan string, 10)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r.Header.Get("X-Api-Key") }))
	defer other.Close()
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	defer first.Close()
	c := client(t, first.URL)
	if _, err := c.Start(t.Context(), thread, protocol.Start{Assistant: "a", Text: "t"}); err == nil {
		t.Error("a redirect of a POST was followed")
	}
	if err := c.Join(t.Context(), thread, run, "", func(protocol.Event) {}); err == nil {
		t.Error("a redirect of a stream was followed")
	}
	if len(got) > 0 {
		t.Errorf("the other host was asked, with the key %q", <-got)
	}
	for _, url := range []string{"http://agents.example.com", "http://10.0.0.1", "https://u:p@example.com", "ftp://example.com", "https://example.com/?a=b"} {
		if _, err := protocol.New(protocol.Config{URL: url, Key: "k"}); err == nil {
			t.Errorf("%s is taken for an address that a key may go to", url)
		}
	}
}

// Addresses that are not public are not connected to unless they are listed.
func TestPrivateAddresses(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	c, err := protocol.New(protocol.Config{URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Assistant(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "list it in reach") {
		t.Errorf("got %v, want that it has to be listed", err)
	}
}

func TestJoin(t *testing.T) {
	type event = protocol.Event
	for _, tc := range []struct {
		name, stream string
		want         []event
		err          string
	}{
		{"whole", ": hb\nevent: updates\ndata: {\"a\":1}\nid: 3\n\nevent: end\ndata: null\nid: 4\n\n", []event{{"3", "updates", []byte(`{"a":1}`)}, {"4", "end", []byte("null")}}, ""},
		{"broken in a line", "event: updates\ndata: {}\nid: 1\n\nevent: upd", []event{{"1", "updates", []byte("{}")}}, ""},
		{"broken in an event", "event: updates\ndata: {}\nid: 1\n\nevent: updates\ndata: {}\nid: 2\n", []event{{"1", "updates", []byte("{}")}}, ""},
		{"an id that cannot be sent back", "event: updates\nid: a b\x01\n\n", []event{{"", "updates", nil}}, ""},
		{"a line without end", "data: " + strings.Repeat("x", 1<<20), nil, "more than is read"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				fmt.Fprint(w, tc.stream)
			}))
			defer s.Close()
			var got []event
			err := client(t, s.URL).Join(t.Context(), thread, run, "", func(e event) { got = append(got, e) })
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("got error %v, want %q", err, tc.err)
			}
		})
	}
}

// A stream that floods, or says nothing, comes to an end.
func TestEndlessStreams(t *testing.T) {
	flood := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			if _, err := fmt.Fprintf(w, "event: updates\r\ndata: %s\r\n\r\n", strings.Repeat("x", 1000)); err != nil {
				return
			}
		}
	}))
	defer flood.Close()
	if err := client(t, flood.URL).Join(t.Context(), thread, run, "", func(protocol.Event) {}); !errors.Is(err, protocol.ErrFlood) {
		t.Errorf("got %v, want ErrFlood", err)
	}
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer silent.Close()
	c, err := protocol.New(protocol.Config{URL: silent.URL, Networks: loopback, Timeout: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Join(t.Context(), thread, run, "", func(protocol.Event) {}); err == nil || errors.Is(err, context.Canceled) && t.Context().Err() != nil {
		t.Errorf("got %v, want that the stream broke off", err)
	}
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }))
	defer page.Close()
	if err := client(t, page.URL).Join(t.Context(), thread, run, "", func(protocol.Event) {}); err == nil || !strings.Contains(err.Error(), "no stream of events") {
		t.Errorf("got %v, want that it is no stream", err)
	}
}

// Whatever a server streams, reading it ends without a panic, and no id leaves that a header cannot have.
func FuzzJoin(f *testing.F) {
	f.Add("event: updates\ndata: {}\nid: 1\n\n")
	f.Add(": hb\n\r\n\ndata\n\n:\n\n")
	var stream string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, stream)
	}))
	f.Cleanup(s.Close)
	f.Fuzz(func(t *testing.T, text string) {
		stream = text
		_ = client(t, s.URL).Join(t.Context(), thread, run, "", func(e protocol.Event) {
			if strings.ContainsFunc(e.ID, func(r rune) bool { return r <= ' ' || r > '~' }) {
				t.Errorf("the id %q", e.ID)
			}
		})
	})
}
