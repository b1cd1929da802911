package mcp

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/svc-gateway/svc/agents/arguments"
	"github.com/svc-gateway/svc/agents/own"
	"github.com/svc-gateway/svc/policy"
)

// state is what a client gives back with its user's answer.
type state struct {
	ID       string    `json:"id"`   // of this state
	User     string    `json:"user"` // who called
	For      string    `json:"for"`  // for whom
	Call     string    `json:"call"` // digest of the tool and its arguments
	Run      string    `json:"run"`
	Approval string    `json:"approval"`
	Digest   string    `json:"digest"` // of the call that people were shown
	Expires  time.Time `json:"expires"`
	Asked    int       `json:"asked"` // how often the user was asked
}

// errState is the answer to every state that does not count. Why it does not is not told.
var errState = errors.New("requestState is not one of this service for this call and caller, or it was used before, or its time is over: make the call anew")

// seals makes states that nobody else can read or make, and takes each once.
type seals struct {
	aead cipher.AEAD
	now  func() time.Time

	mu   sync.Mutex
	used map[string]time.Time // by id, with when it may be forgotten
}

// newSeals derives the key of the states from a secret of the service.
func newSeals(secret []byte) (*seals, error) {
	key, err := hkdf.Key(sha256.New, secret, nil, "mcp request state v1", 32)
	if err != nil {
		return nil, fmt.Errorf("deriving the key of request states: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("deriving the key of request states: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return &seals{aead: aead, now: time.Now, used: map[string]time.Time{}}, err
}

// seal makes the text of a state for a caller and a call.
func (s *seals) seal(st state, p policy.Principal, c call) (string, error) {
	var err error
	st.ID, st.User, st.For = rand.Text(), p.User, own.Of(p)
	if st.Call, err = c.digest(); err != nil {
		return "", err
	}
	doc, err := json.Marshal(st)
	if err != nil {
		return "", fmt.Errorf("writing a request state: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, doc, nil)), nil
}

// open reads a state that comes from a caller with a call, and takes it once.
func (s *seals) open(text string, p policy.Principal, c call) (state, error) {
	var st state
	sealed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return st, errState
	}
	doc, err := s.aead.Open(nil, nil, sealed, nil)
	if err != nil || json.Unmarshal(doc, &st) != nil {
		return st, errState
	}
	digest, err := c.digest()
	now := s.now()
	if err != nil || st.User != p.User || st.For != own.Of(p) || st.Call != digest || !now.Before(st.Expires) {
		return st, errState
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, until := range s.used {
		if !now.Before(until) {
			delete(s.used, id)
		}
	}
	if _, used := s.used[st.ID]; used {
		return st, errState
	}
	s.used[st.ID] = st.Expires
	return st, nil
}

// digest names the tool and its arguments, however they are written.
func (c call) digest() (string, error) {
	return arguments.Digest("", Agent, c.Name, "", string(c.Arguments))
}
