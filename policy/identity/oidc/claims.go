package oidc

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy"
)

// claims are those of a token, as JSON has them.
type claims map[string]any

// text returns a claim that is a string, else an empty one.
func (c claims) text(name string) string {
	s, _ := c[name].(string)
	return s
}

// checkText refuses claims that must be strings and are something else: to whoever looks at their
// text they would not be there. What is null is not there.
func (c claims) checkText(names ...string) error {
	for _, name := range names {
		if v, given := c[name]; given && v != nil {
			if _, ok := v.(string); !ok {
				return fmt.Errorf("%s is not a string", name)
			}
		}
	}
	return nil
}

// list returns a claim that is a string or a list of strings, such as aud; not ok for anything else.
func (c claims) list(name string) (list []string, ok bool) {
	switch v := c[name].(type) {
	case string:
		return []string{v}, true
	case []any:
		list = words(v)
		return list, len(list) == len(v)
	}
	return nil, c[name] == nil
}

// at finds a claim by its path. A name with dots in it, such as an address, is found as well:
// the longest name counts.
func (c claims) at(path string) (any, bool) {
	if v, ok := c[path]; ok {
		return v, true
	}
	for n := strings.LastIndexByte(path, '.'); n > 0; n = strings.LastIndexByte(path[:n], '.') {
		if inner, ok := c[path[:n]].(map[string]any); ok {
			if v, ok := claims(inner).at(path[n+1:]); ok {
				return v, true
			}
		}
	}
	return nil, false
}

// date returns a claim that is a time (RFC 7519, 2): whether there is one, and whether it makes
// sense.
func (c claims) date(name string) (t time.Time, given bool, err error) {
	v, given := c[name]
	if !given {
		return time.Time{}, false, nil
	}
	seconds, ok := v.(float64)
	if !ok || seconds < 0 || seconds > 253402300799 { // the year 9999
		return time.Time{}, true, fmt.Errorf("the claim %s is not a time", name)
	}
	whole, part := math.Modf(seconds)
	return time.Unix(int64(whole), int64(part*1e9)), true, nil
}

// words returns the strings of a value: itself, the items of a list, or the names in an object, as
// some providers send roles. A name counts if there is something to it: a value of true, or an object
// or list that is not empty. What is false or null is what the user has not.
func words(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var list []string
		for _, item := range v {
			if s, ok := item.(string); ok {
				list = append(list, s)
			}
		}
		return list
	case map[string]any:
		var list []string
		for name, value := range v {
			if holds(value) {
				list = append(list, name)
			}
		}
		slices.Sort(list)
		return list
	}
	return nil
}

func holds(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return false
}

// groups returns the groups of the claim that the issuer has them in. Scopes are one string
// with spaces in between (RFC 8693, 4.2).
func groups(c claims, path string) ([]string, bool) {
	v, ok := c.at(path)
	if s, isText := v.(string); isText && (path == "scope" || path == "scp") {
		return strings.Fields(s), ok
	}
	return words(v), ok
}

// everybody stands for all users in a list of groups.
const everybody = "*"

// role returns the strongest role that the groups give.
func role(i settings.Issuer, groups []string) policy.Role {
	for _, r := range []struct {
		role policy.Role
		of   []string
	}{{policy.Admin, i.AdminGroups}, {policy.User, i.UserGroups}, {policy.Readonly, i.ReadonlyGroups}} {
		if slices.Contains(r.of, everybody) || slices.ContainsFunc(groups, func(g string) bool { return slices.Contains(r.of, g) }) {
			return r.role
		}
	}
	return ""
}

// userName returns the user's name and the claim that it is in. An address that the provider
// has not verified names nobody.
func userName(i settings.Issuer, c claims) (name, claim string) {
	candidates := []string{"preferred_username", "email", "sub"}
	if chosen := cmp.Or(i.UserClaim, i.NameClaim); chosen != "" {
		candidates = []string{chosen}
	}
	for _, claim := range candidates {
		v, _ := c.at(claim)
		name, _ := v.(string)
		if name != "" && (claim != "email" || verified(c, i.UserClaim != "")) {
			return name, claim
		}
	}
	return "", candidates[0]
}

// verified reports whether the claim email can be relied on. Where an admin chose the claim, a
// provider that does not say counts as one that verifies.
func verified(c claims, unless bool) bool {
	switch v := c["email_verified"].(type) {
	case bool:
		return v
	case string: // some providers quote it
		return v == "true"
	case nil:
		return unless
	}
	return false
}
