package identity_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

func (r *rig) addToken(t testing.TB, user string, x identity.AddToken) (identity.Token, string) {
	t.Helper()
	token, secret, err := r.AddToken(t.Context(), boss, user, x)
	if err != nil {
		t.Fatal(err)
	}
	return token, secret.Reveal()
}

func TestAddToken(t *testing.T) {
	r := newRig(t)
	first := r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User})
	end := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	token, secret := r.addToken(t, "bob", identity.AddToken{Name: "ci", Role: policy.Readonly, Expires: end})
	want := identity.Token{ID: token.ID, User: "bob", Name: "ci", Role: policy.Readonly, Created: token.Created, Expires: end}
	if d := cmp.Diff(want, token); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	p := r.verify(t, secret)
	if p.Role != policy.Readonly || !p.Expires.Equal(end) || p.TokenID != token.ID {
		t.Errorf("got %+v, want the token's role and end", p)
	}
	if p := r.verify(t, first); p.Role != policy.User || !p.Expires.IsZero() {
		t.Errorf("got %+v, want the user's other token as it was", p)
	}
	admin := policy.Admin
	if _, err := r.UpdateUser(t.Context(), boss, "bob", identity.UpdateUser{Role: &admin}); err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]policy.Role{first: policy.Admin, secret: policy.Readonly} {
		if p := r.verify(t, token); p.Role != want {
			t.Errorf("after a promotion: got role %s, want %s", p.Role, want)
		}
	}
}

// A token never gives more than its user has, whatever it was made for.
func TestTokenOfADemotedUser(t *testing.T) {
	r := newRig(t)
	r.addUser(t, identity.AddUser{Name: "root", Role: policy.Admin})
	r.addUser(t, identity.AddUser{Name: "bob", Role: policy.Admin})
	_, secret := r.addToken(t, "bob", identity.AddToken{Name: "ci", Role: policy.Admin})
	role := policy.Readonly
	if _, err := r.UpdateUser(t.Context(), boss, "bob", identity.UpdateUser{Role: &role}); err != nil {
		t.Fatal(err)
	}
	if p := r.verify(t, secret); p.Role != policy.Readonly {
		t.Errorf("got role %s, want readonly", p.Role)
	}
}

func TestAddTokenRefuses(t *testing.T) {
	r := newRig(t)
	yes := true
	r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User})
	r.addUser(t, identity.AddUser{Name: "off", Role: policy.User})
	if _, err := r.UpdateUser(t.Context(), boss, "off", identity.UpdateUser{Disabled: &yes}); err != nil {
		t.Fatal(err)
	}
	r.admit(t, ldapUser("eve", "1", policy.Admin))
	for name, tt := range map[string]struct {
		user  string
		token identity.AddToken
		want  error
		text  string
	}{
		"unknown user":     {"nobody", identity.AddToken{Name: "ci"}, identity.ErrUserNotFound, "nobody"},
		"no name":          {"bob", identity.AddToken{}, identity.ErrInvalid, "name:"},
		"odd name":         {"bob", identity.AddToken{Name: "a b"}, identity.ErrInvalid, "name:"},
		"name like an id":  {"bob", identity.AddToken{Name: "0123456789ab"}, identity.ErrInvalid, "name:"},
		"name that works":  {"bob", identity.AddToken{Name: "default"}, identity.ErrTokenExists, "default"},
		"stronger role":    {"bob", identity.AddToken{Name: "ci", Role: policy.Admin}, identity.ErrInvalid, "role:"},
		"unknown role":     {"bob", identity.AddToken{Name: "ci", Role: "root"}, identity.ErrInvalid, "role:"},
		"past end":         {"bob", identity.AddToken{Name: "ci", Expires: time.Unix(1, 0)}, identity.ErrInvalid, "expires:"},
		"disabled user":    {"off", identity.AddToken{Name: "ci"}, identity.ErrInvalid, "would not work"},
		"external account": {"eve", identity.AddToken{Name: "ci"}, identity.ErrInvalid, "source ldap"},
	} {
		token, secret, err := r.AddToken(t.Context(), boss, tt.user, tt.token)
		if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) || secret != "" || token.ID != "" {
			t.Errorf("%s: got %+v, %v; want %v naming %q", name, token, err, tt.want, tt.text)
		}
	}
	if _, err := r.RevokeToken(t.Context(), boss, "bob", "default"); err != nil {
		t.Fatal(err)
	}
	r.addToken(t, "bob", identity.AddToken{Name: "default"}) // the name is free again
}

