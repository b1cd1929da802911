package ldap

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	goldap "github.com/go-ldap/ldap/v3"

	"github.com/svc-gateway/svc/internal/settings"
)

// maxGroups bounds the groups of one user, nested ones included: a directory may have circles,
// and every one costs a question.
const maxGroups = 1000

// inChain is the filter with which the server resolves nested groups (MS-ADTS, 3.1.1.3.4.4.3).
const inChain filter = "(member:1.2.840.113556.1.4.1941:=%d)"

var errTooManyGroups = errors.New("the user is in more than 1000 groups, or more than the directory lists: narrow ldap.group_base_dn or ldap.group_filter")

// group is a group that a user is in.
type group struct {
	name string // the value that its DN begins with
	dn   *goldap.DN
	text string // the DN as the directory writes it
}

// groups finds the groups of a user.
func (l *look) groups(c *conn, e entry) ([]group, error) {
	var next func(frontier []string) ([]string, error)
	first := func() ([]string, error) { return l.groupsWith(c, filter(l.settings.GroupFilter).with(e.name, e.dn)) }
	switch l.settings.Groups {
	case settings.GroupsChain:
		first = func() ([]string, error) { return l.groupsWith(c, inChain.with("", e.dn)) }
	case settings.GroupsMember:
		next = func(frontier []string) ([]string, error) {
			var all strings.Builder
			for _, dn := range frontier {
				all.WriteString(filter(l.settings.GroupFilter).with("", dn))
			}
			return l.groupsWith(c, "(|"+all.String()+")")
		}
	default:
		first = func() ([]string, error) { return e.memberOf, nil }
		next = func(frontier []string) ([]string, error) { return memberOfAll(c, frontier) }
	}
	found, err := first()
	if err != nil {
		return nil, fmt.Errorf("finding groups: %w", err)
	}
	if l.settings.Nested {
		if found, err = closure(found, next); err != nil {
			return nil, fmt.Errorf("finding nested groups: %w", err)
		}
	}
	return parseGroups(found)
}

// closure follows groups into the groups that they are in, level by level.
func closure(found []string, next func([]string) ([]string, error)) ([]string, error) {
	seen := map[string]bool{}
	fresh := func(dns []string) (news []string) {
		for _, dn := range dns {
			if key := strings.ToLower(dn); !seen[key] {
				seen[key] = true
				news = append(news, dn)
			}
		}
		return news
	}
	all := fresh(found)
	for frontier := all; len(frontier) > 0; {
		if len(all) > maxGroups {
			return nil, errTooManyGroups
		}
		more, err := next(frontier)
		if err != nil {
			return nil, err
		}
		frontier = fresh(more)
		all = append(all, frontier...)
	}
	return all, nil
}

func (l *look) groupsWith(c *conn, filter string) ([]string, error) {
	found, err := c.search(l.groupBase, goldap.ScopeWholeSubtree, filter, maxGroups, "1.1") // no attributes (RFC 4511, 4.5.1.8)
	if goldap.IsErrorWithCode(err, goldap.LDAPResultSizeLimitExceeded) {
		return nil, errTooManyGroups
	}
	if err != nil {
		return nil, fmt.Errorf("below %s: %w", l.groupBase, err)
	}
	dns := make([]string, len(found))
	for i, e := range found {
		dns[i] = e.DN
	}
	return dns, nil
}

// memberOfAll reads the groups that groups are in. One that may not be read leads nowhere.
func memberOfAll(c *conn, groups []string) ([]string, error) {
	var all []string
	for _, dn := range groups {
		found, err := c.read(dn, memberOf)
		if err != nil {
			return nil, err
		}
		if found != nil {
			all = append(all, values(found, memberOf)...)
		}
	}
	return all, nil
}

func parseGroups(dns []string) ([]group, error) {
	if len(dns) > maxGroups {
		return nil, errTooManyGroups
	}
	groups := make([]group, 0, len(dns))
	for _, text := range dns {
		dn, err := parseDN(text)
		if err != nil {
			return nil, err
		}
		groups = append(groups, group{dn.RDNs[0].Attributes[0].Value, dn, text})
	}
	return groups, nil
}

// groupNames are the names that go into a principal.
func groupNames(groups []group) []string {
	var all []string
	for _, g := range groups {
		all = append(all, g.name)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func describeGroups(groups []group) string {
	if len(groups) == 0 {
		return "none"
	}
	all := make([]string, len(groups))
	for i, g := range groups {
		all[i] = g.text
	}
	return strings.Join(all, "; ")
}
