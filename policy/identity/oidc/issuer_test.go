package oidc_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/oidc"
	"github.com/svc-gateway/svc/policy/identity/oidc/oidctest"
)

const discovery = "/.well-known/openid-configuration"

// without has f run without real time and connections. The set has one provider.
func without(t *testing.T, f func(t *testing.T, p *oidctest.Provider, s *oidc.Set, trouble func() []string)) {
	t.Helper()
	p := provider(t)
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var told []string
		s, err := oidc.New([]settings.Issuer{at(p)}, oidc.Options{
			Env: func(string) (string, bool) { return "x", true },
			Trouble: func(name string, err error) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, fmt.Sprintf("%s %t", name, err == nil))
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		s.UseTransport(p)
		defer s.Close()
		f(t, p, s, func() []string { mu.Lock(); defer mu.Unlock(); return told })
	})
}

// good is the outcome for a token: nil, a refusal, or a technical error.
func good(t *testing.T, s *oidc.Set, token string) error {
	t.Helper()
	_, _, err := send(t, s, token)
	return err
}

func technical(err error) bool {
	_, refused := errors.AsType[*identity.Refused](err)
	return err != nil && !refused
}

func unavailable(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }

func TestDownAndUpAgain(t *testing.T) {
	without(t, func(t *testing.T, p *oidctest.Provider, s *oidc.Set, trouble func() []string) {
		p.Override(discovery, http.HandlerFunc(unavailable))
		started := time.Now()
		for range 100 {
			if err := good(t, s, p.Token(nil)); !technical(err) {
				t.Fatalf("got %v, want a technical error", err)
			}
		}
		if took, n := time.Since(started), p.Requests(discovery); took > time.Second || n != 1 {
			t.Errorf("100 requests took %s and %d questions, want no time and 1", took, n)
		}
		for range 600 {
			_ = good(t, s, p.Token(nil))
			time.Sleep(time.Second)
		}
		if n := p.Requests(discovery); n < 10 || n > 30 {
			t.Errorf("asked %d times in ten minutes, want every half a minute", n)
		}
		p.Override(discovery, nil)
		time.Sleep(30 * time.Second)
		if err := good(t, s, p.Token(nil)); err != nil {
			t.Errorf("after it is up again: %v", err)
		}
		if d := cmp.Diff([]string{"corp false", "corp true"}, trouble()); d != "" {
			t.Errorf("what was told (-want +got):\n%s", d)
		}
	})
}

func TestHanging(t *testing.T) {
	without(t, func(t *testing.T, p *oidctest.Provider, s *oidc.Set, _ func() []string) {
		p.Override(discovery, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
		started := time.Now()
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if err := good(t, s, p.Token(nil)); !technical(err) {
					t.Errorf("got %v, want a technical error", err)
				}
			})
		}
		all.Wait()
		if took, n := time.Since(started), p.Requests(discovery); took > 7*time.Second || n != 1 {
			t.Errorf("it took %s and %d questions, want at most 7s and 1", took, n)
		}
	})
}

