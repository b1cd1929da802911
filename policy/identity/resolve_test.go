package identity_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

func TestResolveOperatingSystem(t *testing.T) {
	r := newRig(t)
	for _, source := range []string{policy.SourceNone, policy.SourceOS} {
		want := policy.Principal{User: "os:root", Role: policy.Admin, Source: source, Address: "127.0.0.1"}
		got, err := r.Resolve(t.Context(), want)
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%s: %v (-want +got):\n%s", source, err, d)
		}
	}
}

func TestResolveRefusesStrangers(t *testing.T) {
	r := newRig(t)
	p := r.verify(t, r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User}))
	for name, p := range map[string]policy.Principal{
		"zero":             {},
		"unknown source":   {User: "bob", Role: policy.Admin, Source: "magic"},
		"unknown token":    {User: "bob", Role: policy.Admin, Source: policy.SourceToken, TokenID: "nothing"},
		"no token":         {User: "bob", Role: policy.Admin, Source: policy.SourceToken},
		"another's token":  {User: "eve", Role: policy.Admin, Source: policy.SourceToken, TokenID: p.TokenID},
		"strong by itself": {User: "eve", Role: policy.Admin, Source: policy.SourceLDAP},
	} {
		if got, err := r.Resolve(t.Context(), p); !errors.Is(err, policy.ErrRevoked) {
			t.Errorf("%s: got %+v, %v; want ErrRevoked", name, got, err)
		}
	}
}

func TestActFor(t *testing.T) {
	r := newRig(t)
	admin := r.verify(t, r.addUser(t, identity.AddUser{Name: "alice", Role: policy.Admin}))
	bob := r.verify(t, r.addUser(t, identity.AddUser{Name: "bob", Role: policy.Readonly}))
	off := true
	r.addUser(t, identity.AddUser{Name: "gone", Role: policy.User})
	if _, err := r.UpdateUser(t.Context(), boss, "gone", identity.UpdateUser{Disabled: &off}); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		as   policy.Principal
		user string
		want error
	}{
		"unknown user":           {admin, "nobody", identity.ErrUserNotFound},
		"disabled user":          {admin, "gone", policy.ErrRevoked},
		"not by a weaker one":    {bob, "alice", identity.ErrForbidden},
		"not even for nobody":    {bob, "nobody", identity.ErrForbidden},
		"the own name":           {bob, "bob", nil},
		"no name":                {bob, "", nil},
		"the own name, admin":    {admin, "alice", nil},
		"another's, as an admin": {admin, "bob", nil},
	} {
		if _, err := r.ActFor(t.Context(), tt.as, tt.user); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", name, err, tt.want)
		}
	}
	got, err := r.ActFor(t.Context(), admin, "bob")
	want := admin
	want.OnBehalfOf, want.Role = "bob", policy.Readonly
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	if d := cmp.Diff(bob, mustActFor(t, r, bob, "bob")); d != "" {
		t.Errorf("the own name changes something:\n%s", d)
	}
}

func mustActFor(t *testing.T, r *rig, p policy.Principal, user string) policy.Principal {
	t.Helper()
	got, err := r.ActFor(t.Context(), p, user)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// A run that an admin started for somebody ends when either may not act any more, and follows
// the roles of both.
func TestResolveOnBehalf(t *testing.T) {
	r := newRig(t)
	r.addUser(t, identity.AddUser{Name: "root", Role: policy.Admin})
	admin := r.verify(t, r.addUser(t, identity.AddUser{Name: "alice", Role: policy.Admin}))
	r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User})
	p := mustActFor(t, r, admin, "bob")
	set := func(name string, role policy.Role, disabled bool) {
		t.Helper()
		if _, err := r.UpdateUser(t.Context(), boss, name, identity.UpdateUser{Role: &role, Disabled: &disabled}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(what string, role policy.Role, want error) {
		t.Helper()
		got, err := r.Resolve(t.Context(), p)
		if !errors.Is(err, want) || err == nil && (got.Role != role || got.User != "alice" || got.OnBehalfOf != "bob") {
			t.Errorf("%s: got %+v, %v; want role %s, %v", what, got, err, role, want)
		}
	}
	check("as started", policy.User, nil)
	set("bob", policy.Readonly, false)
	check("bob demoted", policy.Readonly, nil)
	set("bob", policy.Admin, false)
	check("bob promoted", policy.Admin, nil)
	set("bob", policy.Admin, true)
	check("bob disabled", "", policy.ErrRevoked)
	set("bob", policy.User, false)
	set("alice", policy.User, false)
	check("alice demoted", "", policy.ErrRevoked)
	local := mustActFor(t, r, boss, "bob")
	if got, err := r.Resolve(t.Context(), local); err != nil || got.Role != policy.User || got.User != boss.User {
		t.Errorf("local admin: got %+v, %v", got, err)
	}
}
