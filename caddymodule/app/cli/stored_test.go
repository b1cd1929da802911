package cli

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/internal/settings"
)

func home(t *testing.T) settings.Home {
	t.Helper()
	h, err := settings.Locate(func(string) (string, bool) { return t.TempDir(), true }, "")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// The attack: whoever is lured to an address with --url loses the token of another server to it.
func TestATokenGoesToItsServerOnly(t *testing.T) {
	for _, tt := range []struct {
		name, server, address string
		want                  string // where it goes; or the error
	}{
		{"no login", "", "", "the service is not running: start it, or log in at another one with caddy login --url URL"},
		{"no login, named", "", DefaultURL, "the stored token is for the service of /"},
		{"login, elsewhere", "https://gw.example", "https://eve.example", "the stored token is for https://gw.example and is not sent to https://eve.example: log in there with caddy login --url https://eve.example, or leave --url out"},
		{"login", "https://gw.example", "", "https://gw.example"},
		{"login, named", "https://gw.example", "https://GW.example:443", "https://GW.example:443"},
		{"login, in clear text", "https://gw.example", "http://gw.example", "is not sent to http://gw.example"},
		{"login, another port", "https://gw.example", "https://gw.example:8443", "is not sent to https://gw.example:8443"},
		{"login, here", "https://gw.example", DefaultURL, "is not sent to " + DefaultURL},
		{"here, by another name", DefaultURL, "http://localhost:2280/", DefaultURL}, // where another user may listen at ::1
		{"here, at another address", DefaultURL, "http://[::1]:2280/x", DefaultURL + "/x"},
		{"here, with TLS", "https://127.0.0.1:2280", "https://localhost:2280", "https://localhost:2280"}, // which the certificate is for
		{"here, another port", DefaultURL, "http://127.0.0.1:1", "is not sent to http://127.0.0.1:1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := home(t)
			if err := h.WriteToken("svc_0"); err != nil { // what is noted is of another token
				t.Fatal(err)
			}
			if tt.server != "" {
				if err := Store(t.Context(), h, Target{Base: tt.server, Token: "svc_1"}, false); err != nil {
					t.Fatal(err)
				}
			}
			to, err := FindTarget(t.Context(), h, tt.address)
			got := to.Base
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, tt.want) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if err == nil && to.Token != "svc_1" || err != nil && to.Token != "" {
				t.Errorf("got the token %q, %v", to.Token, err)
			}
		})
	}
}

// The attack: whoever is lured to a prefix sends the token to a server whose name it ends, or is.
func TestAPrefixIsAPath(t *testing.T) {
	lost := ""
	eve := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { lost = r.Header.Get("Authorization") }))
	defer eve.Close()
	to, err := OverNetwork(t.Context(), home(t), "http://gw.example")
	if err != nil {
		t.Fatal(err)
	}
	to.Token, to.Prefix = "svc_1", "@"+strings.TrimPrefix(eve.URL, "http://")
	if _, err := to.Whoami(t.Context()); err == nil || !strings.Contains(err.Error(), "--prefix: ") || lost != "" {
		t.Errorf("got %v, and %q was sent", err, lost)
	}
}

// A note does not outlive its token: one that is put there by hand, or by the first start, is of the
// service of the data folder.
func TestANoteIsOfOneToken(t *testing.T) {
	h := home(t)
	if err := Store(t.Context(), h, Target{Base: "https://gw.example", Token: "svc_1"}, true); err != nil {
		t.Fatal(err)
	}
	if err := h.WriteToken("svc_2"); err != nil {
		t.Fatal(err)
	}
	to, err := FindTarget(t.Context(), h, "")
	if !errors.Is(err, ErrNotRunning) {
		t.Errorf("got %+v, %v", to, err)
	}
}

func TestARefusalNamesTheServerToLogInAt(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer srv.Close()
	to, err := FindTarget(t.Context(), home(t), srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := to.Whoami(t.Context()); err == nil || !strings.HasSuffix(err.Error(), "log in with caddy login --url "+srv.URL) {
		t.Errorf("got %v", err)
	}
}
