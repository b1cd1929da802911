package identity_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/audit/audittest"
	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/identitytest"
)

func TestAddUserRefuses(t *testing.T) {
	r := newRig(t)
	r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User})
	for name, tt := range map[string]struct {
		u    identity.AddUser
		want error
		text string
	}{
		"taken":        {identity.AddUser{Name: "bob", Role: policy.User}, identity.ErrUserExists, "bob"},
		"in capitals":  {identity.AddUser{Name: "Bob", Role: policy.User}, identity.ErrUserExists, "Bob"},
		"no name":      {identity.AddUser{Role: policy.User}, identity.ErrInvalid, "name:"},
		"colon":        {identity.AddUser{Name: "os:root", Role: policy.User}, identity.ErrInvalid, "name:"},
		"slash":        {identity.AddUser{Name: "a/b", Role: policy.User}, identity.ErrInvalid, "name:"},
		"line break":   {identity.AddUser{Name: "a\n", Role: policy.User}, identity.ErrInvalid, "name:"},
		"long":         {identity.AddUser{Name: strings.Repeat("a", 65), Role: policy.User}, identity.ErrInvalid, "name:"},
		"hyphen first": {identity.AddUser{Name: "-rf", Role: policy.User}, identity.ErrInvalid, "name:"},
		"no role":      {identity.AddUser{Name: "eve"}, identity.ErrInvalid, "role:"},
		"unknown role": {identity.AddUser{Name: "eve", Role: "root"}, identity.ErrInvalid, "admin, user or readonly"},
		"past":         {identity.AddUser{Name: "eve", Role: policy.User, Expires: time.Now().Add(-time.Second)}, identity.ErrInvalid, "expires:"},
		"too far away": {identity.AddUser{Name: "eve", Role: policy.User, Expires: time.Now().AddDate(101, 0, 0)}, identity.ErrInvalid, "expires:"},
	} {
		_, secret, err := r.AddUser(t.Context(), boss, tt.u)
		if !errors.Is(err, tt.want) || secret != "" || !strings.Contains(fmt.Sprint(err), tt.text) {
			t.Errorf("%s: got %v, want %v naming %q", name, err, tt.want, tt.text)
		}
	}
	if accounts, err := r.Users(t.Context()); err != nil || len(accounts) != 1 {
		t.Errorf("got %+v, %v; want bob alone", accounts, err)
	}
}

func TestChangesNeedAnAdmin(t *testing.T) {
	r := newRig(t)
	r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User})
	before, _ := r.Users(t.Context())
	for _, actor := range []policy.Principal{
		{}, {User: "eve", Role: policy.User}, {User: "eve", Role: policy.Readonly}, {User: "eve", Role: "root"}, {Role: policy.Admin},
	} {
		r.log.queued = nil
		admin := r.As(actor)
		_, _, err1 := admin.AddUser(t.Context(), identity.AddUser{Name: "x", Role: policy.Admin})
		_, err2 := admin.UpdateUser(t.Context(), "bob", identity.UpdateUser{})
		_, err3 := admin.RevokeToken(t.Context(), "bob", "")
		_, _, err4 := admin.RotateToken(t.Context(), "bob", "", 0)
		for _, err := range []error{err1, err2, err3, err4} {
			if !errors.Is(err, identity.ErrForbidden) {
				t.Errorf("%+v: got %v, want ErrForbidden", actor, err)
			}
		}
		if len(r.log.queued) != 4 {
			t.Fatalf("%+v: got %d records of the attempts, want 4", actor, len(r.log.queued))
		}
		for _, e := range r.log.queued {
			if e.Decision != "deny" || e.User != actor.User || e.Status != "denied" || len(e.Reasons) != 1 {
				t.Errorf("got record %+v", e)
			}
		}
	}
	after, _ := r.Users(t.Context())
	if d := cmp.Diff(before, after); d != "" {
		t.Errorf("something changed:\n%s", d)
	}
}