func TestNobodyWaitsForARefresh(t *testing.T) {
	without(t, func(t *testing.T, p *oidctest.Provider, s *oidc.Set, _ func() []string) {
		token := func() string { return p.Token(map[string]any{"exp": time.Now().Add(time.Hour).Unix()}) }
		if err := good(t, s, token()); err != nil {
			t.Fatal(err)
		}
		p.Override(discovery, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
		for range 23 {
			time.Sleep(time.Hour)
			started := time.Now()
			if err := good(t, s, token()); err != nil {
				t.Fatalf("while the provider hangs: %v", err)
			}
			if took := time.Since(started); took > 0 {
				t.Errorf("it took %s", took)
			}
		}
		time.Sleep(2 * time.Hour)
		if err := good(t, s, token()); !technical(err) {
			t.Errorf("after more than a day: got %v, want a technical error", err)
		}
	})
}

func TestKeyRotation(t *testing.T) {
	without(t, func(t *testing.T, p *oidctest.Provider, s *oidc.Set, _ func() []string) {
		if err := good(t, s, p.Token(nil)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		p.Rotate("2")
		if err := good(t, s, p.Sign("RS256", "rsa2", nil, p.Claims(nil))); err != nil {
			t.Errorf("with the new key: %v", err)
		}
		before := p.Requests("/jwks")
		for n := range 600 { // a minute of made-up names
			if err := good(t, s, p.Sign("RS256", "rsa2", map[string]any{"kid": fmt.Sprint("x", n)}, p.Claims(nil))); err == nil || technical(err) {
				t.Fatalf("an unknown key: got %v, want a refusal", err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if n := p.Requests("/jwks") - before; n < 4 || n > 7 {
			t.Errorf("the keys were fetched %d times, want at most every ten seconds", n)
		}
	})
}

// A token that was verified once is no good any more when its key is withdrawn.
func TestWithdrawnKey(t *testing.T) {
	without(t, func(t *testing.T, p *oidctest.Provider, s *oidc.Set, _ func() []string) {
		token := p.Token(map[string]any{"exp": time.Now().Add(time.Hour).Unix()})
		if err := good(t, s, token); err != nil {
			t.Fatal(err)
		}
		p.Rotate("2")
		time.Sleep(16 * time.Minute)
		_ = good(t, s, token) // has the keys fetched
		synctest.Wait()
		if err := good(t, s, token); err == nil || technical(err) {
			t.Errorf("got %v, want a refusal", err)
		}
	})
}

func TestVerifiedTokenEnds(t *testing.T) {
	without(t, func(t *testing.T, p *oidctest.Provider, s *oidc.Set, _ func() []string) {
		token := p.Token(map[string]any{"exp": time.Now().Add(time.Minute).Unix()})
		if err := good(t, s, token); err != nil {
			t.Fatal(err)
		}
		time.Sleep(91 * time.Second) // with the leeway
		if err := good(t, s, token); err == nil {
			t.Error("the token still works")
		}
	})
}

func TestCacheIsBounded(t *testing.T) {
	for _, tt := range []struct{ users, name, tokens int }{{10, 5, 10}, {12_000, 5, 10_000}, {100, 1 << 20, 31}} {
		tokens, size := oidc.CacheAfter(tt.users, tt.name)
		if tokens != tt.tokens || size > 32<<20 || size < tokens*tt.name {
			t.Errorf("%d users: got %d tokens of %d bytes, want %d", tt.users, tokens, size, tt.tokens)
		}
	}
}

func TestWarm(t *testing.T) {
	without(t, func(t *testing.T, p *oidctest.Provider, s *oidc.Set, _ func() []string) {
		s.Warm()
		synctest.Wait()
		if n := p.Requests("/jwks"); n != 1 {
			t.Errorf("asked %d times, want once", n)
		}
	})
}

func TestClosed(t *testing.T) {
	without(t, func(t *testing.T, p *oidctest.Provider, s *oidc.Set, _ func() []string) {
		s.Close()
		if err := good(t, s, p.Token(nil)); !technical(err) {
			t.Errorf("got %v, want a technical error", err)
		}
	})
}

func TestWhoGivesUpIsNotWaitedFor(t *testing.T) {
	without(t, func(t *testing.T, p *oidctest.Provider, s *oidc.Set, _ func() []string) {
		p.Override(discovery, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		started := time.Now()
		s.Explain(ctx, p.Token(nil), "")
		if took := time.Since(started); took != time.Second {
			t.Errorf("it took %s, want 1s", took)
		}
	})
}

// A provider may be wrong, or in an attacker's hands: it must neither be believed more than it
// may, nor bring us down.
func TestHostileProvider(t *testing.T) {
	weak := make([]map[string]any, 1)
	if k, err := rsa.GenerateKey(rand.Reader, 1024); err == nil {
		weak[0] = oidctest.JWK(k)
	}
	change := func(p *oidctest.Provider, name string, v any) http.Handler {
		d := maps.Clone(p.Discovery())
		d[name] = v
		return reply(d)
	}
	keys := func(k ...map[string]any) http.Handler { return reply(map[string]any{"keys": k}) }
	redirect := func(to string) http.Handler { return http.RedirectHandler(to, http.StatusFound) }
	for name, tt := range map[string]struct {
		path string
		with func(*oidctest.Provider) http.Handler
		want string
	}{
		"another issuer":        {discovery, func(p *oidctest.Provider) http.Handler { return change(p, "issuer", "https://evil.example") }, "did not match"},
		"no keys' address":      {discovery, func(p *oidctest.Provider) http.Handler { return change(p, "jwks_uri", "") }, "no jwks_uri"},
		"keys in a file":        {discovery, func(p *oidctest.Provider) http.Handler { return change(p, "jwks_uri", "file:///etc/passwd") }, "is not an https address"},
		"endpoint without host": {discovery, func(p *oidctest.Provider) http.Handler { return change(p, "token_endpoint", "https:///x") }, "is not an https address"},
		"no JSON": {discovery, func(*oidctest.Provider) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) })
		}, "discovering"},
		"redirect to itself": {discovery, func(*oidctest.Provider) http.Handler { return redirect(discovery) }, "redirects are not followed"},
		"redirect elsewhere": {"/jwks", func(*oidctest.Provider) http.Handler { return redirect("http://169.254.169.254/latest") }, "redirects are not followed"},
		"huge document":      {discovery, func(p *oidctest.Provider) http.Handler { return change(p, "x", strings.Repeat("x", 2<<20)) }, "larger than 1 MiB"},
		"huge keys":          {"/jwks", func(*oidctest.Provider) http.Handler { return reply(strings.Repeat("x", 2<<20)) }, "larger than 1 MiB"},
		"many keys":          {"/jwks", func(*oidctest.Provider) http.Handler { return keys(make([]map[string]any, 101)...) }, "has 101 keys"},
		"no key":             {"/jwks", func(*oidctest.Provider) http.Handler { return keys() }, "no key to check signatures with"},
		"a shared secret as key": {"/jwks", func(*oidctest.Provider) http.Handler {
			return keys(map[string]any{"kty": "oct", "kid": "rsa", "k": "c2VjcmV0"})
		}, "no key to check signatures with"},
		"a weak key": {"/jwks", func(*oidctest.Provider) http.Handler { return keys(weak...) }, "no key to check signatures with"},
		"a key for encryption": {"/jwks", func(p *oidctest.Provider) http.Handler {
			k := oidctest.JWK(p.Key("rsa"))
			k["use"] = "enc"
			return keys(k)
		}, "no key to check signatures with"},
		"a long text of an error": {discovery, func(*oidctest.Provider) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, strings.Repeat("x", 1<<20), 500) })
		}, "discovering"},
	} {
		t.Run(name, func(t *testing.T) {
			without(t, func(t *testing.T, p *oidctest.Provider, s *oidc.Set, _ func() []string) {
				p.Override(tt.path, tt.with(p))
				err := good(t, s, p.Token(nil))
				if !technical(err) || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want a technical error with %q", err, tt.want)
				}
				if err != nil && len(err.Error()) > 4<<10 {
					t.Errorf("the error has %d bytes", len(err.Error()))
				}
			})
		})
	}
}

