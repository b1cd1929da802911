package ldap_test

import (
	"testing"

	"github.com/svc-gateway/svc/internal/health"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity/ldap/ldaptest"
)

func TestHealth(t *testing.T) {
	server := ldaptest.New(t)
	for name, tt := range map[string]struct {
		change change
		want   string
	}{
		"it works":               {func(*settings.LDAP) {}, ""},
		"nobody is there":        {func(s *settings.LDAP) { s.URL = []string{"ldap://127.0.0.1:1"} }, health.Unreachable},
		"the first of two":       {func(s *settings.LDAP) { s.URL = []string{"ldap://127.0.0.1:1", server.URL} }, health.Unreachable},
		"another authority":      {func(s *settings.LDAP) { s.CAFile = "" }, health.NotTLS},
		"another one, TLS first": {func(s *settings.LDAP) { s.CAFile, s.URL = "", []string{server.TLSURL} }, health.Certificate},
		"the password is wrong":  {func(s *settings.LDAP) { s.BindDN = "cn=x," + ldaptest.BaseDN }, health.Authentication},
	} {
		t.Run(name, func(t *testing.T) {
			s := shared(server)
			tt.change(&s)
			d := open(t, s)
			if since, reason := d.Health(); !since.IsZero() || reason != "" {
				t.Errorf("before it was asked: got %q since %s", reason, since)
			}
			_, err := d.Authenticate(t.Context(), "alice", "alice-password")
			since, reason := d.Health()
			if reason != tt.want || since.IsZero() {
				t.Errorf("got %q since %s for %v, want %q", reason, since, err, tt.want)
			}
		})
	}
}