// Every change is on record before it is made, with its actor and without a secret.
func TestChangesAreRecordedFirst(t *testing.T) {
	r := newRig(t)
	role, off := policy.Readonly, true
	first := r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User})
	if _, err := r.UpdateUser(t.Context(), boss, "bob", identity.UpdateUser{Role: &role}); err != nil {
		t.Fatal(err)
	}
	_, second, err := r.RotateToken(t.Context(), boss, "bob", "", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.RevokeToken(t.Context(), boss, "bob", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := r.UpdateUser(t.Context(), boss, "bob", identity.UpdateUser{Disabled: &off}); err != nil {
		t.Fatal(err)
	}
	actions := []string{"add-user", "update-user", "rotate-token", "revoke-token", "update-user"}
	if len(r.log.recorded) != len(actions) || len(r.log.queued) != len(actions) {
		t.Fatalf("got %d intents and %d outcomes, want %d", len(r.log.recorded), len(r.log.queued), len(actions))
	}
	for i, action := range actions {
		e := r.log.recorded[i]
		if r.log.at[i] != int64(i) {
			t.Errorf("%s: recorded at revision %d, want %d: before the change", action, r.log.at[i], i)
		}
		want := audit.Event{
			Type: audit.Admin, Action: action, User: boss.User, Role: "admin",
			Address: boss.Address, TokenID: boss.TokenID, Status: "started", Input: e.Input,
		}
		if d := cmp.Diff(want, e); d != "" {
			t.Errorf("%s: intent (-want +got):\n%s", action, d)
		}
		want.Status = "success"
		if d := cmp.Diff(want, r.log.queued[i]); d != "" {
			t.Errorf("%s: outcome (-want +got):\n%s", action, d)
		}
		for _, secret := range []string{first, second.Reveal()} {
			if strings.Contains(e.Input, secret[4:20]) {
				t.Errorf("%s: a token is in the record", action)
			}
		}
		if !json.Valid([]byte(e.Input)) || !strings.Contains(e.Input, `"user":"bob"`) {
			t.Errorf("%s: got input %s", action, e.Input)
		}
	}
	for i, want := range []string{
		`"after":{"user":{"name":"bob","role":"user"`,
		`"before":{"user":{"name":"bob","role":"user"`,
		`"before":{"tokens":[{"id":`,
		`"revoked":"`,
		`"disabled":true`,
	} {
		if !strings.Contains(r.log.recorded[i].Input, want) {
			t.Errorf("got input %s, want it to hold %s", r.log.recorded[i].Input, want)
		}
	}
}

// What cannot be recorded does not happen.
func TestNoRecordNoChange(t *testing.T) {
	r := newRig(t)
	token := r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User})
	before, _ := r.Users(t.Context())
	r.log.fail = errors.New("disk full")
	_, secret, err1 := r.AddUser(t.Context(), boss, identity.AddUser{Name: "eve", Role: policy.Admin})
	_, err2 := r.RevokeToken(t.Context(), boss, "bob", "")
	_, _, err3 := r.RotateToken(t.Context(), boss, "bob", "", 0)
	for _, err := range []error{err1, err2, err3} {
		if !errors.Is(err, r.log.fail) {
			t.Errorf("got %v, want the log's error", err)
		}
	}
	after, _ := r.Users(t.Context())
	if d := cmp.Diff(before, after); d != "" || secret != "" {
		t.Errorf("something changed:\n%s", d)
	}
	r.verify(t, token)
}

