package ldap_test

import (
	"strings"
	"testing"

	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity/ldap/ldaptest"
)

func TestExplain(t *testing.T) {
	server := ldaptest.New(t)
	for _, tt := range []struct {
		name, user, password string
		changes              []change
		steps                string // the last one failed if there is an error
		want                 string
	}{
		{"without a password", "alice", "", nil, "connect tls bind entry groups role", ""},
		{"with one", "alice", "alice-password", nil, "connect tls bind entry connect tls password groups role", ""},
		{"a wrong one", "alice", "bob-password", nil, "connect tls bind entry connect tls password", "wrong user name or password"},
		{"no role", "dave", "", nil, "connect tls bind entry groups role", "no group or claim gives a role"},
		{"unknown", "nobody", "x", nil, "connect tls bind entry", "no entry below ou=people,dc=example,dc=org matches (uid=nobody)"},
		{"template", "alice", "alice-password", []change{template}, "connect tls password entry groups role", ""},
		{"template without a password", "alice", "", []change{template}, "", "give the password"},
		{"anonymous", "alice", "", []change{func(s *settings.LDAP) { s.BindDN = "" }}, "connect tls entry", "searching below"},
		{"refused", "alice", "", []change{func(s *settings.LDAP) { s.URL = []string{"ldap://127.0.0.1:1"} }}, "connect", "connection refused"},
		{"untrusted", "alice", "", []change{func(s *settings.LDAP) { s.CAFile = "" }}, "connect tls", "unknown authority"},
		{"TLS to the port without", "alice", "", []change{func(s *settings.LDAP) { s.URL = []string{strings.Replace(server.URL, "ldap:", "ldaps:", 1)} }}, "connect tls", "write ldap:// in ldap.url"},
		{"StartTLS to the port for TLS", "alice", "", []change{func(s *settings.LDAP) { s.URL = []string{strings.Replace(server.TLSURL, "ldaps:", "ldap:", 1)} }}, "connect tls", "write ldaps:// in ldap.url"},
		{"clear text to the port for TLS", "alice", "", []change{func(s *settings.LDAP) {
			s.URL, s.Insecure = []string{strings.Replace(server.TLSURL, "ldaps:", "ldap:", 1)}, true
		}}, "connect bind", "write ldaps:// in ldap.url"},
		{"groups in groups", "alice", "", []change{func(s *settings.LDAP) { s.AdminGroups, s.UserGroups = nil, []string{"nobodys"} }}, "connect tls bind entry groups role", "set ldap.nested"},
		{"groups in groups, followed", "alice", "", []change{func(s *settings.LDAP) {
			s.AdminGroups, s.UserGroups, s.Nested = nil, []string{"nobodys"}, true
		}}, "connect tls bind entry groups role", "no group or claim gives a role"},
		{"account", "alice", "", []change{func(s *settings.LDAP) { s.BindDN = "cn=x," + ldaptest.BaseDN }}, "connect tls bind", "Invalid Credentials"},
		{"invisible", "ali\u00adce", "", nil, "", "cannot be seen"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := shared(server)
			for _, change := range tt.changes {
				change(&s)
			}
			got := open(t, s).Explain(t.Context(), tt.user, tt.password)
			var steps []string
			for i, step := range got.Steps {
				steps = append(steps, step.Name)
				if failed := tt.want != "" && i == len(got.Steps)-1; failed != (step.Error != "") {
					t.Errorf("step %s: got error %q", step.Name, step.Error)
				}
			}
			if all := strings.Join(steps, " "); all != tt.steps {
				t.Errorf("got steps %q, want %q", all, tt.steps)
			}
			if !strings.Contains(got.Error, tt.want) || (got.Error == "") != (tt.want == "") {
				t.Errorf("got error %q, want one with %q", got.Error, tt.want)
			}
			if tt.want == "" && (got.User != "alice" || got.Role != "admin") {
				t.Errorf("got %s with role %s", got.User, got.Role)
			}
		})
	}
}
