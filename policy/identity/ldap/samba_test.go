package ldap_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/ldap"
	"github.com/svc-gateway/svc/policy/identity/ldap/ldaptest"
)

// What is said of Active Directory in the docs, tried with Samba.
func TestActiveDirectory(t *testing.T) {
	server := ldaptest.NewSamba(t)
	base := settings.LDAP{
		URL: []string{server.URL}, CAFile: server.CAFile, BindDN: ldaptest.SambaBindDN, BaseDN: ldaptest.SambaBaseDN,
		Filter: "(&(objectCategory=person)(sAMAccountName=%u))", NameAttribute: "sAMAccountName", IDAttribute: "objectGUID",
		AdminGroups: []string{"gw-admins"}, UserGroups: []string{"cn=GW-Users,cn=users," + ldaptest.SambaBaseDN},
		Timeout: 10 * time.Second, Pool: 2,
	}
	for _, tt := range []struct {
		name   string
		change change
		carol  bool // is in a group of a group
	}{
		{"chain", func(s *settings.LDAP) { s.Groups = settings.GroupsChain }, true},
		{"memberof", func(s *settings.LDAP) { s.Groups = settings.GroupsMemberOf }, false},
		{"memberof, nested", func(s *settings.LDAP) { s.Groups, s.Nested = settings.GroupsMemberOf, true }, true},
		{"member", func(s *settings.LDAP) { s.Groups, s.GroupFilter = settings.GroupsMember, "(member=%d)" }, false},
		{"member, nested, ldaps", func(s *settings.LDAP) {
			s.Groups, s.GroupFilter, s.Nested, s.URL = settings.GroupsMember, "(member=%d)", true, []string{server.TLSURL}
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := base
			tt.change(&s)
			d, err := ldap.New(s, "svc-Passw0rd", nil)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			want := map[string]identity.External{"Alice": admin("alice", "gw-admins"), "bob": user("bob", "gw-users")}
			if tt.carol {
				want["carol"] = user("carol", "gw-users", "inner", "team")
			}
			for name, want := range want {
				got, err := d.Authenticate(t.Context(), name, want.Name+"-Passw0rd")
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				if d := cmp.Diff(want, got, cmpopts.IgnoreFields(identity.External{}, "Subject", "Issued")); d != "" {
					t.Errorf("%s (-want +got):\n%s", name, d)
				}
				again, err := d.Lookup(t.Context(), got.Subject)
				if diff := cmp.Diff(want, again, cmpopts.IgnoreFields(identity.External{}, "Subject", "Issued")); err != nil || diff != "" || again.Subject != got.Subject {
					t.Errorf("looking %s up by %s: %v (-want +got):\n%s", name, got.Subject, err, diff)
				}
			}
			if _, err := d.Authenticate(t.Context(), "dave", "dave-Passw0rd"); !errors.Is(err, identity.ErrNoRole) {
				t.Errorf("dave: got %v, want ErrNoRole", err)
			}
			for _, name := range []string{"alice", "nobody", "alice@ad.example.org", `AD\alice`} {
				if _, err := d.Authenticate(t.Context(), name, "bob-Passw0rd"); !errors.Is(err, identity.ErrCredentials) {
					t.Errorf("%s with a wrong password: got %v, want ErrCredentials", name, err)
				}
			}
		})
	}
}