func TestRotate(t *testing.T) {
	r := newRig(t)
	first := r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User})
	_, second, err := r.RotateToken(t.Context(), boss, "bob", "", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	p := r.verify(t, first)
	if left := time.Until(p.Expires); left <= 0 || left > time.Hour {
		t.Errorf("the old token works for %s, want up to an hour", left)
	}
	_, third, err := r.RotateToken(t.Context(), boss, "bob", "", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, old := range []string{first, second.Reveal()} {
		if _, err := r.Verify(t.Context(), old); !errors.Is(err, policy.ErrRevoked) {
			t.Errorf("got %v for a rotated token, want ErrRevoked", err)
		}
	}
	r.verify(t, third.Reveal())
	off := true
	if _, err := r.UpdateUser(t.Context(), boss, "bob", identity.UpdateUser{Disabled: &off}); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"disabled user": errOf(r.RotateToken(t.Context(), boss, "bob", "", 0)),
		"negative":      errOf(r.RotateToken(t.Context(), boss, "bob", "", -1)),
		"absurd":        errOf(r.RotateToken(t.Context(), boss, "bob", "", 1<<62)),
	} {
		if !errors.Is(err, identity.ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
	if _, _, err := r.RotateToken(t.Context(), boss, "nobody", "", 0); !errors.Is(err, identity.ErrUserNotFound) {
		t.Errorf("got %v, want ErrUserNotFound", err)
	}
}

func errOf(_ identity.Token, _ identity.Secret, err error) error { return err }

func TestRevoke(t *testing.T) {
	r := newRig(t)
	first := r.verify(t, r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User}))
	_, secret, err := r.RotateToken(t.Context(), boss, "bob", "", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	revoked, err := r.RevokeToken(t.Context(), boss, "bob", first.TokenID)
	if err != nil || len(revoked) != 1 || revoked[0].ID != first.TokenID || revoked[0].Revoked.IsZero() {
		t.Errorf("got %+v, %v; want the first token", revoked, err)
	}
	r.verify(t, secret.Reveal())
	for _, id := range []string{first.TokenID, ""} {
		revoked, err = r.RevokeToken(t.Context(), boss, "bob", id)
		if want := map[string]int{first.TokenID: 0, "": 1}[id]; err != nil || len(revoked) != want {
			t.Errorf("id %q: got %+v, %v; want %d tokens", id, revoked, err, want)
		}
	}
	for _, tt := range []struct {
		user, id string
		want     error
	}{{"nobody", "", identity.ErrUserNotFound}, {"bob", "0", identity.ErrTokenNotFound}} {
		if _, err := r.RevokeToken(t.Context(), boss, tt.user, tt.id); !errors.Is(err, tt.want) {
			t.Errorf("%s %s: got %v, want %v", tt.user, tt.id, err, tt.want)
		}
	}
}

func TestLastAdminStays(t *testing.T) {
	r := newRig(t)
	user, off, soon := policy.User, true, time.Now().Add(time.Hour)
	take := map[string]func() error{
		"revoke all": func() error { _, err := r.RevokeToken(t.Context(), boss, "alice", ""); return err },
		"disable": func() error {
			_, err := r.UpdateUser(t.Context(), boss, "alice", identity.UpdateUser{Disabled: &off})
			return err
		},
		"demote": func() error {
			_, err := r.UpdateUser(t.Context(), boss, "alice", identity.UpdateUser{Role: &user})
			return err
		},
		"give an end": func() error {
			_, err := r.UpdateUser(t.Context(), boss, "alice", identity.UpdateUser{Expires: &soon})
			return err
		},
	}
	token := r.addUser(t, identity.AddUser{Name: "alice", Role: policy.Admin})
	refused := func(what string) {
		t.Helper()
		for name, f := range take {
			if err := f(); !errors.Is(err, identity.ErrLastAdmin) {
				t.Errorf("%s: %s: got %v, want ErrLastAdmin", what, name, err)
			}
		}
		r.verify(t, token)
	}
	refused("alone")
	r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User})
	r.addUser(t, identity.AddUser{Name: "spare", Role: policy.Admin})
	if _, err := r.RevokeToken(t.Context(), boss, "spare", ""); err != nil {
		t.Fatal(err)
	}
	refused("with an admin without a token")
	_, secret, err := r.RotateToken(t.Context(), boss, "alice", "", 0)
	if err != nil {
		t.Fatalf("rotating: %v", err)
	}
	token = secret.Reveal()
	refused("after rotating")
	if _, _, err := r.RotateToken(t.Context(), boss, "spare", "", 0); err != nil {
		t.Fatal(err)
	}
	for name, f := range take {
		if err := f(); err != nil {
			t.Errorf("with another admin: %s: %v", name, err)
		}
	}
}

