package auth

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/headername"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/web"
)

// fakeAudit keeps events; err makes it unhealthy and full.
type fakeAudit struct {
	err    error
	events []audit.Event
}

func (a *fakeAudit) Healthy(context.Context) error { return a.err }

func (a *fakeAudit) Queue(ctx context.Context, e ...audit.Event) error {
	if a.err != nil {
		<-ctx.Done()
		return ctx.Err()
	}
	a.events = append(a.events, e...)
	return nil
}

// fakeProvider lets everybody in as alice unless err is set.
type fakeProvider struct{ err error }

func (fakeProvider) Name() string { return "fake" }

func (p fakeProvider) Authenticate(*http.Request) (policy.Principal, identity.Outcome, error) {
	if p.err != nil {
		return policy.Principal{}, identity.No, p.err
	}
	return policy.Principal{User: "alice", Role: policy.Readonly}, identity.Yes, nil
}

type fakeUsers struct{}

func (fakeUsers) NoteAddress(context.Context, policy.Principal) error { return nil }

func newTestHandler(a auditor, p identity.Provider) *Handler {
	outcomes, _ := newOutcomes(prometheus.NewRegistry())
	engine, err := policy.New()
	if err != nil {
		panic(err) // the rules of the program
	}
	return &Handler{
		outcomes: outcomes, policy: policy.NewLive(engine), users: fakeUsers{},
		logger: zap.NewNop(), audit: a, chain: identity.Chain{p}, Prefix: defaultPrefix, reserved: newReserved(nil, nil),
		web: &web.Handler{Config: web.Config{Prefix: defaultPrefix}},
	}
}

func TestNothingRunsWithoutAudit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newTestHandler(&fakeAudit{err: audit.ErrUnavailable}, fakeProvider{})
		w := httptest.NewRecorder()
		start := time.Now()
		err := h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil), caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error {
			t.Error("the next handler ran")
			return nil
		}))
		if err != nil || w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), `"audit_unavailable"`) {
			t.Errorf("got %v, %d %s", err, w.Code, w.Body)
		}
		if w.Header().Get("Retry-After") == "" {
			t.Error("Retry-After is missing")
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("the refusal waited %s for a queue that is full", took)
		}
	})
}

func TestTechnicalTrouble(t *testing.T) {
	log := new(fakeAudit)
	h := newTestHandler(log, fakeProvider{err: errors.New("disk on fire, password hunter2")})
	w := httptest.NewRecorder()
	if err := h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil), nil); err != nil {
		t.Fatal(err)
	}
	if w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "fire") || w.Header().Get("WWW-Authenticate") != "" {
		t.Errorf("got %d %v %s", w.Code, w.Header(), w.Body)
	}
	if len(log.events) != 1 || log.events[0].Code != http.StatusServiceUnavailable {
		t.Errorf("recorded %+v", log.events)
	}
}

// TestAccountedOnce holds that every way to answer, and to fail to, makes one record.
func TestAccountedOnce(t *testing.T) {
	for _, tt := range []struct {
		name string
		next caddyhttp.HandlerFunc
		want int
	}{
		{"header and body", func(w http.ResponseWriter, _ *http.Request) error {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusCreated)
			w.Write([]byte("x"))
			return http.NewResponseController(w).Flush()
		}, http.StatusCreated},
		{"body only", func(w http.ResponseWriter, _ *http.Request) error {
			_, err := w.Write([]byte("x"))
			return err
		}, http.StatusOK},
		{"copied", func(w http.ResponseWriter, _ *http.Request) error {
			_, err := w.(*recorder).ReadFrom(strings.NewReader("x"))
			return err
		}, http.StatusOK},
		{"flushed", func(w http.ResponseWriter, _ *http.Request) error {
			return http.NewResponseController(w).Flush()
		}, http.StatusOK},
		{"nothing", func(http.ResponseWriter, *http.Request) error { return nil }, http.StatusOK},
		{"an error for Caddy", func(http.ResponseWriter, *http.Request) error {
			return caddyhttp.Error(http.StatusBadGateway, errors.New("down"))
		}, http.StatusBadGateway},
		{"an error", func(http.ResponseWriter, *http.Request) error { return errors.New("x") }, http.StatusInternalServerError},
		{"an error after the header", func(w http.ResponseWriter, _ *http.Request) error {
			w.WriteHeader(http.StatusAccepted)
			return errors.New("x")
		}, http.StatusAccepted},
		{"an aborted answer", func(w http.ResponseWriter, _ *http.Request) error {
			w.WriteHeader(http.StatusAccepted)
			panic(http.ErrAbortHandler)
		}, http.StatusAccepted},
		{"a panic", func(http.ResponseWriter, *http.Request) error { panic("bug") }, http.StatusInternalServerError},
	} {
		t.Run(tt.name, func(t *testing.T) {
			log := new(fakeAudit)
			func() {
				defer func() { _ = recover() }()
				_ = newTestHandler(log, fakeProvider{}).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/x", nil), tt.next)
			}()
			if len(log.events) != 1 || log.events[0].Code != tt.want || log.events[0].User != "alice" || log.events[0].Path != "/x" {
				t.Errorf("recorded %+v, want one event with the code %d", log.events, tt.want)
			}
		})
	}
}

