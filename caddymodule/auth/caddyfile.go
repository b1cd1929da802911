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
	var open, assertion directive.Line
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
		directive.Option{Name: "assertion", Read: func(l directive.Line) error {
			assertion = l.Mark()
			return h.assertion(l.Dispenser())
		}},
	)
	if err != nil {
		return err
	}
	if err := checkOpenPaths(h.Open, cmp.Or(h.Prefix, defaultPrefix)); err != nil {
		return open.Errf("%v", err)
	}
	if h.Assertion == nil || h.IdentityHeaders == nil {
		return nil
	}
	if err := h.Assertion.check(h.IdentityHeaders); err != nil {
		return assertion.Say(err)
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
	begin := *d
	n := defaultIdentityHeaders()
	names := map[string]*string{"user": &n.User, "role": &n.Role, "groups": &n.Groups}
	check := func(name string) error {
		if name == "off" {
			return nil
		}
		return checkHeaderName(name)
	}
	if err := block(d, "identity_headers", names, "user, role or groups", check); err != nil {
		return err
	}
	for _, name := range []*string{&n.User, &n.Role, &n.Groups} {
		if *name == "off" {
			*name = ""
		}
	}
	if err := n.check(); err != nil {
		return begin.Errf("svc_auth: %v", err)
	}
	h.IdentityHeaders = n
	return nil
}

func (h *Handler) clientCertificate(d *caddyfile.Dispenser) error {
	if d.NextArg() {
		return d.Errf("svc_auth: client_certificate takes no argument, found %q: roles and patterns go into a block", d.Val())
	}
	begin := *d
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		rule := identity.CertificateRule{Role: policy.Role(d.Val()), Patterns: d.RemainingArgs()}
		if err := rule.Check(); err != nil {
			return d.Errf("svc_auth: client_certificate: %v", err)
		}
		h.ClientCertificate = append(h.ClientCertificate, rule)
	}
	if len(h.ClientCertificate) == 0 {
		return begin.Err("svc_auth: client_certificate is empty: a line for each role, such as admin cn:ops-*")
	}
	return nil
}

func (h *Handler) assertion(d *caddyfile.Dispenser) error {
	a := new(Assertion)
	if d.NextArg() {
		a.Header = d.Val()
		if err := checkHeaderName(a.Header); err != nil {
			return d.Errf("svc_auth: assertion: %v", err)
		}
	}
	if d.NextArg() {
		return d.Errf("svc_auth: assertion takes one header, found %q as well", d.Val())
	}
	names := map[string]*string{"audience": &a.Audience, "issuer": &a.Issuer}
	if err := block(d, "assertion", names, "audience or issuer", checkLiteral); err != nil {
		return err
	}
	h.Assertion = a
	return nil
}

// block reads the block of an option: lines of a name and its value, no name twice. It takes the names
// that it reads out of to; want lists them all. check, if there is one, refuses values.
func block(d *caddyfile.Dispenser, option string, to map[string]*string, want string, check func(string) error) error {
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		name := d.Val()
		value, ok := to[name]
		if !ok {
			return d.Errf("svc_auth: %s: unknown name %q: want %s, once each", option, name, want)
		}
		delete(to, name)
		if !d.AllArgs(value) || *value == "" {
			return d.Errf("svc_auth: %s: %s takes exactly one value", option, name)
		}
		if check == nil {
			continue
		}
		if err := check(*value); err != nil {
			return d.Errf("svc_auth: %s: %s: %v", option, name, err)
		}
	}
	return nil
}

var _ caddyfile.Unmarshaler = (*Handler)(nil)
