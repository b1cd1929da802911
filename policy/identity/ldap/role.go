package ldap

import (
	"errors"
	"fmt"
	"strings"

	goldap "github.com/go-ldap/ldap/v3"

	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy"
)

// roles say which group gives which role, the strongest role first.
type roles struct {
	list   []rule
	within *goldap.DN // where groups that are given by their cn must be; nil: anywhere
}

// rule gives the members of a group a role.
type rule struct {
	role policy.Role
	text string     // as configured
	dn   *goldap.DN // nil: text is a cn
}

func newRoles(s settings.LDAP) (roles, error) {
	var r roles
	var errs []error
	for _, m := range []struct {
		setting string
		role    policy.Role
		groups  []string
	}{
		{"admin_groups", policy.Admin, s.AdminGroups},
		{"user_groups", policy.User, s.UserGroups},
		{"readonly_groups", policy.Readonly, s.ReadonlyGroups},
	} {
		for _, text := range m.groups {
			rule := rule{role: m.role, text: text}
			if strings.Contains(text, "=") {
				var err error
				if rule.dn, err = parseDN(text); err != nil {
					errs = append(errs, fmt.Errorf("ldap.%s: %w", m.setting, err))
				}
			}
			r.list = append(r.list, rule)
		}
	}
	if s.GroupBaseDN != "" {
		r.within, _ = parseDN(s.GroupBaseDN) // New reports what is wrong with it
	}
	return r, errors.Join(errs...)
}

// of returns the strongest role of the groups and what gives it, "" for none.
func (r roles) of(groups []group) (role policy.Role, by string) {
	for _, rule := range r.list {
		for _, g := range groups {
			if r.match(rule, g) {
				return rule.role, g.text
			}
		}
	}
	return "", ""
}

func (r roles) match(rule rule, g group) bool {
	if rule.dn != nil {
		return rule.dn.EqualFold(g.dn)
	}
	first := g.dn.RDNs[0]
	if len(first.Attributes) != 1 || !strings.EqualFold(first.Attributes[0].Type, "cn") || !strings.EqualFold(g.name, rule.text) {
		return false
	}
	return r.within == nil || r.within.AncestorOfFold(g.dn)
}
