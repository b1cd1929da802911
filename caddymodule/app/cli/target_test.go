package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/tcpport"
)

// Who mixes up http and https is told so, whatever the other side makes of it.
func TestMixedUpSchemes(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	for _, tt := range []struct{ base, want string }{
		{strings.Replace(plain.URL, "http:", "https:", 1), "is it TLS that is spoken there"},
		{strings.Replace(secure.URL, "https:", "http:", 1), "try https in --url"},
	} {
		_, err := Target{Base: tt.base, Prefix: "/auth", HTTP: http.DefaultClient}.Whoami(t.Context())
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want an error with %q", tt.base, err, tt.want)
		}
	}
}

func TestTargetErrors(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		handle     http.HandlerFunc
	}{
		{"refused", "no (token_revoked): log in with caddy login", func(w http.ResponseWriter, r *http.Request) {
			problem.Write(w, r, problem.Problem{Status: http.StatusUnauthorized, Code: "token_revoked", Detail: "no"})
		}},
		{"something else", "does not answer as a service of this kind", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "<html>")
		}},
		{"redirect", "unexpected answer 302 Found", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://example.com", http.StatusFound)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := httptest.NewServer(tt.handle)
			defer srv.Close()
			to := Target{Base: srv.URL, HTTP: &http.Client{CheckRedirect: refuseRedirect}}
			if _, err := to.Whoami(t.Context()); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
		})
	}
	gone := "http://" + tcpport.ForTest(t).Addr()
	_, err := Target{Base: gone, HTTP: http.DefaultClient}.Whoami(t.Context())
	if err == nil || !strings.Contains(err.Error(), "no service answers at "+gone) {
		t.Errorf("got %v", err)
	}
}
