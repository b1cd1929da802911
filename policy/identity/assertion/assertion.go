// Package assertion signs who sends a request, for servers behind the gateway that want a proof
// instead of a header that anybody in between could set.
//
//	signer, err := assertion.Open(home.AssertionKey())
//	token, err := signer.Sign(principal, assertion.Claims{Issuer: "https://gateway.example.com", Audience: "app"})
//
// An assertion is a JSON Web Token (RFC 7519) with EdDSA over Ed25519 (RFC 8037) that is good for
// [Lifetime]: iss, aud, sub (the user's name), role, groups, source, iat, nbf, exp and jti, with
// the key's name in the header (kid). [Signer.JWKS] is what it is verified with.
//
// A Signer is safe for concurrent use.
package assertion

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/svc-gateway/svc/internal/keyfile"
	"github.com/svc-gateway/svc/policy"
)

// Lifetime is how long an assertion is good for. It is made anew for each request, so it has to
// outlast the way to the next server only.
const Lifetime = time.Minute

// leeway is how far the clock of who verifies may be behind.
const leeway = 5 * time.Second

// Signer signs with the key of one data folder.
type Signer struct {
	key  ed25519.PrivateKey
	id   string
	jwks []byte
}

// Open reads the key, PEM of PKCS #8, and makes one when there is none.
func Open(path string) (*Signer, error) {
	s, err := parse(keyfile.Read(path, newKey))
	if err != nil {
		return nil, fmt.Errorf("opening the key of assertions %s: %w", path, err)
	}
	return s, nil
}

// PublicKeys returns the JWKS of the key at path, an empty one when nothing was signed there yet.
func PublicKeys(path string) ([]byte, error) {
	s, err := parse(os.ReadFile(path))
	if errors.Is(err, fs.ErrNotExist) {
		return []byte(`{"keys":[]}`), nil
	} else if err != nil {
		return nil, fmt.Errorf("opening the key of assertions %s: %w", path, err)
	}
	return s.jwks, nil
}

func newKey() ([]byte, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

func parse(text []byte, err error) (*Signer, error) {
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("it is not PEM: restore it, or remove it to get a new one")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	key, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return nil, errors.New("it is not an Ed25519 key: remove it to get a new one")
	}
	return newSigner(key)
}

func newSigner(key ed25519.PrivateKey) (*Signer, error) {
	x := base64.RawURLEncoding.EncodeToString(key.Public().(ed25519.PublicKey))
	// The thumbprint of RFC 7638: the required members in the order of the alphabet (RFC 8037, 2).
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + x + `"}`))
	s := &Signer{key: key, id: base64.RawURLEncoding.EncodeToString(sum[:])}
	var err error
	s.jwks, err = json.Marshal(map[string]any{"keys": []map[string]string{{
		"kty": "OKP", "crv": "Ed25519", "x": x, "kid": s.id, "alg": "EdDSA", "use": "sig",
	}}})
	return s, err
}

// JWKS returns the key set (RFC 7517) that assertions are verified with.
func (s *Signer) JWKS() []byte { return s.jwks }

// Claims are what an assertion says beside who it is.
type Claims struct{ Issuer, Audience string }

type claims struct {
	jwt.RegisteredClaims
	Role       policy.Role `json:"role"`
	Groups     []string    `json:"groups,omitempty"`
	Source     string      `json:"source"`
	OnBehalfOf string      `json:"on_behalf_of,omitempty"`
}

// Sign returns an assertion of who the principal is.
func (s *Signer) Sign(p policy.Principal, c Claims) (string, error) {
	now := time.Now()
	token := jwt.NewWithClaims(jwt.SigningMethodEdDSA, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: c.Issuer, Audience: jwt.ClaimStrings{c.Audience}, Subject: p.User, ID: rand.Text(),
			IssuedAt: jwt.NewNumericDate(now), NotBefore: jwt.NewNumericDate(now.Add(-leeway)),
			ExpiresAt: jwt.NewNumericDate(now.Add(Lifetime)),
		},
		Role: p.Role, Groups: p.Groups, Source: p.Source, OnBehalfOf: p.OnBehalfOf,
	})
	token.Header["kid"] = s.id
	signed, err := token.SignedString(s.key)
	if err != nil {
		return "", fmt.Errorf("signing an assertion: %w", err)
	}
	return signed, nil
}
