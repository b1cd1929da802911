package identity_test

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/sqlite"
)

// severed is a bus that can be cut off from those of other processes. It notes its subscriptions,
// which it tells of what they miss.
type severed struct {
	*bus.Memory
	away atomic.Bool

	mu   sync.Mutex
	subs []*bus.Subscription
}

func (b *severed) Health() bus.Health {
	h := b.Memory.Health()
	h.Connected = !b.away.Load()
	return h
}

func (b *severed) Subscribe(topic string) *bus.Subscription {
	s := b.Memory.Subscribe(topic)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.subs = append(b.subs, s)
	return s
}

func (b *severed) miss() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.subs {
		s.Miss()
	}
}

// cutOffRig is a service on a bus of its own, and another on the same database, which it does not
// hear.
func cutOffRig(t *testing.T) (here, there *rig, live *severed) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "identity.db")
	there = newRigAt(t, path)
	st, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	live = &severed{Memory: bus.NewMemory()}
	here = &rig{store: st, log: &recorder{store: st}, bus: live}
	if here.Service, err = identity.New(t.Context(), st, here.log, live); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := here.Close(); err != nil {
			t.Error(err)
		}
	})
	return here, there, live
}

// While announcements cannot be heard the cache is not believed for a moment.
func TestCutOffAsksTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there, live := cutOffRig(t)
		token := there.addUser(t, identity.AddUser{Name: "bob", Role: policy.User})
		time.Sleep(time.Second)
		p := here.verify(t, token)
		live.away.Store(true)
		here.verify(t, token)
		if _, err := there.RevokeToken(t.Context(), boss, "bob", ""); err != nil {
			t.Fatal(err)
		}
		if _, err := here.Verify(t.Context(), token); !errors.Is(err, policy.ErrRevoked) {
			t.Errorf("Verify: got %v at the same moment, want ErrRevoked", err)
		}
		if _, err := here.Resolve(t.Context(), p); !errors.Is(err, policy.ErrRevoked) {
			t.Errorf("Resolve: got %v at the same moment, want ErrRevoked", err)
		}
	})
}

// Streams wait for announcements. Those that cannot be heard are found in the store.
func TestCutOffWakesStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, there, live := cutOffRig(t)
		live.away.Store(true)
		live.miss()
		synctest.Wait()
		stream := live.Memory.Subscribe(identity.TopicChanges)
		defer stream.Close()
		there.addUser(t, identity.AddUser{Name: "bob", Role: policy.User})
		want, err := there.store.Revision(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		select {
		case m := <-stream.C():
			if string(m) != strconv.FormatInt(want, 10) {
				t.Errorf("got %q, want the revision %d", m, want)
			}
		default:
			t.Error("nobody told the streams within a second")
		}
	})
}

// What was missed while the bus was cut off is looked up when it is back, not when somebody asks.
func TestLostAnnouncement(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there, live := cutOffRig(t)
		token := there.addUser(t, identity.AddUser{Name: "bob", Role: policy.User})
		time.Sleep(time.Second)
		here.verify(t, token)
		if _, err := there.RevokeToken(t.Context(), boss, "bob", ""); err != nil {
			t.Fatal(err)
		}
		live.miss()
		synctest.Wait()
		if _, err := here.Verify(t.Context(), token); !errors.Is(err, policy.ErrRevoked) {
			t.Errorf("got %v, want ErrRevoked", err)
		}
	})
}

// asking counts how often the store's revision is read, and holds the readers up.
type asking struct {
	identity.Store
	reads atomic.Int64
	gate  chan struct{} // nil: nobody waits
}

func (a *asking) Revision(ctx context.Context) (int64, error) {
	a.reads.Add(1)
	if a.gate != nil {
		<-a.gate
	}
	return a.Store.Revision(ctx)
}

// A crowd of requests while the bus is cut off shares what one of them reads.
func TestCutOffSharesReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "identity.db"))
		if err != nil {
			t.Fatal(err)
		}
		counted := &asking{Store: st}
		live := &severed{Memory: bus.NewMemory()}
		s, err := identity.New(t.Context(), counted, &recorder{store: st}, live)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		_, secret, err := s.AddUser(t.Context(), boss, identity.AddUser{Name: "bob", Role: policy.User})
		if err != nil {
			t.Fatal(err)
		}
		live.away.Store(true)
		counted.gate = make(chan struct{})
		counted.reads.Store(0)
		var crowd sync.WaitGroup
		for range 50 {
			crowd.Go(func() {
				if _, err := s.Verify(t.Context(), secret.Reveal()); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
			time.Sleep(time.Nanosecond)
		}
		close(counted.gate)
		crowd.Wait()
		if got := counted.reads.Load(); got > 3 {
			t.Errorf("the store was read %d times for 50 requests", got)
		}
	})
}
