package identity_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

// newAddresses returns where tokens turned up, according to the records.
func (r *rig) newAddresses() (list []string) {
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	for _, e := range r.log.queued {
		if e.Type == audit.TokenNewAddress {
			list = append(list, fmt.Sprint(e.User, " ", e.TokenID != "", " ", e.Address))
		}
	}
	return list
}

func (r *rig) use(t *testing.T, p policy.Principal, addresses ...string) {
	t.Helper()
	for _, p.Address = range addresses {
		if err := r.NoteAddress(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTokenAtNewAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "identity.db")
		r := newRigAt(t, path)
		bob := r.verify(t, r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User}))
		eve := r.verify(t, r.addUser(t, identity.AddUser{Name: "eve", Role: policy.User}))

		r.use(t, bob, home, home, "2001:db8::1", "2001:db8::2", away, home)
		r.use(t, eve, away)
		session := bob
		session.SessionID = "s"
		r.use(t, session, "203.0.113.1")
		r.use(t, boss, "203.0.113.1")
		r.use(t, bob, "")
		want := []string{"bob true 2001:db8::1", "bob true 198.51.100.7"}
		if d := cmp.Diff(want, r.newAddresses()); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}

		for range 100 { // used all the time, an address stays known
			time.Sleep(25 * time.Hour)
			r.use(t, bob, home)
		}
		again := newRigAt(t, path)
		again.use(t, bob, home, away)
		if d := cmp.Diff([]string{"bob true 198.51.100.7"}, again.newAddresses()); d != "" {
			t.Errorf("after a restart and 104 days (-want +got):\n%s", d)
		}
	})
}

func TestNewAddressIsRecordedAfterTrouble(t *testing.T) {
	r := newRig(t)
	bob := r.verify(t, r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User}))
	r.use(t, bob, home)
	r.log.fail = errors.New("disk full")
	bob.Address = away
	if err := r.NoteAddress(t.Context(), bob); !errors.Is(err, r.log.fail) {
		t.Errorf("got %v", err)
	}
	r.log.fail, r.log.queued = nil, nil
	r.use(t, bob, away, away)
	if d := cmp.Diff([]string{"bob true 198.51.100.7"}, r.newAddresses()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func BenchmarkNoteAddress(b *testing.B) {
	r := newRig(b)
	bob := r.verify(b, r.addUser(b, identity.AddUser{Name: "bob", Role: policy.User}))
	bob.Address = home
	b.ReportAllocs()
	for b.Loop() {
		if err := r.NoteAddress(b.Context(), bob); err != nil {
			b.Fatal(err)
		}
	}
}