func TestReserved(t *testing.T) {
	set := newReserved(&IdentityHeaders{User: "x-my-user"}, &Assertion{Header: "x-proof"})
	for name, want := range map[string]bool{
		"Remote-User": true, "remote_user": true, "REMOTE.USER": true, "Remote_role": true,
		"X-My-User": true, "X-Proof": true, "x_proof": true, "X_my.User": true, "X-Svc-Anything": true, "x_svc_role": true,
		"Remote-Addr": false, "X-Svcx": false, "User-Agent": false, "": false,
	} {
		if got := set.has(name, headername.AppendFold(nil, name)); got != want {
			t.Errorf("%q: got %v, want %v", name, got, want)
		}
	}
}

// The attack: a client sends the header that a second svc_auth sets, in a spelling that the server
// behind takes for the same and that the first one has no reason to remove.
func TestSpellingsBehindAnother(t *testing.T) {
	first, second := newTestHandler(new(fakeAudit), fakeProvider{}), newTestHandler(new(fakeAudit), fakeProvider{})
	first.IdentityHeaders = defaultIdentityHeaders()
	second.IdentityHeaders = &IdentityHeaders{User: "X-My-User"}
	second.reserved = newReserved(second.IdentityHeaders, nil)
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Header = http.Header{"X_my_user": {"admin"}, "X-My-User": {"admin"}, "X_other": {"1"}}
	var got http.Header
	err := first.ServeHTTP(httptest.NewRecorder(), r, caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error {
		return second.ServeHTTP(w, r, caddyhttp.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) error {
			got = r.Header.Clone()
			return nil
		}))
	}))
	if err != nil {
		t.Fatal(err)
	}
	delete(got, requestID)
	want := http.Header{"X-My-User": {"alice"}, "X_other": {"1"}, "Remote-User": {"alice"}, "Remote-Role": {"readonly"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the next handler's header (-want +got):\n%s", d)
	}
}

func TestPlausibleID(t *testing.T) {
	for id, want := range map[string]bool{
		"0f8fad5b-d9cb-469f-a165-70867728950e": true, "short": false,
		"with space": false, "line\nbreak": false, strings.Repeat("x", 65): false,
	} {
		if got := plausibleID(id); got != want {
			t.Errorf("%q: got %v, want %v", id, got, want)
		}
	}
}

