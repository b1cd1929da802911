package auth_test

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"
	"github.com/svc-gateway/svc/internal/testcert"
	"github.com/svc-gateway/svc/policy"
)

// authority issues certificates.
type authority struct {
	*testcert.Authority
	file string // its certificate, PEM
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	ca, err := testcert.NewAuthority(name)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{ca, filepath.Join(t.TempDir(), "ca.pem")}
	if err := testcert.Write(ca.Certificate, a.file, ""); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *authority) issue(t *testing.T, template *x509.Certificate) tls.Certificate {
	t.Helper()
	c, err := a.Issue(template)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (a *authority) client(t *testing.T, cn string, emails ...string) *tls.Certificate {
	c := a.issue(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: cn}, EmailAddresses: emails, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	return &c
}

// serveTLS makes the server ask for client certificates of the authority.
func (a *authority) serveTLS(t *testing.T, srv *caddytest.Server, mode string) {
	t.Helper()
	own := a.issue(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "server"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	})
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "server.pem"), filepath.Join(dir, "server.key")
	if err := testcert.Write(own, certFile, keyFile); err != nil {
		t.Fatal(err)
	}
	srv.LoadJSON(func(doc map[string]any) {
		apps := doc["apps"].(map[string]any)
		apps["tls"] = map[string]any{"certificates": map[string]any{"load_files": []any{map[string]any{
			"certificate": certFile, "key": keyFile,
		}}}}
		for _, server := range apps["http"].(map[string]any)["servers"].(map[string]any) {
			server.(map[string]any)["strict_sni_host"] = false // an address is no SNI
			server.(map[string]any)["tls_connection_policies"] = []any{map[string]any{"client_authentication": map[string]any{
				"mode": mode, "ca": map[string]any{"provider": "file", "pem_files": []string{a.file}},
			}}}
		}
	})
}

// get sends a request over TLS with the certificate and returns the status and what came.
func (a *authority) get(t *testing.T, srv *caddytest.Server, cert *tls.Certificate, header ...string) (int, string) {
	t.Helper()
	config := &tls.Config{RootCAs: a.Pool()}
	if cert != nil {
		config.Certificates = []tls.Certificate{*cert}
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
	defer client.CloseIdleConnections()
	r := srv.Request(http.MethodGet, "/", "", header...)
	r.URL.Scheme = "https"
	resp, err := client.Do(r)
	for range 5 { // a reload drops connections that nobody had accepted yet
		if !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
			break
		}
		resp, err = client.Do(r)
	}
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var p struct{ Code string }
	if resp.StatusCode != http.StatusOK && json.Unmarshal(body, &p) == nil {
		return resp.StatusCode, p.Code
	}
	return resp.StatusCode, string(body)
}

func TestClientCertificates(t *testing.T) {
	srv := caddytest.Start(t, caddytest.Config{
		Site: "svc_auth {\nclient_certificate {\nadmin cn:ops-*\nuser email:*@example.com\n}\n}\nrespond {http.auth.user.id}:{http.auth.user.role}",
	})
	ca, other := newAuthority(t, "test ca"), newAuthority(t, "test ca")
	ursula := srv.AddUser("ursula", policy.Readonly, time.Time{})
	ca.serveTLS(t, srv, "verify_if_given")
	for name, tt := range map[string]struct {
		cert   *tls.Certificate
		header []string
		status int
		want   string
	}{
		"an admin's":              {ca.client(t, "ops-1"), nil, 200, "ops-1:admin"},
		"a user's":                {ca.client(t, "Ann", "ann@example.com"), nil, 200, "ann@example.com:user"},
		"renewed":                 {ca.client(t, "Ann Other", "ann@example.com"), nil, 200, "ann@example.com:user"},
		"nobody's":                {ca.client(t, "eve"), nil, 401, "credentials_missing"},
		"none":                    {nil, nil, 401, "credentials_missing"},
		"a token says more":       {ca.client(t, "ops-1"), []string{"Authorization", "Bearer " + ursula}, 200, "ursula:readonly"},
		"also a wrong one":        {ca.client(t, "ops-1"), []string{"Authorization", "Bearer svc_x"}, 401, "token_malformed"},
		"of a name that is taken": {ca.client(t, "x", "ursula@example.com"), nil, 200, "ursula@example.com:user"},
		"headers are no proof":    {nil, []string{"X-Forwarded-Client-Cert", "Subject=\"CN=ops-1\"", "X-Client-Cert", "x"}, 401, "credentials_missing"},
	} {
		if status, got := ca.get(t, srv, tt.cert, tt.header...); status != tt.status || got != tt.want {
			t.Errorf("%s: got %d %s, want %d %s", name, status, got, tt.status, tt.want)
		}
	}
	if status, got := ca.get(t, srv, other.client(t, "ops-1")); status != 0 {
		t.Errorf("of another authority with the same name: got %d %s, want no connection", status, got)
	}
	srv.Eventually("it is on record", func() bool {
		return len(srv.Audit("select 1 from audit_events where type = 'account.created' and user = 'ops-1' and action = 'certificate' and status = 'success'")) == 1
	})

	// A server that only asks and does not verify: what is shown then proves nothing.
	ca.serveTLS(t, srv, "request")
	for name, cert := range map[string]*tls.Certificate{"our own": ca.client(t, "ops-1"), "another's": other.client(t, "ops-1")} {
		var status int
		var got string
		srv.Eventually("a connection that the configuration of before does not take any more", func() bool {
			status, got = ca.get(t, srv, cert)
			return status != 0
		})
		if status != 401 {
			t.Errorf("%s, not verified: got %d %s, want 401", name, status, got)
		}
	}
}

// Where auth.mode is none, a certificate still says who somebody is who comes from this host.
func TestClientCertificateBeforeNone(t *testing.T) {
	srv := caddytest.Start(t, caddytest.Config{
		Svc:  "auth {\nmode none\n}",
		Site: "svc_auth {\nclient_certificate {\nreadonly cn:*\n}\n}\nrespond {http.auth.user.id}:{http.auth.user.role}",
	})
	ca := newAuthority(t, "test ca")
	ca.serveTLS(t, srv, "verify_if_given")
	if status, got := ca.get(t, srv, ca.client(t, "ann")); status != 200 || got != "ann:readonly" {
		t.Errorf("got %d %s", status, got)
	}
}
