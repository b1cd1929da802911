package identity_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/sqlite"
)

var boss = policy.Principal{User: "os:root", Role: policy.Admin, Source: policy.SourceOS, Address: "192.0.2.9", TokenID: "t0"}

// rig is a service with what it stands on.
type rig struct {
	*identity.Service
	store identity.Store
	log   *recorder
	bus   bus.Bus
}

func newRig(t testing.TB) *rig {
	t.Helper()
	return newRigAt(t, filepath.Join(t.TempDir(), "identity.db"))
}

func newRigAt(t testing.TB, path string, options ...identity.Option) *rig {
	t.Helper()
	st, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{store: st, log: &recorder{}, bus: bus.NewMemory()}
	r.log.store = st
	if r.Service, err = identity.New(t.Context(), st, r.log, r.bus, options...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// addUser creates a user and returns the token.
func (r *rig) addUser(t testing.TB, u identity.AddUser) string {
	t.Helper()
	_, secret, err := r.AddUser(t.Context(), boss, u)
	if err != nil {
		t.Fatal(err)
	}
	return secret.Reveal()
}

func (r *rig) verify(t testing.TB, token string) policy.Principal {
	t.Helper()
	p, err := r.Verify(t.Context(), token)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// recorder is an audit log that notes the store's revision when it was called.
type recorder struct {
	store identity.Store

	mu       sync.Mutex
	recorded []audit.Event
	queued   []audit.Event
	at       []int64 // revision at each Record
	fail     error
}

func (l *recorder) Record(ctx context.Context, e ...audit.Event) error {
	revision, err := l.store.Revision(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := errors.Join(err, l.fail); err != nil {
		return err
	}
	l.recorded, l.at = append(l.recorded, e...), append(l.at, revision)
	return nil
}

func (l *recorder) Queue(_ context.Context, e ...audit.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queued = append(l.queued, e...)
	return l.fail
}
