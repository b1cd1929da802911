package auth_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"

	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"
	"github.com/svc-gateway/svc/policy"
)

// verified returns the claims of an assertion, checked with what the gateway serves.
func verified(t *testing.T, srv *caddytest.Server, token string, o ...jwt.ParserOption) (jwt.MapClaims, error) {
	t.Helper()
	resp, body := srv.Send(srv.Request(http.MethodGet, "/auth/jwks", ""))
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "application/jwk-set+json" {
		t.Fatalf("keys: got %s %v %s", resp.Status, resp.Header, body)
	}
	var keys jose.JSONWebKeySet
	if err := json.Unmarshal([]byte(body), &keys); err != nil {
		t.Fatal(err)
	}
	claims := jwt.MapClaims{}
	_, err := jwt.ParseWithClaims(token, claims, func(token *jwt.Token) (any, error) {
		kid, _ := token.Header["kid"].(string)
		if found := keys.Key(kid); len(found) == 1 {
			return found[0].Key, nil
		}
		return nil, errors.New("no such key")
	}, append(o, jwt.WithValidMethods([]string{"EdDSA"}))...)
	return claims, err
}

func TestAssertion(t *testing.T) {
	up := upstream(t)
	const plain = "svc_auth {\nassertion\n}\nreverse_proxy "
	srv := caddytest.Start(t, caddytest.Config{Site: plain + up.URL})
	ursula := srv.AddUser("ursula", policy.User, time.Time{})
	ask := func(header ...string) http.Header {
		t.Helper()
		_, body := srv.Send(srv.Request(http.MethodGet, "/", "", append(header, "Authorization", "Bearer "+ursula)...))
		return seen(t, body)
	}
	got := ask("X-Svc-Assertion", "forged", "Connection", "X-Svc-Assertion")
	claims, err := verified(t, srv, got.Get("X-Svc-Assertion"), jwt.WithIssuer("svc"), jwt.WithAudience("127.0.0.1"))
	if err != nil || claims["sub"] != "ursula" || claims["role"] != "user" || claims["source"] != "token" {
		t.Errorf("got %v, %v of %v", claims, err, got)
	}

	srv.Load("svc_auth {\nassertion X-Proof {\naudience app\nissuer https://gateway.example.com\n}\n}\nreverse_proxy " + up.URL)
	got = ask("X-Proof", "forged", "X-Svc-Assertion", "forged")
	_, err = verified(t, srv, got.Get("X-Proof"), jwt.WithIssuer("https://gateway.example.com"), jwt.WithAudience("app"))
	if err != nil || len(got.Values("X-Proof")) != 1 || got.Get("X-Svc-Assertion") != "" {
		t.Errorf("own names: got %v of %v", err, got)
	}

	// Only a part of the site has the option. The stage before it knows none of these headers, and
	// serves the keys all the same.
	srv.Load("svc_auth\nhandle {\nsvc_auth {\nassertion X-Proof\nidentity_headers {\ngroups X-Groups\n}\n}\nreverse_proxy " + up.URL + "\n}")
	got = ask("X-Proof", "forged", "X-Groups", "wheel")
	if _, err = verified(t, srv, got.Get("X-Proof")); err != nil || len(got.Values("X-Proof")) != 1 {
		t.Errorf("behind another stage: got %v of %v", err, got)
	}
	if got.Get("X-Groups") != "" {
		t.Errorf("a client is in the groups %q because it says so", got.Get("X-Groups"))
	}

	info, err := os.Stat(filepath.Join(srv.Home, "keys", "assertion.key"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key file: got %v, %v", info, err)
	}
	if resp, _ := srv.Send(srv.Request(http.MethodPost, "/auth/jwks", "{}")); resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST to the keys: got %s", resp.Status)
	}
}

func TestNoAssertion(t *testing.T) {
	up := upstream(t)
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth\nreverse_proxy " + up.URL})
	_, body := srv.Do(http.MethodGet, "/", "", "X-Svc-Assertion", "forged")
	if got := seen(t, body).Get("X-Svc-Assertion"); got != "" {
		t.Errorf("the upstream was sent %q", got)
	}
	if _, body := srv.Send(srv.Request(http.MethodGet, "/auth/jwks", "")); body != `{"keys":[]}` {
		t.Errorf("got keys %s", body)
	}
}
