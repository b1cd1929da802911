package identity_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

func TestOldTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.SetSources(&directory{role: policy.User}, nil)
		p := r.verify(t, r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User}))
		ldap := r.admit(t, ldapUser("eve", "1", policy.User))
		check := func(what string, old int, warnings ...string) {
			t.Helper()
			tokens, err := r.OldTokens(t.Context())
			if err != nil || len(tokens) != old {
				t.Errorf("%s: got %+v, %v; want %d", what, tokens, err, old)
			}
			got, err := r.Warnings(t.Context(), p)
			if err != nil || len(got) != len(warnings) {
				t.Fatalf("%s: got warnings %q, %v; want %q", what, got, err, warnings)
			}
			for i := range got {
				if !strings.Contains(got[i], warnings[i]) {
					t.Errorf("%s: got warning %q, want it to hold %q", what, got[i], warnings[i])
				}
			}
		}
		check("new", 0)
		time.Sleep(90*24*time.Hour - time.Second)
		check("a second before", 0)
		time.Sleep(time.Second)
		check("90 days old", 1, "default ("+p.TokenID+") is 90 days old")
		soon := time.Now().Add(24 * time.Hour)
		if _, err := r.UpdateUser(t.Context(), boss, "bob", identity.UpdateUser{Expires: &soon}); err != nil {
			t.Fatal(err)
		}
		check("ends soon", 1, "90 days old", "ends at "+soon.UTC().Format(time.RFC3339))
		if got, err := r.Warnings(t.Context(), ldap); err != nil || len(got) != 0 {
			t.Errorf("without a token: got %q, %v; want none", got, err)
		}
		if _, err := r.RevokeToken(t.Context(), boss, "bob", "default"); err != nil {
			t.Fatal(err)
		}
		if tokens, err := r.OldTokens(t.Context()); err != nil || len(tokens) != 0 {
			t.Errorf("revoked: got %+v, %v; want none", tokens, err)
		}
	})
}
