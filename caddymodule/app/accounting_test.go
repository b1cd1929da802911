package app

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy/identity"
)

// journal is an audit log in memory.
type journal struct {
	mu     sync.Mutex
	events []audit.Event
	broken error
}

func (j *journal) Healthy(context.Context) error { return j.broken }

func (j *journal) Queue(_ context.Context, e ...audit.Event) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events = append(j.events, e...)
	return nil
}

func TestAccounting(t *testing.T) {
	own, other := peer{uid: uint32(os.Geteuid())}, peer{uid: uint32(os.Geteuid()) + 4242}
	user := identity.OSPrincipal(os.Geteuid()).User
	stranger := identity.OSPrincipal(os.Geteuid() + 4242).User
	for _, tt := range []struct {
		name, method, path string
		peer               peer
		broken             bool
		want               int
		record             *audit.Event
	}{
		{"answered", "GET", "/settings", own, false, 200, &audit.Event{User: user, Role: "admin"}},
		{"nothing written", "POST", "/silent", own, false, 200, &audit.Event{User: user, Role: "admin"}},
		{"not found", "GET", "/no/such", own, false, 404, &audit.Event{User: user, Role: "admin"}},
		{"prefix stripped", "GET", "/identity/users", own, false, 200, &audit.Event{User: user, Role: "admin"}},
		{"status", "GET", "/status", own, false, 200, nil},
		{"health", "GET", "/health", own, false, 200, nil},
		{"no read of the status", "POST", "/status", own, false, 405, &audit.Event{User: user, Role: "admin"}},
		{"refused", "GET", "/settings", other, false, 403, &audit.Event{User: stranger, Reasons: []string{"not_the_service_user"}}},
		{"refused the status", "GET", "/status", other, false, 403, &audit.Event{User: stranger, Reasons: []string{"not_the_service_user"}}},
		{"caller unknown", "GET", "/settings", peer{err: errors.New("no credentials")}, false, 403, &audit.Event{Reasons: []string{"not_the_service_user"}}},
		{"no log", "GET", "/settings", own, true, 503, &audit.Event{User: user, Role: "admin", Reasons: []string{"audit_unavailable"}}},
		{"no log, refused", "GET", "/settings", other, true, 403, &audit.Event{User: stranger, Reasons: []string{"not_the_service_user"}}},
		{"no log, status", "GET", "/status", own, true, 200, nil},
		{"no log, health", "GET", "/health", own, true, 200, nil},
		{"no log, no read", "POST", "/status", own, true, 503, &audit.Event{User: user, Role: "admin", Reasons: []string{"audit_unavailable"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			log := new(journal)
			if tt.broken {
				log.broken = audit.ErrUnavailable
			}
			s, r := newServer(log), newRoutes()
			ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") })
			for _, pattern := range []string{"GET /status", "GET /health", "GET /settings"} {
				r.handle(pattern, ok)
			}
			r.handle("/identity/", http.StripPrefix("/identity", ok))
			r.handle("/silent", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
			s.push(r)
			w := httptest.NewRecorder()
			ctx := context.WithValue(t.Context(), peerKey{}, tt.peer)
			s.ServeHTTP(w, httptest.NewRequestWithContext(ctx, tt.method, tt.path, nil))
			if w.Code != tt.want {
				t.Errorf("got status %d, want %d", w.Code, tt.want)
			}
			if tt.want == http.StatusServiceUnavailable && !strings.Contains(w.Body.String(), `"audit_unavailable"`) {
				t.Errorf("got %s, want the code audit_unavailable", w.Body)
			}
			var want []audit.Event
			if e := tt.record; e != nil {
				e.Type, e.Method, e.Path, e.Code = audit.Request, tt.method, tt.path, tt.want
				want = append(want, *e)
			}
			if d := cmp.Diff(want, log.events, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("records (-want +got):\n%s", d)
			}
		})
	}
}

// TestAccountingOfAStream expects the record, and the first event, while the stream goes on.
func TestAccountingOfAStream(t *testing.T) {
	log := new(journal)
	s, r := newServer(log), newRoutes()
	goOn := make(chan struct{})
	r.handle("/stream", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		stream := http.NewResponseController(w)
		if err := stream.Flush(); err != nil {
			t.Error(err)
		}
		<-goOn
		_, _ = io.WriteString(w, "data: 1\n\n")
		if err := stream.Flush(); err != nil {
			t.Error(err)
		}
		<-goOn
	}))
	s.push(r)
	srv := httptest.NewUnstartedServer(s)
	srv.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		return context.WithValue(ctx, peerKey{}, peer{uid: uint32(os.Geteuid())})
	}
	srv.Start()
	defer srv.Close()
	defer close(goOn)
	resp, err := srv.Client().Get(srv.URL + "/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	log.mu.Lock()
	if len(log.events) != 1 || log.events[0].Path != "/stream" || log.events[0].Code != http.StatusOK {
		t.Errorf("got records %+v, want one of the open stream", log.events)
	}
	log.mu.Unlock()
	goOn <- struct{}{}
	first := make([]byte, 9)
	if _, err := io.ReadFull(resp.Body, first); err != nil || string(first) != "data: 1\n\n" {
		t.Errorf("got %q, %v, want the first event", first, err)
	}
}

func TestAccountingOfAPanic(t *testing.T) {
	log := new(journal)
	s, r := newServer(log), newRoutes()
	r.handle("/", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	s.push(r)
	func() {
		defer func() { _ = recover() }()
		ctx := context.WithValue(t.Context(), peerKey{}, peer{uid: 0})
		s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/x", nil))
	}()
	if len(log.events) != 1 || log.events[0].Code != http.StatusInternalServerError {
		t.Errorf("got records %+v, want one with status 500", log.events)
	}
}
