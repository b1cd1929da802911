package ldap_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/ldap"
	"github.com/svc-gateway/svc/policy/identity/ldap/ldaptest"
)

// What changes the shared settings.
var (
	nested   = func(s *settings.LDAP) { s.Nested = true }
	member   = func(s *settings.LDAP) { s.Groups, s.GroupBaseDN = settings.GroupsMember, "ou=groups,"+ldaptest.BaseDN }
	whole    = func(s *settings.LDAP) { s.BaseDN = ldaptest.BaseDN }
	template = func(s *settings.LDAP) {
		s.UserTemplate, s.BaseDN, s.BindDN = "uid=%u,ou=people,"+ldaptest.BaseDN, "", ""
	}
	posix = func(s *settings.LDAP) {
		member(s)
		s.GroupFilter, s.UserGroups = "(memberUid=%u)", []string{"posix"}
	}
	byCN   = func(s *settings.LDAP) { s.AdminGroups = []string{"admins"} }
	within = func(s *settings.LDAP) { s.GroupBaseDN = "OU=Groups," + ldaptest.BaseDN }
	byMail = func(s *settings.LDAP) { s.Filter = "(|(uid=%u)(mail=%u))" }
)

type change = func(*settings.LDAP)

const ohara = `o'h, #(*)\"+<>;=ara`

func TestAuthenticate(t *testing.T) {
	server := ldaptest.New(t)
	for _, tt := range []struct {
		name           string
		changes        []change
		user, password string
		want           identity.External
		err            error
	}{
		{"strongest role", nil, "alice", "alice-password", admin("alice", "admins", "users"), nil},
		{"user", nil, "bob", "bob-password", user("bob", "users"), nil},
		{"another case", nil, "ALICE", "alice-password", admin("alice", "admins", "users"), nil},
		{"every special character", nil, ohara, "ohara-password", user(ohara, "users"), nil},
		{"by another attribute", []change{byMail}, "alice@example.org", "alice-password", admin("alice", "admins", "users"), nil},
		{"in no group", nil, "dave", "dave-password", identity.External{}, identity.ErrNoRole},
		{"in a group of a group", nil, "carol", "carol-password", identity.External{}, identity.ErrNoRole},
		{"nested, in a circle", []change{nested}, "carol", "carol-password", user("carol", "circle", "team a, b", "users"), nil},
		{"a group of the same name elsewhere", nil, "mallory", "mallory-password", identity.External{}, identity.ErrNoRole},
		{"the same by its cn", []change{byCN}, "mallory", "mallory-password", admin("mallory", "admins"), nil},
		{"the same within the groups", []change{byCN, within}, "mallory", "mallory-password", identity.External{}, identity.ErrNoRole},
		{"by its cn within the groups", []change{byCN, within}, "alice", "alice-password", admin("alice", "admins", "users"), nil},

		{"search for groups", []change{member}, "bob", "bob-password", user("bob", "users"), nil},
		{"unique members", []change{member}, "erin", "erin-password", external(policy.Readonly, "erin", "readers"), nil},
		{"search, nested", []change{member, nested}, "carol", "carol-password", user("carol", "circle", "team a, b", "users"), nil},
		{"search, special characters", []change{member, nested}, ohara, "ohara-password", user(ohara, "users"), nil},
		{"names in groups", []change{posix}, "bob", "bob-password", user("bob", "posix"), nil},
		{"names in groups, special characters", []change{posix}, ohara, "ohara-password", identity.External{}, identity.ErrNoRole},

		{"template", []change{template}, "alice", "alice-password", admin("alice", "admins", "users"), nil},
		{"template, special characters", []change{template}, ohara, "ohara-password", user(ohara, "users"), nil},
		{"template, search for groups", []change{template, member}, "erin", "erin-password", external(policy.Readonly, "erin", "readers"), nil},
		{"template, wrong password", []change{template}, "alice", "bob-password", identity.External{}, identity.ErrCredentials},
		{"template, unknown", []change{template}, "nobody", "bob-password", identity.External{}, identity.ErrCredentials},

		{"wrong password", nil, "alice", "bob-password", identity.External{}, identity.ErrCredentials},
		{"unknown", nil, "nobody", "bob-password", identity.External{}, identity.ErrCredentials},
		{"empty password", nil, "alice", "", identity.External{}, identity.ErrCredentials},
		{"empty password, template", []change{template}, "alice", "", identity.External{}, identity.ErrCredentials},
		{"empty for C", []change{template}, "alice", "\x00", identity.External{}, identity.ErrCredentials},
		{"no name", nil, "", "x", identity.External{}, identity.ErrCredentials},
		{"no password on record", nil, "nopassword", "x", identity.External{}, identity.ErrCredentials},
		{"several entries", []change{whole}, "twin", "twin-password", identity.External{}, identity.ErrCredentials},
		{"any user", nil, "*", "alice-password", identity.External{}, identity.ErrCredentials},
		{"some user", nil, "ali*", "alice-password", identity.External{}, identity.ErrCredentials},
		{"another filter", nil, "x)(|(uid=alice)", "alice-password", identity.External{}, identity.ErrCredentials},
		{"another name", []change{template}, "alice,ou=people,dc=example,dc=org", "alice-password", identity.External{}, identity.ErrCredentials},
		{"a name with more values", []change{template}, "alice+uid=alice", "alice-password", identity.External{}, identity.ErrCredentials},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := shared(server)
			for _, change := range tt.changes {
				change(&s)
			}
			begun := time.Now()
			got, err := open(t, s).Authenticate(t.Context(), tt.user, tt.password)
			if !errors.Is(err, tt.err) || (err == nil) != (tt.err == nil) {
				t.Fatalf("got error %v, want %v", err, tt.err)
			}
			if err != nil {
				return
			}
			if d := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(identity.External{}, "Subject", "Issued")); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if len(got.Subject) != 36 || got.Issued.Before(begun) {
				t.Errorf("got subject %q issued %v, want an entryUUID and now", got.Subject, got.Issued)
			}
		})
	}
}

