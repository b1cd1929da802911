package identity

import (
	"crypto/x509"
	"fmt"
	"net/http"
	"strings"

	"github.com/svc-gateway/svc/policy"
)

// CertificateRule gives a role to the client certificates that one of its patterns fits.
//
// A pattern is the kind of a name, a colon and the name itself: cn (common name of the
// subject), dns, email or uri (subject alternative names). * stands for any characters, also
// none, but a dot in dns, an @ in email and a slash in uri. Case counts in cn and uri only.
type CertificateRule struct {
	// The role of who shows such a certificate: "admin", "user" or "readonly". Required.
	Role policy.Role `json:"role"`

	// Names, one of which the certificate has to have: "cn:alice", "dns:*.ci.example.com",
	// "email:*@example.com", "uri:spiffe://example.com/*". Required.
	Patterns []string `json:"patterns"`
}

// Check refuses a rule without a known role, without patterns or with one that makes no sense.
func (r CertificateRule) Check() error {
	if _, err := policy.ParseRole(string(r.Role)); err != nil {
		return err
	}
	if len(r.Patterns) == 0 {
		return fmt.Errorf("role %s has no patterns: %s", r.Role, wantPattern)
	}
	for _, text := range r.Patterns {
		if _, ok := parsePattern(text); !ok {
			return fmt.Errorf("%q is not a pattern for certificates: %s", text, wantPattern)
		}
	}
	return nil
}

const wantPattern = "want cn:, dns:, email: or uri: and a name, in which * stands for anything"

// NewCertificateProvider returns the provider for TLS client certificates. Only certificates
// that the server verified count. The rules are tried in their order and the first that fits
// gives the role; the name that it fits is who the user is, for the authority that issued the
// certificate: what else is in it may change when it is renewed.
//
// A certificate is as good as an account's credential from its NotBefore on, so that "revoke all
// tokens" of the account ends older ones. Because browsers send certificates by themselves, a
// request that a page of another origin caused is refused unless that origin is trusted.
func NewCertificateProvider(s *Service, rules []CertificateRule, trustedOrigins ...string) (Provider, error) {
	p := &certificateProvider{service: s}
	for _, r := range rules {
		if err := r.Check(); err != nil {
			return nil, err
		}
		for _, text := range r.Patterns {
			pattern, _ := parsePattern(text)
			p.rules = append(p.rules, certificateRule{r.Role, pattern})
		}
	}
	for _, o := range trustedOrigins {
		if err := p.origins.AddTrustedOrigin(o); err != nil {
			return nil, fmt.Errorf("trusting origin %q: %w", o, err)
		}
	}
	return p, nil
}

type certificateProvider struct {
	service *Service
	rules   []certificateRule
	origins http.CrossOriginProtection
}

type certificateRule struct {
	role    policy.Role
	pattern certificatePattern
}

func (*certificateProvider) Name() string { return policy.SourceCertificate }

func (p *certificateProvider) Authenticate(r *http.Request) (policy.Principal, Outcome, error) {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 {
		return policy.Principal{}, NotMine, nil
	}
	x, ok := p.identify(r.TLS.VerifiedChains[0][0])
	if !ok {
		return policy.Principal{}, NotMine, errCertificateUnmapped
	}
	if err := p.origins.Check(acting(r)); err != nil {
		return policy.Principal{}, No, errCertificateOrigin
	}
	principal, err := p.service.Admit(r.Context(), x)
	if err != nil {
		return policy.Principal{}, No, RefusePerson(err)
	}
	return principal, Yes, nil
}

// identify returns whom the first rule that fits makes of the certificate.
func (p *certificateProvider) identify(c *x509.Certificate) (External, bool) {
	for _, r := range p.rules {
		name, ok := r.pattern.find(c)
		if !ok {
			continue
		}
		return External{
			Source: policy.SourceCertificate, Issuer: c.Issuer.String(), Subject: r.pattern.kind + ":" + name,
			Name: name, Role: r.role, Issued: c.NotBefore, Expires: c.NotAfter,
		}, true
	}
	return External{}, false
}

// CertificateRole returns the role that rules give to somebody whom a certificate let in: the name in
// the subject has to be one that they fit. Empty: none.
func CertificateRole(rules []CertificateRule, subject string) policy.Role {
	kind, name, _ := strings.Cut(subject, ":")
	for _, r := range rules {
		for _, text := range r.Patterns {
			if p, ok := parsePattern(text); ok && p.kind == kind && glob(p.parts, name, certificateKinds[kind].stop) {
				return r.Role
			}
		}
	}
	return ""
}

// certificatePattern is a pattern in parts.
type certificatePattern struct {
	kind  string
	parts []string // between the stars
}

// certificateKinds says of each kind of name what a star does not reach over, and whether case
// counts.
var certificateKinds = map[string]struct {
	stop string
	fold bool
}{
	"cn": {}, "dns": {stop: ".", fold: true}, "email": {stop: "@", fold: true}, "uri": {stop: "/"},
}

func parsePattern(s string) (p certificatePattern, ok bool) {
	kind, name, _ := strings.Cut(s, ":")
	k, ok := certificateKinds[kind]
	if k.fold {
		name = strings.ToLower(name)
	}
	return certificatePattern{kind, strings.Split(name, "*")}, ok && name != ""
}

// find returns the first name of the certificate that the pattern fits.
func (p certificatePattern) find(c *x509.Certificate) (string, bool) {
	var names []string
	switch p.kind {
	case "cn":
		names = []string{c.Subject.CommonName}
	case "dns":
		names = c.DNSNames
	case "email":
		names = c.EmailAddresses
	case "uri":
		for _, u := range c.URIs {
			names = append(names, u.String())
		}
	}
	k := certificateKinds[p.kind]
	for _, name := range names {
		if k.fold {
			name = strings.ToLower(name)
		}
		if name != "" && glob(p.parts, name, k.stop) {
			return name, true
		}
	}
	return "", false
}

// glob reports whether the parts are all of s in their order, with anything in between that has
// no stop in it. The leftmost place of a part is as good as any: between it and the next one
// there is no stop.
func glob(parts []string, s, stop string) bool {
	passes := func(gap string) bool { return stop == "" || !strings.Contains(gap, stop) }
	rest, ok := strings.CutPrefix(s, parts[0])
	last := len(parts) - 1
	if !ok || last == 0 {
		return ok && rest == ""
	}
	for _, part := range parts[1:last] {
		gap, after, found := strings.Cut(rest, part)
		if !found || !passes(gap) {
			return false
		}
		rest = after
	}
	gap, ok := strings.CutSuffix(rest, parts[last])
	return ok && passes(gap)
}

var (
	errCertificateUnmapped = &Refused{
		Status: http.StatusForbidden, Code: "certificate_unmapped", Reason: "unmapped",
		Detail: "Your certificate is valid, but none of its names has a role here; ask an admin.",
	}
	errCertificateOrigin = &Refused{
		Status: http.StatusForbidden, Code: "cross_origin", Reason: "cross_origin",
		Detail: "A web page of another origin sent this with the browser's certificate. Add the origin to cors.origins to trust it.",
	}
)
