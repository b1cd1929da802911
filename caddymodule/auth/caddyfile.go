package auth

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/caddymodule/directive"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

func init() { directive.Register[Handler]("svc_auth", warnBeside) }

// warnBeside warns of paths that guard less than many think.
func warnBeside(at directive.Place, matcher caddy.ModuleMap) {
	var paths []string
	if json.Unmarshal(matcher["path"], &paths) != nil {
		return
	}
	for _, gap := range gaps(paths) {
		caddy.Log().Named("caddyfile").Warn("svc_auth "+gap, zap.String("file", at.File), zap.Int("line", at.Line))
	}
}

// gaps says what a matcher of these paths leaves open: /admins/*, taken for all of /admins, leaves
// /admins, and some servers reach /api/admins by another path.
func gaps(paths []string) (found []string) {
	for _, p := range paths {
		base, below := strings.CutSuffix(p, "/*")
		if base != "" && below && !slices.Contains(paths, base+"*") {
			found = append(found, p+" leaves "+base+" itself open, and "+base+";x, which some servers take for it: write "+base+"*")
		}
		first, rest, _ := strings.Cut(strings.TrimPrefix(p, "/"), "/")
		if first != "" && !strings.Contains(first, "*") && strings.Trim(rest, "/*") != "" && !slices.Contains(paths, "/"+first+"*") {
			found = append(found, p+" leaves /"+first+";x/"+rest+" open, which some servers take for it: write /"+first+"*, or have the server check the role")
		}
	}
	return found
}

// UnmarshalCaddyfile reads the directive:
//
//	svc_auth [<matcher>] {
//		require          use|mutate|install|admin|approve-write
//		prefix           <path>
//		open             <path>...
//		pass_credentials
//		identity_headers {
//			user   <header>|off
//			role   <header>|off
//			groups <header>|off
//		}
//		client_certificate {
//			admin|user|readonly <pattern>...
//		}
//		assertion [<header>] {
//			audience <text>
//			issuer   <text>
//		}
//	}
func (h *Handler) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	var open directive.Line
	err := directive.Read(d,
		directive.Option{Name: "require", Read: h.readRequire},
		directive.Option{Name: "prefix", Read: h.readPrefix},
		directive.Option{Name: "open", Repeats: true, Read: func(l directive.Line) error {
			open = l.Mark()
			return h.readOpen(l)
		}},
		directive.Option{Name: "pass_credentials", Read: func(l directive.Line) error {
			h.PassCredentials = true
			return l.None()
		}},
		directive.Option{Name: "identity_headers", Read: within(h.identityHeaders)},
		directive.Option{Name: "client_certificate", Read: within(h.clientCertificate)},
		directive.Option{Name: "assertion", Read: within(h.assertion)},
	)
	if err != nil {
		return err
	}
	if err := checkOpenPaths(h.Open, cmp.Or(h.Prefix, defaultPrefix)); err != nil {
		return open.Errf("%v", err)
	}
	return nil
}

// within reads an option with a block of its own.
func within(read func(*caddyfile.Dispenser) error) func(directive.Line) error {
	return func(l directive.Line) error { return read(l.Dispenser()) }
}

func (h *Handler) readRequire(l directive.Line) error {
	value, err := l.One()
	if err != nil {
		return err
	}
	if h.Require = policy.Action(value); !h.Require.Known() {
		return l.Errf("unknown action %q: want use, mutate, install, admin or approve-write", value)
	}
	return nil
}

func (h *Handler) readPrefix(l directive.Line) error {
	value, err := l.One()
	if err != nil {
		return err
	}
	if err := checkPrefix(value); err != nil {
		return l.Errf("%v", err)
	}
	h.Prefix = value
	return nil
}

func (h *Handler) identityHeaders(d *caddyfile.Dispenser) error {
	if d.NextArg() {
		return d.Errf("svc_auth: identity_headers takes no argument, found %q: names go into a block", d.Val())
	}
	n := defaultIdentityHeaders()
	names := map[string]*string{"user": &n.User, "role": &n.Role, "groups": &n.Groups}
	if err := block(d, "identity_headers", names, "user, role or groups"); err != nil {
		return err
	}
	for _, name := range []*string{&n.User, &n.Role, &n.Groups} {
		if *name == "off" {
			*name = ""
		}
	}
	if err := n.check(); err != nil {
		return d.Errf("svc_auth: %v", err)
	}
	h.IdentityHeaders = n
	return nil
}

func (h *Handler) clientCertificate(d *caddyfile.Dispenser) error {
	if d.NextArg() {
		return d.Errf("svc_auth: client_certificate takes no argument, found %q: roles and patterns go into a block", d.Val())
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		rule := identity.CertificateRule{Role: policy.Role(d.Val()), Patterns: d.RemainingArgs()}
		if err := rule.Check(); err != nil {
			return d.Errf("svc_auth: client_certificate: %v", err)
		}
		h.ClientCertificate = append(h.ClientCertificate, rule)
	}
	if len(h.ClientCertificate) == 0 {
		return d.Err("svc_auth: client_certificate is empty: a line for each role, such as admin cn:ops-*")
	}
	return nil
}

func (h *Handler) assertion(d *caddyfile.Dispenser) error {
	a := new(Assertion)
	if d.NextArg() {
		a.Header = d.Val()
	}
	if d.NextArg() {
		return d.Errf("svc_auth: assertion takes one header, found %q as well", d.Val())
	}
	names := map[string]*string{"audience": &a.Audience, "issuer": &a.Issuer}
	if err := block(d, "assertion", names, "audience or issuer"); err != nil {
		return err
	}
	if err := a.check(nil); err != nil {
		return d.Errf("svc_auth: %v", err)
	}
	h.Assertion = a
	return nil
}

// block reads the block of an option: lines of a name and its value, no name twice. It takes the names
// that it reads out of to; want lists them all.
func block(d *caddyfile.Dispenser, option string, to map[string]*string, want string) error {
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		name := d.Val()
		value, ok := to[name]
		if !ok {
			return d.Errf("svc_auth: %s: unknown name %q: want %s, once each", option, name, want)
		}
		delete(to, name)
		if !d.AllArgs(value) {
			return d.Errf("svc_auth: %s: %s takes exactly one value", option, name)
		}
	}
	return nil
}

var _ caddyfile.Unmarshaler = (*Handler)(nil)
