package adminapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/adminapi"
	"github.com/svc-gateway/svc/policy/identity/identitytest"
)

var boss = policy.Principal{User: "os:root", Role: policy.Admin, Source: policy.SourceOS, Address: "192.0.2.9", TokenID: "t0"}

// rig is a service whose audit log can be made to fail.
type rig struct {
	*identity.Service
	log *recorder
}

type recorder struct {
	fail error // set before requests are sent

	mu     sync.Mutex
	queued []audit.Event
}

func (l *recorder) Record(context.Context, ...audit.Event) error { return l.fail }

func (l *recorder) Queue(_ context.Context, e ...audit.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queued = append(l.queued, e...)
	return l.fail
}

// drain returns what was queued since the last time.
func (l *recorder) drain() []audit.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	queued := l.queued
	l.queued = nil
	return queued
}

func newRig(t *testing.T) *rig {
	t.Helper()
	log := &recorder{}
	return &rig{identitytest.Open(t, filepath.Join(t.TempDir(), "identity.db"), log, bus.NewMemory()), log}
}

// addUser creates a user and returns the token.
func (r *rig) addUser(t *testing.T, u identity.AddUser) string {
	t.Helper()
	_, secret, err := r.AddUser(t.Context(), boss, u)
	if err != nil {
		t.Fatal(err)
	}
	return secret.Reveal()
}

func (r *rig) verify(t *testing.T, token string) policy.Principal {
	t.Helper()
	p, err := r.Verify(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// login opens a session of a day.
func (r *rig) login(t *testing.T, p policy.Principal, kind identity.SessionKind) identity.Session {
	t.Helper()
	session, _, err := r.Login(t.Context(), identity.NewSession{Principal: p, Kind: kind, Lifetime: 24 * time.Hour, Agent: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return session
}

// serve mounts the handler below /identity, for requests of the actor, and returns a client of it.
func serve(t *testing.T, r *rig, actor *policy.Principal) *adminapi.Client {
	t.Helper()
	h := http.StripPrefix("/identity", adminapi.Handler(r.Service))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if actor != nil {
			req = req.WithContext(policy.WithPrincipal(req.Context(), *actor))
		}
		h.ServeHTTP(w, req)
	}))
	t.Cleanup(s.Close)
	return adminapi.NewClient(s.Client(), s.URL+"/identity/")
}
