package oidc

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/MicahParks/jwkset"
)

// algorithms are the signatures that are accepted. All of them are asymmetric: with HS256 the
// public key would be the secret.
var algorithms = []string{
	"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
}

// Smaller RSA keys can be broken (RFC 7518, 3.3), larger ones keep us busy.
const (
	minRSA = 2048
	maxRSA = 8192
)

// maxKeys is how many keys a provider may have.
const maxKeys = 100

// key is one that a provider signs with.
type key struct {
	id     string
	alg    string // the only algorithm to use it with; empty: any that fits
	public any
}

// parseKeys reads a JWK set. Keys that are not for signatures, or of a kind unknown to us, are
// left out, as RFC 7517, 5 asks for; so are weak ones.
func parseKeys(doc []byte) ([]key, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(doc, &set); err != nil {
		return nil, fmt.Errorf("reading the keys: %w", err)
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("the provider has %d keys, and %d are enough", len(set.Keys), maxKeys)
	}
	var keys []key
	for _, raw := range set.Keys {
		if k, ok := parseKey(raw); ok {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("the provider has no key to check signatures with")
	}
	return keys, nil
}

func parseKey(raw json.RawMessage) (key, bool) {
	var m jwkset.JWKMarshal
	if json.Unmarshal(raw, &m) != nil || m.USE != "" && m.USE != jwkset.UseSig {
		return key{}, false
	}
	if len(m.KEYOPS) > 0 && !slices.Contains(m.KEYOPS, jwkset.KeyOpsVerify) {
		return key{}, false
	}
	// Certificates say nothing that the key does not.
	m.X5C, m.X5T, m.X5TS256, m.X5U, m.KEYOPS = nil, "", "", "", nil
	j, err := jwkset.NewJWKFromMarshal(m, jwkset.JWKMarshalOptions{}, jwkset.JWKValidateOptions{})
	if err != nil {
		return key{}, false
	}
	k := key{m.KID, string(m.ALG), j.Key()}
	if rsaKey, ok := k.public.(*rsa.PublicKey); ok && (rsaKey.N.BitLen() < minRSA || rsaKey.N.BitLen() > maxRSA) {
		return key{}, false
	}
	return k, slices.ContainsFunc(algorithms, k.fits)
}

// fits reports whether signatures of the algorithm are made with such a key.
func (k key) fits(alg string) bool {
	if k.alg != "" && k.alg != alg {
		return false
	}
	switch public := k.public.(type) {
	case *rsa.PublicKey:
		return strings.HasPrefix(alg, "RS") || strings.HasPrefix(alg, "PS")
	case *ecdsa.PublicKey:
		switch public.Curve.Params().BitSize { // RFC 7518, 3.4
		case 256:
			return alg == "ES256"
		case 384:
			return alg == "ES384"
		case 521:
			return alg == "ES512"
		}
		return false
	case ed25519.PublicKey:
		return alg == "EdDSA"
	}
	return false
}

// choose returns the keys that may have signed a token with that header: those with its kid or,
// where it has none, all that fit.
func choose(keys []key, alg, kid string) []key {
	var chosen []key
	for _, k := range keys {
		if (kid == "" || k.id == kid) && k.fits(alg) {
			chosen = append(chosen, k)
		}
	}
	return chosen
}
