package auth

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/svc-gateway/svc/policy"
)

func init() {
	caddy.RegisterModule(new(Matcher))
}

// Matcher matches requests whose principal and fields fulfil an expression. It is evaluated
// where it stands in the route, behind svc_auth. A request that no svc_auth has let through is
// an error, answered with 500: that it does not match could open what the matcher guards. Paths
// that need no principal, /health and those of the option open, never match.
type Matcher struct {
	// A boolean expression over principal (user, role, groups, source, on_behalf_of, address),
	// request (method, scheme, host, path, query), time and may(action). Required.
	Expr string `json:"expr"`

	condition *policy.Condition
}

// CaddyModule returns the Caddy module information.
func (*Matcher) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.matchers.svc_policy", New: func() caddy.Module { return new(Matcher) }}
}

// UnmarshalCaddyfile reads the matcher:
//
//	svc_policy <expression>
//
// As with Caddy's own expression matcher one quoted word is the expression without its quotes,
// and of several words the quotes belong to it.
func (m *Matcher) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // matcher name
	switch d.CountRemainingArgs() {
	case 0:
		return d.Err(`svc_policy: the expression is missing: want one such as principal.role == "admin"`)
	case 1:
		d.NextArg()
		m.Expr = d.Val()
	default:
		m.Expr = strings.Join(d.RemainingArgsRaw(), " ")
	}
	if _, err := policy.ParseCondition(m.Expr); err != nil {
		return d.Errf("svc_policy: %v", err)
	}
	if d.NextBlock(0) {
		return d.Err("svc_policy takes no block")
	}
	if d.Next() {
		return d.Err("svc_policy is given twice: combine the expressions with and")
	}
	return nil
}

// Provision compiles the expression.
func (m *Matcher) Provision(caddy.Context) (err error) {
	if m.condition, err = policy.ParseCondition(m.Expr); err != nil {
		return fmt.Errorf("expr: %w", err)
	}
	return nil
}

// errNoPrincipal is a matcher without svc_auth in front of it.
var errNoPrincipal = errors.New("svc_policy: nobody is authenticated here: put svc_auth in front of the route, and the matcher not on svc_auth itself")

// MatchWithError reports whether the expression holds.
func (m *Matcher) MatchWithError(r *http.Request) (bool, error) {
	p, ok := policy.PrincipalFrom(r.Context())
	if !ok {
		if needsNobody(r) {
			return false, nil
		}
		return false, caddyhttp.Error(http.StatusInternalServerError, errNoPrincipal)
	}
	holds, err := m.condition.Holds(p, requestOf(r))
	if err != nil {
		return false, caddyhttp.Error(http.StatusInternalServerError, err)
	}
	return holds, nil
}

// cleaned is the path as a server behind may take it, and as Caddy's own matcher does: /open/../x
// and //x are both /x.
func cleaned(path string) string {
	if path == "" {
		return ""
	}
	return caddyhttp.CleanPath(path, true)
}

func scheme(r *http.Request) string {
	if r.TLS == nil {
		return "http"
	}
	return "https"
}

// Interface guards.
var (
	_ caddy.Provisioner                 = (*Matcher)(nil)
	_ caddyfile.Unmarshaler             = (*Matcher)(nil)
	_ caddyhttp.RequestMatcherWithError = (*Matcher)(nil)
)
