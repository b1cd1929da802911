package identity_test

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

func rules(role policy.Role, patterns ...string) []identity.CertificateRule {
	return []identity.CertificateRule{{Role: role, Patterns: patterns}}
}

func certificate(t testing.TB, cn string, names ...string) *x509.Certificate {
	t.Helper()
	c := &x509.Certificate{
		Subject: pkix.Name{CommonName: cn}, Issuer: pkix.Name{CommonName: "ops ca", Organization: []string{"Example"}},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	for _, name := range names {
		kind, value, _ := strings.Cut(name, ":")
		switch kind {
		case "dns":
			c.DNSNames = append(c.DNSNames, value)
		case "email":
			c.EmailAddresses = append(c.EmailAddresses, value)
		case "uri":
			u, err := url.Parse(value)
			if err != nil {
				t.Fatal(err)
			}
			c.URIs = append(c.URIs, u)
		}
	}
	return c
}

// present sends a certificate and returns "name role", or the code of the refusal.
func present(t testing.TB, r *rig, rules []identity.CertificateRule, state *tls.ConnectionState) string {
	t.Helper()
	p, err := identity.NewCertificateProvider(r.Service, rules)
	if err != nil {
		t.Fatal(err)
	}
	req := httptest.NewRequest("GET", "/", nil)
	req.TLS = state
	chain := identity.Chain{p}
	principal, err := chain.Authenticate(req)
	if err != nil {
		return chain.Problem(err).Code
	}
	return principal.User + " " + string(principal.Role)
}

func verifiedState(c *x509.Certificate) *tls.ConnectionState {
	return &tls.ConnectionState{PeerCertificates: []*x509.Certificate{c}, VerifiedChains: [][]*x509.Certificate{{c}}}
}

func TestCertificatePatterns(t *testing.T) {
	const unmapped = "certificate_unmapped"
	for name, tt := range map[string]struct {
		cert  *x509.Certificate
		rules []identity.CertificateRule
		want  string
	}{
		"common name":            {certificate(t, "ops-1"), rules("admin", "cn:ops-1"), "ops-1 admin"},
		"its case counts":        {certificate(t, "OPS-1"), rules("admin", "cn:ops-1"), unmapped},
		"a star":                 {certificate(t, "ops-eu-1"), rules("user", "cn:ops-*-1"), "ops-eu-1 user"},
		"the whole name counts":  {certificate(t, "not-ops-1"), rules("user", "cn:ops-*"), unmapped},
		"dns":                    {certificate(t, "", "dns:A.Agents.example.com"), rules("user", "dns:*.agents.example.com"), "a.agents.example.com user"},
		"no dot in a star":       {certificate(t, "", "dns:a.b.agents.example.com"), rules("user", "dns:*.agents.example.com"), unmapped},
		"a cn is no dns":         {certificate(t, "a.agents.example.com"), rules("user", "dns:*.agents.example.com"), unmapped},
		"email":                  {certificate(t, "x", "email:Ann@Example.com"), rules("user", "email:*@example.com"), "ann@example.com user"},
		"no at in a star":        {certificate(t, "x", "email:evil@evil@example.com"), rules("user", "email:*@example.com"), unmapped},
		"uri":                    {certificate(t, "", "uri:spiffe://example.org/ns/a/sa/b"), rules("user", "uri:spiffe://example.org/ns/*/sa/b"), "spiffe-example.org-ns-a-sa-b user"},
		"no slash in a star":     {certificate(t, "", "uri:spiffe://example.org/ns/a/x/sa/b"), rules("user", "uri:spiffe://example.org/ns/*/sa/b"), unmapped},
		"the second name":        {certificate(t, "x", "dns:y.example", "dns:z.example"), rules("user", "dns:z.example"), "z.example user"},
		"the first rule counts":  {certificate(t, "ops"), append(rules("readonly", "cn:o*"), rules("admin", "cn:ops")...), "ops readonly"},
		"a name of nothing":      {certificate(t, ""), rules("admin", "cn:*"), unmapped},
		"nobody else's":          {certificate(t, "eve"), rules("admin", "cn:ops", "dns:ops", "email:ops", "uri:ops"), unmapped},
		"a name within a name":   {certificate(t, "ops\x00.evil"), rules("admin", "cn:ops"), unmapped},
		"no user name can be it": {certificate(t, "日本"), rules("admin", "cn:*"), "account_unavailable"},
	} {
		if got := present(t, newRig(t), tt.rules, verifiedState(tt.cert)); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

func TestOnlyVerifiedCertificatesCount(t *testing.T) {
	r, c := newRig(t), certificate(t, "ops")
	for name, state := range map[string]*tls.ConnectionState{
		"no TLS":         nil,
		"no certificate": {},
		"not verified":   {PeerCertificates: []*x509.Certificate{c}},
		"an empty chain": {PeerCertificates: []*x509.Certificate{c}, VerifiedChains: [][]*x509.Certificate{}},
	} {
		if got := present(t, r, rules("admin", "cn:*"), state); got != "credentials_missing" {
			t.Errorf("%s: got %q", name, got)
		}
	}
	expired := certificate(t, "old")
	expired.NotAfter = time.Now().Add(-time.Second) // on a connection that was opened before
	if got := present(t, r, rules("admin", "cn:*"), verifiedState(expired)); got != "account_expired" {
		t.Errorf("expired: got %q", got)
	}
}

// A name of one authority is not the same name of another.
func TestCertificatesOfTwoAuthorities(t *testing.T) {
	r, mine, other := newRig(t), certificate(t, "ops"), certificate(t, "ops")
	other.Issuer.CommonName = "another ca"
	if got := present(t, r, rules("admin", "cn:*"), verifiedState(mine)); got != "ops admin" {
		t.Fatalf("got %q", got)
	}
	if got := present(t, r, rules("admin", "cn:*"), verifiedState(other)); got != "account_unavailable" {
		t.Errorf("got %q for the name of another authority's", got)
	}
}

func TestCertificatePrincipal(t *testing.T) {
	r, c := newRig(t), certificate(t, "ops", "email:ops@example.com")
	p, err := identity.NewCertificateProvider(r.Service, rules("admin", "email:*@example.com"))
	if err != nil {
		t.Fatal(err)
	}
	req := httptest.NewRequest("GET", "/", nil)
	req.TLS = verifiedState(c)
	got, err := identity.Chain{p}.Authenticate(req)
	want := policy.Principal{
		User: "ops@example.com", Role: policy.Admin, Source: policy.SourceCertificate, Address: "192.0.2.1",
		Issued: c.NotBefore.UTC().Truncate(time.Microsecond), Expires: c.NotAfter.UTC().Truncate(time.Microsecond),
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	accounts, err := r.Users(t.Context())
	if err != nil || len(accounts) != 1 || accounts[0].Subject != "email:ops@example.com" || accounts[0].Issuer != "CN=ops ca,O=Example" {
		t.Errorf("got %+v, %v", accounts, err)
	}
	for _, tt := range []struct {
		method, upgrade string
		in              bool
	}{{"GET", "", true}, {"POST", "", false}, {"GET", "websocket", false}} {
		req = httptest.NewRequest(tt.method, "https://gateway.example/", nil)
		req.Header.Set("Sec-Fetch-Site", "cross-site")
		if tt.upgrade != "" {
			req.Header.Set("Upgrade", tt.upgrade)
		}
		req.TLS = verifiedState(c)
		_, err := identity.Chain{p}.Authenticate(req)
		if (err == nil) != tt.in {
			t.Errorf("%s %s of another site's page: got %v, want let in: %v", tt.method, tt.upgrade, err, tt.in)
		}
	}
}

func TestCertificateRulesAreChecked(t *testing.T) {
	for name, bad := range map[string][]identity.CertificateRule{
		"no role":       rules("", "cn:x"),
		"another role":  rules("root", "cn:x"),
		"no patterns":   rules("user"),
		"no kind":       rules("user", "x"),
		"another kind":  rules("user", "ip:192.0.2.1"),
		"kind in upper": rules("user", "CN:x"),
		"no name":       rules("user", "cn:"),
	} {
		if _, err := identity.NewCertificateProvider(nil, bad); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
	if _, err := identity.NewCertificateProvider(nil, rules("user", "cn:x"), "nowhere"); err == nil {
		t.Error("an origin that is none: got no error")
	}
}

// FuzzCertificateGlob compares patterns with the regular expressions that they are short for.
func FuzzCertificateGlob(f *testing.F) {
	f.Add("*.a.*.b", "x.a.y.b")
	f.Add("a*b*c", "aXbYbZc")
	f.Add("*", "")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if pattern != strings.ToLower(pattern) || name != strings.ToLower(name) || pattern == "" || name == "" {
			return
		}
		want := regexp.MustCompile(`(?s)\A` + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, `[^.]*`) + `\z`).MatchString(name)
		if got := identity.MatchDNS(pattern, name); got != want {
			t.Errorf("pattern %q, name %q: got %v, want %v", pattern, name, got, want)
		}
	})
}