func TestKeysOfManyKinds(t *testing.T) {
	without(t, func(t *testing.T, p *oidctest.Provider, s *oidc.Set, _ func() []string) {
		junk := []map[string]any{
			{"kty": "oct", "k": "c2VjcmV0"},
			{"kty": "EC", "crv": "secp256k1", "x": "AA", "y": "AA"},
			{"kty": "AKP"},
			{},
			nil,
			{"kty": "RSA", "n": "!", "e": "AQAB"},
			{"kty": "OKP", "crv": "Ed448", "x": "AA"},
		}
		good256 := oidctest.JWK(p.Key("ec"))
		good256["kid"], good256["x5c"], good256["x5u"] = "ec", []string{"broken"}, "http://x"
		p.Override("/jwks", reply(map[string]any{"keys": append(junk, good256)}))
		if err := good(t, s, p.Sign("ES256", "ec", nil, p.Claims(nil))); err != nil {
			t.Error(err)
		}
	})
}

// An issuer with TLS cannot have its keys fetched without.
func TestNoWayDown(t *testing.T) {
	p := provider(t)
	i := at(p)
	i.URL = "https://login.example.com"
	s := newSet(t, i)
	s.UseTransport(p)
	d := p.Discovery()
	for name, v := range d {
		if text, ok := v.(string); ok {
			d[name] = strings.Replace(text, p.URL, i.URL, 1)
		}
	}
	p.Override(discovery, reply(d))
	token := p.Token(map[string]any{"iss": i.URL})
	if err := good(t, s, token); err != nil {
		t.Fatal(err)
	}
	d["jwks_uri"] = "http://login.example.com/jwks"
	s = newSet(t, i)
	s.UseTransport(p)
	if err := good(t, s, token); !technical(err) || !strings.Contains(err.Error(), "is not an https address") {
		t.Errorf("got %v", err)
	}
}

func TestInherit(t *testing.T) {
	p := provider(t)
	old := newSet(t, at(p))
	if err := good(t, old, p.Token(nil)); err != nil {
		t.Fatal(err)
	}
	old.Close()
	p.Override(discovery, http.HandlerFunc(unavailable))
	s := newSet(t, at(p))
	s.Inherit(old)
	if err := good(t, s, p.Token(nil)); err != nil {
		t.Errorf("got %v", err)
	}
	other := at(p)
	other.CAFile = ""
	other.URL = "https://another.example"
	s = newSet(t, other)
	s.Inherit(old)
	if err := good(t, s, p.Token(nil)); err == nil {
		t.Error("what is known of one provider was taken for another")
	}
}

func TestNewErrors(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		issuer     settings.Issuer
	}{
		{"no file", "oidc a: ca_file: open /nowhere", settings.Issuer{Name: "a", CAFile: "/nowhere"}},
		{"no certificate", "there is no certificate in /dev/null", settings.Issuer{Name: "a", CAFile: "/dev/null"}},
		{"no secret", "oidc a: client_secret: X is not set", settings.Issuer{Name: "a", ClientSecret: "{env.X}"}},
	} {
		_, err := oidc.New([]settings.Issuer{tt.issuer}, oidc.Options{Env: func(string) (string, bool) { return "", false }})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
}
