package auth

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

func init() {
	httpcaddyfile.RegisterHandlerDirective("svc_auth", parseCaddyfile)
}

func parseCaddyfile(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	m := new(Handler)
	return m, m.UnmarshalCaddyfile(h.Dispenser)
}

// UnmarshalCaddyfile reads the directive:
//
//	svc_auth [<matcher>] {
//		require          use|mutate|install|admin|approve-write
//		prefix           <path>
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
	d.Next() // directive name
	if d.NextArg() {
		return d.Errf("svc_auth takes no argument, found %q: options go into a block", d.Val())
	}
	seen := map[string]bool{}
	for d.NextBlock(0) {
		option := d.Val()
		if seen[option] {
			return d.Errf("svc_auth: %s is given twice", option)
		}
		seen[option] = true
		if err := h.option(d, option); err != nil {
			return err
		}
	}
	return nil
}

func (h *Handler) option(d *caddyfile.Dispenser, option string) error {
	switch option {
	case "require":
		value, err := one(d, option)
		if err != nil {
			return err
		}
		if h.Require = policy.Action(value); !h.Require.Known() {
			return d.Errf("svc_auth: require: unknown action %q: want use, mutate, install, admin or approve-write", value)
		}
		return nil
	case "prefix":
		value, err := one(d, option)
		if err != nil {
			return err
		}
		if err := checkPrefix(value); err != nil {
			return d.Errf("svc_auth: prefix: %v", err)
		}
		h.Prefix = value
		return nil
	case "pass_credentials":
		if d.NextArg() {
			return d.Errf("svc_auth: pass_credentials takes no value, found %q", d.Val())
		}
		h.PassCredentials = true
		return nil
	case "identity_headers":
		return h.identityHeaders(d)
	case "client_certificate":
		return h.clientCertificate(d)
	case "assertion":
		return h.assertion(d)
	}
	return d.Errf("svc_auth: unknown option %q: want require, prefix, pass_credentials, identity_headers, client_certificate or assertion", option)
}

func (h *Handler) identityHeaders(d *caddyfile.Dispenser) error {
	if d.NextArg() {
		return d.Errf("svc_auth: identity_headers takes no argument, found %q: names go into a block", d.Val())
	}
	n := defaultIdentityHeaders()
	fields := map[string]*string{"user": &n.User, "role": &n.Role, "groups": &n.Groups}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		field, ok := fields[d.Val()]
		if !ok {
			return d.Errf("svc_auth: identity_headers: unknown name %q: want user, role or groups, once each", d.Val())
		}
		delete(fields, d.Val())
		value, err := one(d, "identity_headers: "+d.Val())
		if err != nil {
			return err
		}
		if value == "off" {
			value = ""
		}
		*field = value
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
	fields := map[string]*string{"audience": &a.Audience, "issuer": &a.Issuer}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		field, ok := fields[d.Val()]
		if !ok {
			return d.Errf("svc_auth: assertion: unknown name %q: want audience or issuer, once each", d.Val())
		}
		delete(fields, d.Val())
		value, err := one(d, "assertion: "+d.Val())
		if err != nil {
			return err
		}
		*field = value
	}
	if err := a.check(nil); err != nil {
		return d.Errf("svc_auth: %v", err)
	}
	h.Assertion = a
	return nil
}

// one returns the only value of an option.
func one(d *caddyfile.Dispenser, option string) (string, error) {
	var value string
	if !d.AllArgs(&value) {
		return "", d.Errf("svc_auth: %s takes exactly one value", option)
	}
	return value, nil
}

var _ caddyfile.Unmarshaler = (*Handler)(nil)
