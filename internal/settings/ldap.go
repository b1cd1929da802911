package settings

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// How the groups of a directory's user are found, for ldap.groups.
const (
	GroupsMemberOf = "memberof" // the attribute memberOf of the user's entry
	GroupsMember   = "member"   // a search for groups that name the user
	GroupsChain    = "chain"    // the same, nested groups resolved by the server (Active Directory, Samba)
)

// LDAP says how users of a directory log in. Package policy/identity/ldap uses it.
type LDAP struct {
	// URL lists the servers, ldap://host[:port] or ldaps://host[:port], asked in turn.
	URL []string
	// Insecure sends passwords in clear to ldap:// servers, without StartTLS. Default: false.
	Insecure bool
	// CAFile is a PEM file with the authorities that sign the servers' certificates.
	// Default: those of the system.
	CAFile string
	// BindDN is the account that searches; anonymous when empty.
	BindDN string
	// BindPassword is where its password is.
	BindPassword Reference
	// UserTemplate is the DN of every user, with %u for the name that they give. Without it
	// users are searched for.
	UserTemplate string
	// BaseDN is where users are searched for.
	BaseDN string
	// Filter finds a user, with %u for the name that they give. Default: (uid=%u).
	Filter string
	// NameAttribute holds the user name here. Default: uid.
	NameAttribute string
	// IDAttribute holds what identifies the user for ever. Default: entryUUID.
	IDAttribute string
	// Groups is memberof, member or chain. Default: memberof.
	Groups string
	// GroupBaseDN is where groups are searched for. Default: BaseDN.
	GroupBaseDN string
	// GroupFilter finds the groups of a user for member, with %d for the user's DN and %u for
	// the name. Default: (|(member=%d)(uniqueMember=%d)).
	GroupFilter string
	// Nested follows groups that are members of groups. Default: false.
	Nested bool
	// AdminGroups, UserGroups and ReadonlyGroups give their members that role; the strongest
	// counts. Each is a DN or the cn of a group.
	AdminGroups, UserGroups, ReadonlyGroups []string
	// Timeout bounds one look at the directory, all of its steps together. Default: 5s.
	Timeout time.Duration
	// Pool is how many connections of a kind, searching and checking passwords, there may be.
	// Default: 8.
	Pool int
	// CacheTTL is how long an answer of the directory holds. Default: 30s.
	CacheTTL time.Duration
}

func checkServers(urls []string) error {
	for _, raw := range urls {
		u, err := url.Parse(raw)
		if err != nil || (u.Scheme != "ldap" && u.Scheme != "ldaps") || u.Hostname() == "" {
			return errors.New("this is not an address such as ldaps://ldap.example.com or ldap://ldap.example.com:389")
		}
		if u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
			return errors.New("an address is ldap:// or ldaps:// with a host and perhaps a port: what else there is to say has settings of its own")
		}
	}
	return noneTwice(urls)
}

func checkGroups(how string) error {
	return oneOf(how, "way to find groups", GroupsMemberOf, GroupsMember, GroupsChain)
}

func checkFile(path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("%q is not an absolute path", path)
	}
	return nil
}

// elsewhere are what other programs have in the place of %u.
var elsewhere = regexp.MustCompile(`(?i)\{+\$?\.?(user|username|user_name|login|uid|name|input|0)\}+|%\(user\)s|%s|%n|\$\{?user(name)?\}?`)

// CheckPattern refuses a filter or template that has somebody else's word for the user's name. It
// passes all that says %u, and other placeholders.
func CheckPattern(pattern string) error {
	if found := elsewhere.FindString(pattern); found != "" && !strings.Contains(pattern, "%u") {
		return fmt.Errorf("write %%u instead of %s: it stands for the name that the user gives", found)
	}
	return nil
}

func checkUserPattern(pattern string) error {
	if err := CheckPattern(pattern); err != nil {
		return err
	}
	if !strings.Contains(pattern, "%u") {
		return errors.New("%u is missing: it stands for the name that the user gives")
	}
	return nil
}

// check looks at what concerns more than one setting. Distinguished names and filters are
// checked by who uses them.
func (l LDAP) check() error {
	var errs []error
	problem := problems(&errs, "auth.mode")
	plain := slices.ContainsFunc(l.URL, func(u string) bool { return strings.HasPrefix(u, "ldap:") })
	problem(len(l.URL) == 0, "ldap.url", " is missing: auth.mode ldap needs the address of the directory, such as ldaps://ldap.example.com")
	problem(l.Insecure && !plain && len(l.URL) > 0, "ldap.insecure", " has no effect: every ldap.url is ldaps://; leave it out")
	problem(l.BaseDN == "" && l.UserTemplate == "", "ldap.base_dn", " is missing: say where users are searched for, or give their DN in ldap.user_template")
	problem(l.BaseDN != "" && l.UserTemplate != "", "ldap.base_dn", " and ldap.user_template exclude each other: users are searched for, or their DN is known")
	problem(l.BindDN != "" && l.BindPassword == "", "ldap.bind_password", " is missing: ldap.bind_dn needs one")
	problem(l.BindDN == "" && l.BindPassword != "", "ldap.bind_dn", " is missing: ldap.bind_password belongs to it")
	problem(l.Groups != GroupsMemberOf && l.GroupBaseDN == "" && l.BaseDN == "",
		"ldap.group_base_dn", " is missing: ldap.groups "+l.Groups+" searches for groups there")
	problem(l.Nested && l.Groups == GroupsChain, "ldap.nested", " has no effect: ldap.groups chain follows nested groups by itself; leave it out")
	problem(l.Nested && l.Groups == GroupsMember && strings.Contains(l.GroupFilter, "%u"),
		"ldap.nested", " needs an ldap.group_filter without %u: a group in a group has a DN and no user name")
	problem(len(l.AdminGroups)+len(l.UserGroups)+len(l.ReadonlyGroups) == 0,
		"ldap.user_groups", " is missing: without it, ldap.admin_groups or ldap.readonly_groups nobody has a role")
	return errors.Join(errs...)
}
