package ldap_test

import (
	"testing"
	"time"

	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity/ldap"
	"github.com/svc-gateway/svc/policy/identity/ldap/ldaptest"
)

// shared are the settings for the people of s, with the search that most directories have.
func shared(s *ldaptest.Server) settings.LDAP {
	return settings.LDAP{
		URL: []string{s.URL}, CAFile: s.CAFile, BindDN: ldaptest.BindDN,
		BaseDN: "ou=people," + ldaptest.BaseDN, Filter: "(uid=%u)", NameAttribute: "uid", IDAttribute: "entryUUID",
		Groups: settings.GroupsMemberOf, GroupFilter: "(|(member=%d)(uniqueMember=%d))",
		AdminGroups: []string{"CN=Admins,ou=groups," + ldaptest.BaseDN}, UserGroups: []string{"users"}, ReadonlyGroups: []string{"readers"},
		Timeout: 5 * time.Second, Pool: 4,
	}
}

func open(t testing.TB, s settings.LDAP) *ldap.Directory {
	t.Helper()
	d, err := ldap.New(s, ldaptest.BindPassword, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}