// Two processes on one database: of changes decided on the same state one is made.
func TestConcurrentChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "identity.db")
	rigs := []*rig{newRigAt(t, path), newRigAt(t, path)}
	var wg sync.WaitGroup
	var mu sync.Mutex
	made := map[string]int{}
	for _, r := range rigs {
		for i := range 10 {
			wg.Go(func() {
				for {
					_, _, err := r.AddUser(t.Context(), boss, identity.AddUser{Name: fmt.Sprintf("u%d", i), Role: policy.Admin})
					switch {
					case err == nil:
						mu.Lock()
						made[fmt.Sprintf("u%d", i)]++
						mu.Unlock()
						return
					case errors.Is(err, identity.ErrUserExists):
						return
					case !errors.Is(err, identity.ErrConflict):
						t.Error(err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	accounts, err := rigs[0].Users(t.Context())
	if err != nil || len(accounts) != 10 || len(made) != 10 {
		t.Fatalf("got %d users, %d made, %v; want 10", len(accounts), len(made), err)
	}
	for name, n := range made {
		if n != 1 {
			t.Errorf("%s was made %d times", name, n)
		}
	}
	for _, r := range rigs {
		for _, e := range r.log.queued {
			if e.Status == "error" && !strings.Contains(e.Error, "same time") {
				t.Errorf("got outcome %+v", e)
			}
		}
	}
}

func TestBootstrap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "identity.db")
	r := newRigAt(t, path)
	secret, created, err := r.Bootstrap(t.Context())
	if err != nil || !created {
		t.Fatalf("got %t, %v", created, err)
	}
	if p := r.verify(t, secret.Reveal()); p.User != "admin" || p.Role != policy.Admin {
		t.Errorf("got %+v", p)
	}
	if e := r.log.recorded[0]; e.Action != "add-user" || !strings.HasPrefix(e.User, "os:") {
		t.Errorf("got record %+v", e)
	}
	for _, again := range []*rig{r, newRigAt(t, path)} {
		if secret, created, err := again.Bootstrap(t.Context()); err != nil || created || secret != "" {
			t.Errorf("a second time: got %t, %v", created, err)
		}
	}
}

// Admins whom somebody else knows may come before the first user of this service.
func TestBootstrapBesideExternalAdmins(t *testing.T) {
	r := newRig(t)
	r.admit(t, ldapUser("eve", "1", policy.Admin))
	secret, created, err := r.Bootstrap(t.Context())
	if err != nil || !created || r.verify(t, secret.Reveal()).User != "admin" {
		t.Errorf("got %t, %v; want the user admin", created, err)
	}
}

func TestWithTheRealAuditLog(t *testing.T) {
	dir := t.TempDir()
	log := audittest.Open(t, filepath.Join(dir, "audit.db"))
	s := identitytest.Open(t, filepath.Join(dir, "identity.db"), log, bus.NewMemory())
	secret, _, err := s.Bootstrap(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, rows, err := log.Query(t.Context(), audit.Filter{}, `SELECT action, status, input FROM audit_events WHERE type = 'admin' ORDER BY seq`, audit.Limits{})
	if err != nil || len(rows) != 2 {
		t.Fatalf("got %v, %v", rows, err)
	}
	if text := fmt.Sprint(rows); strings.Contains(text, secret.Reveal()) || !strings.Contains(text, "add-user started") {
		t.Errorf("got %s", text)
	}
}
