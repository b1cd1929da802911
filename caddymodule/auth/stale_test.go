package auth_test

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"
)

// events is a server whose stream goes on until the client or the gateway ends it.
func events(t *testing.T) string {
	t.Helper()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: 1\n\n")
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(up.Close)
	return "svc_stream {\nkeepalive 1s\n}\nreverse_proxy " + up.URL
}

// open opens the stream and returns a function that waits for its end.
func open(t *testing.T, client *http.Client, r *http.Request) (ended func()) {
	t.Helper()
	client.Timeout = 30 * time.Second // the patience
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	if _, err := io.ReadFull(resp.Body, make([]byte, len("data: 1\n\n"))); err != nil {
		t.Fatalf("%s: %v", resp.Status, err)
	}
	return func() {
		t.Helper()
		if _, err := io.ReadAll(resp.Body); err != nil {
			t.Errorf("the stream goes on: %v", err)
		}
	}
}

// The attack: whoever was let in by a JWT keeps a stream open, and reads on after the operator took
// the identity provider out of the settings.
func TestStreamOfAJWTEndsWithTheProvider(t *testing.T) {
	p, settings := issuer(t)
	site := "svc_auth\n" + events(t)
	for name, next := range map[string]string{
		"the mode is gone":       "auth {\nmode token\n}",
		"the provider is":        "auth {\nmode token oidc\n}\noidc corp {\nissuer https://another.example\nclient_id svc\nuser_groups ops\n}",
		"its groups give less":   "auth {\nmode token oidc\n}\noidc corp {\nissuer " + p.URL + "\nclient_id svc\nreadonly_groups ops\n}",
		"its groups are nothing": "auth {\nmode token oidc\n}\noidc corp {\nissuer " + p.URL + "\nclient_id svc\nuser_groups staff\n}",
	} {
		t.Run(name, func(t *testing.T) {
			srv := caddytest.Start(t, caddytest.Config{Site: site, Svc: settings})
			ended := open(t, &http.Client{}, srv.Request(http.MethodGet, "/events", "", "Authorization", "Bearer "+p.Token(nil)))
			srv.Configure(caddytest.Config{Site: site, Svc: next})
			ended()
		})
	}
}

// The same, by a certificate that no rule knows any more.
func TestStreamOfACertificateEndsWithItsRule(t *testing.T) {
	ca := newAuthority(t, "test ca")
	config := &tls.Config{RootCAs: ca.Pool(), Certificates: []tls.Certificate{*ca.client(t, "ops-1")}}
	behind := events(t)
	for name, next := range map[string]string{
		"another name":  "svc_auth {\nclient_certificate {\nuser cn:dev-*\n}\n}\n",
		"a weaker role": "svc_auth {\nclient_certificate {\nreadonly cn:*\nuser cn:ops-*\n}\n}\n",
		"none":          "svc_auth\n",
	} {
		t.Run(name, func(t *testing.T) {
			srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth {\nclient_certificate {\nuser cn:ops-*\n}\n}\n" + behind})
			ca.serveTLS(t, srv, "verify_if_given")
			r := srv.Request(http.MethodGet, "/events", "")
			r.URL.Scheme = "https"
			ended := open(t, &http.Client{Transport: caddytest.Resending(&http.Transport{TLSClientConfig: config})}, r)
			srv.Load(next + behind)
			ended()
		})
	}
}