func TestTokensByName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		first := r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User})
		ci, old := r.addToken(t, "bob", identity.AddToken{Name: "ci", Role: policy.Readonly, Expires: time.Now().Add(30 * 24 * time.Hour)})
		time.Sleep(10 * 24 * time.Hour)
		token, secret, err := r.RotateToken(t.Context(), boss, "bob", "ci", time.Hour)
		if err != nil || token.Name != "ci" || token.Role != policy.Readonly || token.ID == ci.ID ||
			!token.Expires.Equal(token.Created.Add(30*24*time.Hour)) {
			t.Errorf("got %+v, %v; want a successor of the same name, role and span of life", token, err)
		}
		r.verify(t, old)
		r.verify(t, secret.Reveal())
		r.verify(t, first)
		time.Sleep(time.Hour)
		if _, err := r.Verify(t.Context(), old); !errors.Is(err, policy.ErrExpired) {
			t.Errorf("after the grace: got %v, want ErrExpired", err)
		}
		if third, _, err := r.RotateToken(t.Context(), boss, "bob", token.ID, 0); err != nil || third.Name != "ci" {
			t.Errorf("by id: got %+v, %v", third, err)
		}
		if _, err := r.Verify(t.Context(), secret.Reveal()); !errors.Is(err, policy.ErrRevoked) {
			t.Errorf("got %v, want ErrRevoked", err)
		}
		if _, _, err := r.RotateToken(t.Context(), boss, "bob", "cd", 0); !errors.Is(err, identity.ErrTokenNotFound) {
			t.Errorf("unknown name: got %v, want ErrTokenNotFound", err)
		}
		if revoked, err := r.RevokeToken(t.Context(), boss, "bob", "ci"); err != nil || len(revoked) != 1 {
			t.Errorf("got %+v, %v; want the one that worked", revoked, err)
		}
		r.verify(t, first)
	})
}

// The last admin keeps a token that lets an admin in: one with a weaker role does not count, nor
// does an account that somebody else vouches for.
func TestLastAdminNeedsAFullToken(t *testing.T) {
	r := newRig(t)
	r.addUser(t, identity.AddUser{Name: "alice", Role: policy.Admin})
	r.addToken(t, "alice", identity.AddToken{Name: "ro", Role: policy.Readonly})
	r.admit(t, ldapUser("eve", "1", policy.Admin))
	_, revoke := r.RevokeToken(t.Context(), boss, "alice", "default")
	_, remove := r.RemoveUser(t.Context(), boss, "alice")
	for name, err := range map[string]error{"revoke": revoke, "remove": remove} {
		if !errors.Is(err, identity.ErrLastAdmin) {
			t.Errorf("%s: got %v, want ErrLastAdmin", name, err)
		}
	}
	r.addUser(t, identity.AddUser{Name: "spare", Role: policy.Admin})
	if _, err := r.RemoveUser(t.Context(), boss, "alice"); err != nil {
		t.Error(err)
	}
	if _, err := r.RemoveUser(t.Context(), boss, "spare"); !errors.Is(err, identity.ErrLastAdmin) {
		t.Errorf("got %v, want ErrLastAdmin", err)
	}
}

func TestRemoveUser(t *testing.T) {
	r := newRig(t)
	token := r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User})
	p := r.verify(t, token)
	removed, err := r.RemoveUser(t.Context(), boss, "bob")
	if err != nil || removed.Name != "bob" || removed.Removed.IsZero() {
		t.Errorf("got %+v, %v", removed, err)
	}
	if _, err := r.Verify(t.Context(), token); !errors.Is(err, policy.ErrRevoked) {
		t.Errorf("Verify: got %v, want ErrRevoked", err)
	}
	if _, err := r.Resolve(t.Context(), p); !errors.Is(err, policy.ErrRevoked) {
		t.Errorf("Resolve: got %v, want ErrRevoked", err)
	}
	if _, err := r.ActFor(t.Context(), boss, "bob"); !errors.Is(err, identity.ErrUserNotFound) {
		t.Errorf("ActFor: got %v, want ErrUserNotFound", err)
	}
	role := policy.Admin
	_, update := r.UpdateUser(t.Context(), boss, "bob", identity.UpdateUser{Role: &role})
	_, again := r.RemoveUser(t.Context(), boss, "bob")
	_, _, add := r.AddToken(t.Context(), boss, "bob", identity.AddToken{Name: "ci"})
	for _, err := range []error{update, again, add} {
		if !errors.Is(err, identity.ErrUserNotFound) {
			t.Errorf("got %v, want ErrUserNotFound", err)
		}
	}
	r.verify(t, r.addUser(t, identity.AddUser{Name: "bob", Role: policy.Readonly})) // an admin may give the name away
	if _, err := r.Verify(t.Context(), token); !errors.Is(err, policy.ErrRevoked) {
		t.Errorf("the old token of the new user: got %v, want ErrRevoked", err)
	}
	accounts, err := r.Users(t.Context())
	if err != nil || len(accounts) != 1 || accounts[0].Role != policy.Readonly || !accounts[0].Removed.IsZero() {
		t.Errorf("got %+v, %v", accounts, err)
	}
}

func TestRoleOfAnExternalUserIsNotOurs(t *testing.T) {
	r := newRig(t)
	r.admit(t, ldapUser("eve", "1", policy.User))
	role := policy.Admin
	if _, err := r.UpdateUser(t.Context(), boss, "eve", identity.UpdateUser{Role: &role}); !errors.Is(err, identity.ErrInvalid) || !strings.Contains(err.Error(), "source ldap") {
		t.Errorf("got %v, want ErrInvalid that says where the role comes from", err)
	}
}
