package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/ldap/ldaptest"
)

// directory is the app's JSON for the people of s.
func directory(t *testing.T, s *ldaptest.Server, changes map[string]any) string {
	t.Helper()
	t.Setenv("LDAP_PASSWORD", ldaptest.BindPassword)
	section := map[string]any{
		"url": s.URL, "ca_file": s.CAFile, "base_dn": "ou=people," + ldaptest.BaseDN, "cache_ttl": "0s",
		"bind_dn": ldaptest.BindDN, "bind_password": "{env.LDAP_PASSWORD}",
		"user_groups": []string{"cn=users,ou=groups," + ldaptest.BaseDN},
	}
	for k, v := range changes {
		section[k] = v
	}
	doc, err := json.Marshal(map[string]any{"auth": map[string]any{"mode": []string{"token", "ldap"}}, "ldap": section})
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

func TestDirectory(t *testing.T) {
	server := ldaptest.New(t)
	home(t)
	if err := load(t, `"probe": {}, "svc": `+directory(t, server, nil)); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	external, err := probed.Directory().Authenticate(ctx, "bob", "bob-password")
	if err != nil {
		t.Fatal(err)
	}
	bob, err := probed.Identity().Admit(ctx, external)
	if err != nil {
		t.Fatal(err)
	}
	resolve := func() error { _, err := probed.Identity().Resolve(ctx, bob); return err }
	if err := resolve(); err != nil {
		t.Errorf("resolving: %v", err)
	}

	// The newest configuration says whom to ask, unless it fails.
	first := probed
	if err := load(t, `"probe": {"on_start": true}, "svc": `+directory(t, server, map[string]any{"user_groups": "nobody"})); err == nil {
		t.Fatal("a configuration that fails on start was loaded")
	}
	if err := resolve(); err != nil {
		t.Errorf("after a failed reload: %v", err)
	}
	if err := load(t, `"probe": {}, "svc": `+directory(t, server, map[string]any{"user_groups": "nobody"})); err != nil {
		t.Fatal(err)
	}
	if err := resolve(); !errors.Is(err, identity.ErrRevoked) {
		t.Errorf("without a role: got %v, want ErrRevoked", err)
	}
	if _, err := first.Directory().Authenticate(ctx, "bob", "bob-password"); err != nil {
		t.Errorf("a request of the old configuration: %v", err)
	}
	if err := load(t, `"probe": {}, "svc": {"auth": {"mode": "token"}}`); err != nil {
		t.Fatal(err)
	}
	if probed.Directory() != nil {
		t.Error("there is a directory without auth.mode ldap")
	}
	if err := resolve(); !errors.Is(err, identity.ErrRevoked) {
		t.Errorf("without a directory: got %v, want ErrRevoked", err)
	}
}

// A directory that is gone is a technical error for its users, and nobody else's business.
func TestDirectoryGone(t *testing.T) {
	server := ldaptest.New(t)
	home(t)
	if err := load(t, `"probe": {}, "svc": `+directory(t, server, nil)); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	external, err := probed.Directory().Authenticate(ctx, "bob", "bob-password")
	if err != nil {
		t.Fatal(err)
	}
	bob, err := probed.Identity().Admit(ctx, external)
	if err != nil {
		t.Fatal(err)
	}
	_, token, err := probed.Identity().AddUser(ctx, identity.OSPrincipal(0), identity.AddUser{Name: "local", Role: policy.User})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := probed.Identity().Resolve(ctx, bob); err == nil || errors.Is(err, identity.ErrRevoked) {
		t.Errorf("got %v, want a technical error", err)
	}
	if _, err := probed.Identity().Verify(ctx, token.Reveal()); err != nil {
		t.Errorf("a token's user: %v", err)
	}
	if err := server.Run(); err != nil {
		t.Fatal(err)
	}
	if _, err := probed.Identity().Resolve(ctx, bob); err != nil {
		t.Errorf("back again: %v", err)
	}
}

func TestLDAPTestOnTheSocket(t *testing.T) {
	server := ldaptest.New(t)
	h := home(t)
	if err := load(t, `"svc": `+directory(t, server, nil)); err != nil {
		t.Fatal(err)
	}
	try := func(in any) (r identity.Report, err error) {
		return r, cli.NewClient(h).Do(context.Background(), http.MethodPost, "/ldap/test", in, &r)
	}
	r, err := try(map[string]string{"user": "bob", "password": "bob-password"})
	if err != nil || r.Error != "" || r.Role != policy.User || len(r.Steps) != 9 {
		t.Errorf("got %+v, %v", r, err)
	}
	if _, err := try([]string{"bob"}); err == nil || !strings.Contains(err.Error(), "The body must be") {
		t.Errorf("got %v", err)
	}
	if err := load(t, `"svc": {}`); err != nil {
		t.Fatal(err)
	}
	if _, err := try(map[string]string{"user": "bob"}); !problem.HasCode(err, "no_directory") {
		t.Errorf("got %v, want no_directory", err)
	}
	if err := caddy.Stop(); err != nil {
		t.Fatal(err)
	}
}

func TestDirectoryErrors(t *testing.T) {
	server := &ldaptest.Server{URL: "ldap://127.0.0.1:1", CAFile: "/no/such"}
	for _, tt := range []struct {
		name, want string
		changes    map[string]any
	}{
		{"authorities", "ldap.ca_file: open /no/such", nil},
		{"secret", "ldap.bind_password: NO_SUCH is not set", map[string]any{"bind_password": "{env.NO_SUCH}"}},
		{"base", "ldap.base_dn: \"example\" is not a distinguished name", map[string]any{"base_dn": "example"}},
	} {
		home(t)
		if err := load(t, `"svc": `+directory(t, server, tt.changes)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got error %v, want one with %q", tt.name, err, tt.want)
		}
	}
}
