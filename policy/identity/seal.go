package identity

import (
	"crypto/cipher"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/svc-gateway/svc/internal/keyfile"
)

// errUnsealable means that secrets were encrypted with another key, or changed since.
var errUnsealable = errors.New("the secrets cannot be decrypted: the key file is another one")

// sealer encrypts the secrets of upstreams with AES-256-GCM, bound to their session: somebody
// who can write to the database cannot move them to another one. The key is made on first use.
type sealer struct {
	path string // of the key file; empty: the key lives as long as the process
	mu   sync.Mutex
	aead cipher.AEAD
}

// secrets are what is encrypted of an Upstream.
type secrets struct {
	Refresh string `json:"refresh,omitempty"`
	IDToken string `json:"id_token,omitempty"`
}

func (s *sealer) seal(session string, u Upstream) (SealedUpstream, error) {
	sealed := SealedUpstream{Issuer: u.Issuer, Subject: u.Subject, SID: u.SID, Due: precise(u.Due)}
	clear := secrets{u.Refresh.Reveal(), u.IDToken.Reveal()}
	if clear == (secrets{}) {
		return sealed, nil
	}
	aead, err := s.cipher()
	if err != nil {
		return SealedUpstream{}, err
	}
	doc, err := json.Marshal(clear)
	if err != nil {
		return SealedUpstream{}, fmt.Errorf("encrypting a session's secrets: %w", err)
	}
	sealed.Secrets = aead.Seal(nil, nil, doc, []byte(session))
	return sealed, nil
}

func (s *sealer) open(session string, u SealedUpstream) (Upstream, error) {
	out := Upstream{Issuer: u.Issuer, Subject: u.Subject, SID: u.SID, Due: u.Due}
	if len(u.Secrets) == 0 {
		return out, nil
	}
	aead, err := s.cipher()
	if err != nil {
		return Upstream{}, err
	}
	doc, err := aead.Open(nil, nil, u.Secrets, []byte(session))
	if err != nil {
		return Upstream{}, fmt.Errorf("session %s: %w", session, errUnsealable)
	}
	var clear secrets
	if err := json.Unmarshal(doc, &clear); err != nil {
		return Upstream{}, fmt.Errorf("session %s: %w", session, errUnsealable)
	}
	out.Refresh, out.IDToken = Secret(clear.Refresh), Secret(clear.IDToken)
	return out, nil
}

func (s *sealer) cipher() (cipher.AEAD, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.aead != nil {
		return s.aead, nil
	}
	aead, err := keyfile.AES(s.path)
	if err != nil {
		return nil, fmt.Errorf("preparing the key of session secrets: %w", err)
	}
	s.aead = aead
	return aead, nil
}
