package assertion_test

import (
	"crypto"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity/assertion"
)

var (
	ann  = policy.Principal{User: "ann", Role: policy.User, Groups: []string{"staff", "ops, eu"}, Source: policy.SourceLDAP, TokenID: "t", Address: "192.0.2.1"}
	said = assertion.Claims{Issuer: "https://gateway.example.com", Audience: "app"}
)

// verify is what a server behind the gateway does.
func verify(t *testing.T, jwks []byte, token string) (jwt.MapClaims, error) {
	t.Helper()
	var keys jose.JSONWebKeySet
	if err := json.Unmarshal(jwks, &keys); err != nil {
		t.Fatal(err)
	}
	claims := jwt.MapClaims{}
	o := []jwt.ParserOption{jwt.WithValidMethods([]string{"EdDSA"}), jwt.WithIssuer(said.Issuer), jwt.WithAudience(said.Audience), jwt.WithExpirationRequired()}
	_, err := jwt.ParseWithClaims(token, claims, func(token *jwt.Token) (any, error) {
		kid, _ := token.Header["kid"].(string)
		for _, key := range keys.Key(kid) {
			return key.Key, nil
		}
		return nil, errors.New("no such key")
	}, o...)
	return claims, err
}

func open(t *testing.T, path string) *assertion.Signer {
	t.Helper()
	s, err := assertion.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sign(t *testing.T, s *assertion.Signer) string {
	t.Helper()
	token, err := s.Sign(ann, said)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestAssertion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, filepath.Join(t.TempDir(), "keys", "assertion.key"))
		now := float64(time.Now().Unix())
		token := sign(t, s)
		got, err := verify(t, s.JWKS(), token)
		if err != nil {
			t.Fatal(err)
		}
		if id, _ := got["jti"].(string); len(id) < 22 {
			t.Errorf("jti is %q", id)
		}
		delete(got, "jti")
		want := jwt.MapClaims{
			"iss": "https://gateway.example.com", "aud": []any{"app"}, "sub": "ann", "role": "user",
			"groups": []any{"staff", "ops, eu"}, "source": "ldap", "iat": now, "nbf": now - 5, "exp": now + 60,
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("claims (-want +got):\n%s", d)
		}
		if again := sign(t, s); again == token {
			t.Error("two assertions are the same")
		}
		time.Sleep(time.Minute)
		if _, err := verify(t, s.JWKS(), token); err == nil {
			t.Error("an assertion is good after a minute")
		}
	})
}

func TestAnotherKeyDoesNotVerify(t *testing.T) {
	dir := t.TempDir()
	one, two := open(t, filepath.Join(dir, "1")), open(t, filepath.Join(dir, "2"))
	if _, err := verify(t, two.JWKS(), sign(t, one)); err == nil {
		t.Error("an assertion is verified by another key")
	}
}

func TestKeyStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "assertion.key")
	empty, err := assertion.PublicKeys(path)
	if err != nil || string(empty) != `{"keys":[]}` {
		t.Errorf("before the first: got %s, %v", empty, err)
	}
	first := open(t, path)
	again := open(t, path)
	if d := cmp.Diff(string(first.JWKS()), string(again.JWKS())); d != "" {
		t.Errorf("opened again (-first +again):\n%s", d)
	}
	public, err := assertion.PublicKeys(path)
	if err != nil || string(public) != string(first.JWKS()) {
		t.Errorf("got %s, %v", public, err)
	}
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(public, &set); err != nil || len(set.Keys) != 1 || !set.Keys[0].IsPublic() {
		t.Fatalf("got %v, %v; want one public key", set, err)
	}
	thumbprint, err := set.Keys[0].Thumbprint(crypto.SHA256)
	if want := base64.RawURLEncoding.EncodeToString(thumbprint); err != nil || set.Keys[0].KeyID != want {
		t.Errorf("got kid %q, %v; want the thumbprint %q", set.Keys[0].KeyID, err, want)
	}
}

func TestBrokenKeys(t *testing.T) {
	for name, content := range map[string]string{
		"empty": "", "no PEM": strings.Repeat("x", 32),
		"no key":      "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
		"another one": "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VuBCIEIHcHbQpzGKV9PBbBclGyZkXfTC+H68CZKrF3+6UduSwq\n-----END PRIVATE KEY-----\n", // X25519, RFC 7748, 6.1
	} {
		path := filepath.Join(t.TempDir(), "assertion.key")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := assertion.Open(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, want an error with the path", name, err)
		}
		if _, err := assertion.PublicKeys(path); err == nil {
			t.Errorf("%s: got public keys", name)
		}
	}
}

func BenchmarkSign(b *testing.B) {
	s, err := assertion.Open(filepath.Join(b.TempDir(), "assertion.key"))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Sign(ann, said); err != nil {
			b.Fatal(err)
		}
	}
}
