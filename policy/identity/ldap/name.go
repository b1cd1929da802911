package ldap

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	goldap "github.com/go-ldap/ldap/v3"
	"golang.org/x/text/unicode/norm"
)

const (
	maxName     = 256  // bytes
	maxPassword = 1024 // bytes
)

// plainName reports whether the name has one spelling but for upper and lower case. A directory
// ignores invisible characters, compatibility forms and superfluous spaces (RFC 4518), and
// whoever counts failures by name must not be given a new one for each of these.
func plainName(name string) bool {
	if name == "" || len(name) > maxName || !utf8.ValidString(name) || !norm.NFKC.IsNormalString(name) {
		return false
	}
	if strings.TrimSpace(name) != name || strings.Contains(name, "  ") {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

// plausible reports whether the password can be one. Servers take an empty one for no proof at
// all and let everybody in, and a zero byte ends it for some of them.
func plausible(password string) bool {
	return password != "" && len(password) <= maxPassword && !strings.Contains(password, "\x00")
}

// filter is a search filter with places for values: %u and %d.
type filter string

func (f filter) with(user, dn string) string {
	return strings.NewReplacer("%u", goldap.EscapeFilter(user), "%d", goldap.EscapeFilter(dn)).Replace(string(f))
}

// withAnyUser asks for the presence of what a name would be compared with, and for all else that
// the filter demands.
func (f filter) withAnyUser() string { return strings.ReplaceAll(string(f), "%u", "*") }

func (f filter) check() error {
	if _, err := goldap.CompileFilter(f.with("u", "d")); err != nil {
		return fmt.Errorf("%q is not a filter such as (uid=%%u) (RFC 4515)", string(f))
	}
	if strings.Contains(string(f), ":=%u") {
		return errors.New("%u cannot be compared with :=, which does not allow to look a user up without a name")
	}
	return nil
}

// template is the DN of a user: the attribute that it begins with, which holds the name, and the
// DN of the entry that all users are in.
type template struct{ attribute, parent string }

var templateForm = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9-]*)=%u,(.+)$`)

func parseTemplate(s string) (template, error) {
	m := templateForm.FindStringSubmatch(s)
	if m == nil {
		return template{}, fmt.Errorf("%q is not a template such as uid=%%u,ou=people,dc=example,dc=com", s)
	}
	_, err := parseDN(m[2])
	return template{m[1], m[2]}, err
}

func (t template) with(user string) string {
	return t.attribute + "=" + goldap.EscapeDN(user) + "," + t.parent
}

func parseDN(s string) (*goldap.DN, error) {
	dn, err := goldap.ParseDN(s)
	if err != nil || len(dn.RDNs) == 0 {
		return nil, fmt.Errorf("%q is not a distinguished name such as ou=people,dc=example,dc=com", s)
	}
	return dn, nil
}