func TestOnlyWhatTheClientAskedForIsOpen(t *testing.T) {
	for _, tc := range []struct {
		method, asked, rewritten string
		want                     bool
	}{
		{"GET", "/health", "/health", true},
		{"HEAD", "/health", "/health", true},
		{"POST", "/health", "/health", false},
		{"GET", "/api/health", "/health", false},
		{"GET", "/health", "/secret", false},
		{"GET", "/health/", "/health/", false},
		{"GET", "/Health", "/Health", false},
	} {
		original := httptest.NewRequest(tc.method, tc.asked, nil)
		r := httptest.NewRequest(tc.method, tc.rewritten, nil)
		r = r.WithContext(context.WithValue(r.Context(), caddyhttp.OriginalRequestCtxKey, *original))
		if got := forHealth(r); got != tc.want {
			t.Errorf("%s %s, rewritten to %s: got open %v, want %v", tc.method, tc.asked, tc.rewritten, got, tc.want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	for wait, want := range map[time.Duration]string{
		0: "", time.Nanosecond: "1", time.Second: "1", time.Second + 1: "2", 15 * time.Minute: "900",
	} {
		refused := &identity.Refused{Status: http.StatusTooManyRequests, Code: "too_many_failures", Detail: "wait", RetryAfter: wait}
		w := httptest.NewRecorder()
		err := newTestHandler(new(fakeAudit), fakeProvider{err: refused}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil), nil)
		if err != nil || w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != want {
			t.Errorf("%s: got %d, Retry-After %q, %v; want 429, %q", wait, w.Code, w.Header().Get("Retry-After"), err, want)
		}
	}
}

// The attack: whoever may make groups in a directory makes one named "guests,admins", and a server
// behind takes its members for admins.
func TestGroupsCannotBeForged(t *testing.T) {
	h := http.Header{}
	defaultIdentityHeaders().set(h, policy.Principal{User: "a", Groups: []string{"staff", "guests,admins", " admins", "x\nRemote-User: root", "", "team b"}})
	if got, want := h.Get("Remote-Groups"), "staff,team b"; got != want {
		t.Errorf("got groups %q, want %q", got, want)
	}
	h = http.Header{}
	defaultIdentityHeaders().set(h, policy.Principal{User: "a", Groups: []string{"a,b"}})
	if got := h.Values("Remote-Groups"); len(got) > 0 {
		t.Errorf("got groups %q, want none", got)
	}
}

// basic is a provider that takes passwords.
type basic struct{ fakeProvider }

func (basic) Challenge() string { return `Basic realm="svc"` }

// A browser that is asked for a password by Basic opens a dialog of its own and keeps what is
// typed there for ever; the login page is for people.
func TestBrowsersAreNotAskedByBasic(t *testing.T) {
	for _, tt := range []struct {
		name    string
		canOpen bool
		header  http.Header
		want    string
	}{
		{"a program", true, nil, `Basic realm="svc"`},
		{"a script of a page", true, http.Header{"Sec-Fetch-Mode": {"cors"}}, ""},
		{"a form", true, http.Header{"Accept": {"text/html"}}, ""},
		{"an old browser's script", true, http.Header{"Cookie": {"svc_token=x"}}, ""},
		{"a browser, without a login page", false, http.Header{"Sec-Fetch-Mode": {"cors"}}, `Basic realm="svc"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newTestHandler(new(fakeAudit), basic{fakeProvider{identity.ErrNoCredentials}})
			h.web.Tokens = tt.canOpen
			r := httptest.NewRequest(http.MethodPost, "/", nil)
			maps.Copy(r.Header, tt.header)
			w := httptest.NewRecorder()
			if err := h.ServeHTTP(w, r, nil); err != nil {
				t.Fatal(err)
			}
			if got := w.Header().Get("WWW-Authenticate"); w.Code != http.StatusUnauthorized || got != tt.want {
				t.Errorf("got %d, WWW-Authenticate %q, want %q", w.Code, got, tt.want)
			}
		})
	}
}

// What logs call the user is who we let in last, whoever was there before.
func TestPlaceholdersTwice(t *testing.T) {
	repl := caddy.NewReplacer()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r = r.WithContext(context.WithValue(r.Context(), caddy.ReplacerCtxKey, repl))
	placeholders(r, policy.Principal{User: "alice", Role: policy.User})
	placeholders(r, policy.Principal{User: "bob", Role: policy.Admin})
	if got, want := repl.ReplaceAll("{http.auth.user.id} {http.auth.user.role}", ""), "bob admin"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Later handlers may say more.
func TestPlaceholders(t *testing.T) {
	h := newTestHandler(&fakeAudit{}, fakeProvider{})
	repl := caddy.NewReplacer()
	repl.Set("http.auth.user.id", "mallory")
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r = r.WithContext(context.WithValue(r.Context(), caddy.ReplacerCtxKey, repl))
	err := h.ServeHTTP(httptest.NewRecorder(), r, caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error {
		if got, want := repl.ReplaceAll("{http.auth.user.id} {http.auth.user.role}", ""), "alice readonly"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		repl.Set("http.auth.user.id", "bob")
		return nil
	}))
	if got, _ := repl.GetString("http.auth.user.id"); err != nil || got != "bob" {
		t.Errorf("got %q, %v, want what was set last", got, err)
	}
}