func external(role policy.Role, name string, groups ...string) identity.External {
	return identity.External{Source: policy.SourceLDAP, Name: name, Role: role, Groups: groups}
}

func admin(name string, groups ...string) identity.External {
	return external(policy.Admin, name, groups...)
}

func user(name string, groups ...string) identity.External {
	return external(policy.User, name, groups...)
}

// What was found out holds for a while: a directory that is gone is not even noticed.
func TestAnswersAreRemembered(t *testing.T) {
	server := ldaptest.New(t)
	s := shared(server)
	s.CacheTTL = time.Hour
	d := open(t, s)
	alice, err := d.Authenticate(t.Context(), "alice", "alice-password")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Lookup(t.Context(), alice.Subject); err != nil {
		t.Fatal(err)
	}
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Authenticate(t.Context(), "alice", "alice-password"); err != nil || !got.Issued.Equal(alice.Issued) {
		t.Errorf("got %+v, %v, want the answer of before", got, err)
	}
	if _, err := d.Lookup(t.Context(), alice.Subject); err != nil {
		t.Errorf("got %v, want the answer of before", err)
	}
	for name, password := range map[string]string{"alice": "alice-passwor", "alic": "e\x00alice-password", "bob": "alice-password"} {
		if _, err := d.Authenticate(t.Context(), name, password); err == nil {
			t.Errorf("%s with %q was taken for somebody else", name, password)
		}
	}
	d.Forget("alice", "alice-password")
	if _, err := d.Authenticate(t.Context(), "alice", "alice-password"); err == nil || errors.Is(err, identity.ErrCredentials) {
		t.Errorf("forgotten: got %v, want to have asked the directory, which is gone", err)
	}
}

// Password policy: the directory locks after five failures, and a password that was reset has to
// be changed before it is any good.
func TestPasswordPolicy(t *testing.T) {
	server := ldaptest.New(t)
	d := open(t, shared(server))
	for range 10 { // one of five does not count now and then
		if _, err := d.Authenticate(t.Context(), "bob", "wrong"); !errors.Is(err, identity.ErrCredentials) {
			t.Fatalf("got %v, want ErrCredentials", err)
		}
	}
	if _, err := d.Authenticate(t.Context(), "bob", "bob-password"); !errors.Is(err, identity.ErrCredentials) {
		t.Errorf("a locked account: got %v, want ErrCredentials", err)
	}
	if err := server.Modify("dn: uid=alice,ou=people," + ldaptest.BaseDN + "\nchangetype: modify\nreplace: pwdReset\npwdReset: TRUE\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Authenticate(t.Context(), "alice", "alice-password"); !errors.Is(err, identity.ErrCredentials) || !strings.Contains(err.Error(), "must be changed") {
		t.Errorf("a password to be changed: got %v, want ErrCredentials that says so", err)
	}
}

func TestNewErrors(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		change     change
	}{
		{"base", "ldap.base_dn: \"example.org\" is not a distinguished name", func(s *settings.LDAP) { s.BaseDN = "example.org" }},
		{"group base", "ldap.group_base_dn: ", func(s *settings.LDAP) { s.GroupBaseDN = "groups" }},
		{"filter", "ldap.filter: \"(uid=%u\" is not a filter", func(s *settings.LDAP) { s.Filter = "(uid=%u" }},
		{"a filter that cannot do without a name", "ldap.filter: %u cannot be compared with :=", func(s *settings.LDAP) { s.Filter = "(uid:caseExactMatch:=%u)" }},
		{"group filter", "ldap.group_filter: ", func(s *settings.LDAP) { member(s); s.GroupFilter = "member=%d)" }},
		{"template in the middle", "ldap.user_template: ", func(s *settings.LDAP) { s.UserTemplate = "cn=x,uid=%u,dc=example" }},
		{"template of a mail address", "ldap.user_template: ", func(s *settings.LDAP) { s.UserTemplate = "%u@example.org" }},
		{"template of two values", "ldap.user_template: ", func(s *settings.LDAP) { s.UserTemplate = "uid=%u+cn=%u,dc=example" }},
		{"group", "ldap.user_groups: \"cn=\\\\\" is not", func(s *settings.LDAP) { s.UserGroups = []string{`cn=\`} }},
		{"authorities", "ldap.ca_file: open /no/such", func(s *settings.LDAP) { s.CAFile = "/no/such" }},
		{"no authorities", "ldap.ca_file: there is no certificate in /dev/null", func(s *settings.LDAP) { s.CAFile = "/dev/null" }},
	} {
		s := shared(&ldaptest.Server{URL: "ldap://127.0.0.1"})
		tt.change(&s)
		if _, err := ldap.New(s, "", nil); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got error %v, want one with %q", tt.name, err, tt.want)
		}
	}
}
