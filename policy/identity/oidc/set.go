package oidc

import (
	"context"
	"crypto/cipher"
	"errors"
	"fmt"
	"sync"

	"github.com/svc-gateway/svc/internal/keyfile"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity"
)

// Set are the identity providers that users log in at. Get one with [New] and close it.
type Set struct {
	issuers []*issuer
	tokens  cache
	logouts *replays
	rotated *rotations
	seal    cipher.AEAD // of the cookies of logins

	ctx    context.Context // of what goes on in the background
	cancel context.CancelFunc

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
}

var errClosed = errors.New("the identity providers are no longer used")

// Options are what a [Set] needs beside its settings. Env is required.
type Options struct {
	// Env finds environment variables with secrets; os.LookupEnv.
	Env func(string) (string, bool)
	// LoginKey is the file with the key of logins that are under way, so that a restart, or
	// another process, can finish them. Empty: this process alone can.
	LoginKey string
	// Trouble is told when a provider cannot be reached, and with a nil error when it can again.
	Trouble func(name string, err error)
}

// New returns the providers of the list. It asks none of them: one that is down is no error.
func New(list []settings.Issuer, o Options) (*Set, error) {
	seal, err := keyfile.AES(o.LoginKey)
	if err != nil {
		return nil, fmt.Errorf("preparing the key of logins: %w", err)
	}
	s := &Set{seal: seal, logouts: new(replays), rotated: new(rotations)}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	for n, c := range list {
		key := fmt.Sprintf("%s[%d]", settings.IssuersKey, n)
		i := &issuer{Issuer: c, set: s, trouble: func(error) {}}
		if o.Trouble != nil {
			i.trouble = func(err error) { o.Trouble(c.Name, err) }
		}
		if i.client, err = newClient(c); err != nil {
			return nil, settings.About(fmt.Errorf("oidc %s: %w", c.Name, err), key)
		}
		if c.ClientSecret != "" {
			secret, err := c.ClientSecret.Reveal(o.Env)
			if err != nil {
				return nil, settings.About(fmt.Errorf("oidc %s: client_secret: %w", c.Name, err), key+".client_secret")
			}
			i.secret = identity.Secret(secret)
		}
		s.issuers = append(s.issuers, i)
	}
	return s, nil
}

// Inherit takes over what another set knows of the same providers, so that one which is down
// goes on working when the configuration changes, and what was used up stays so. It is called before
// the set is used.
func (s *Set) Inherit(from *Set) {
	s.logouts, s.rotated = from.logouts, from.rotated
	for _, i := range s.issuers {
		old := from.byURL(i.URL)
		if old == nil || old.CAFile != i.CAFile {
			continue
		}
		old.mu.Lock()
		state, known := old.state, old.known
		old.mu.Unlock()
		i.mu.Lock()
		if i.state == nil {
			i.state, i.known = state, known
		}
		i.mu.Unlock()
	}
}

// Warm asks all providers that nothing is known of, so that the first user has not to wait.
// It does not wait either.
func (s *Set) Warm() {
	for _, i := range s.issuers {
		i.mu.Lock()
		if i.state == nil {
			i.fetch()
		}
		i.mu.Unlock()
	}
}

// Close ends what goes on in the background and waits for it.
func (s *Set) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.running.Wait()
	for _, i := range s.issuers {
		i.client.CloseIdleConnections()
	}
}

// run has f go on in the background, unless the set is closed.
func (s *Set) run(f func(context.Context)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.running.Go(func() { f(s.ctx) })
	return true
}

// Button is a provider on the login page.
type Button struct {
	Name  string // of the path
	Label string
}

// Buttons returns the providers that somebody with a browser can log in at.
func (s *Set) Buttons() []Button {
	var list []Button
	for _, i := range s.issuers {
		if i.ClientID != "" {
			list = append(list, Button{i.Name, i.Label})
		}
	}
	return list
}

func (s *Set) byURL(url string) *issuer {
	for _, i := range s.issuers {
		if i.URL == url {
			return i
		}
	}
	return nil
}

func (s *Set) byName(name string) *issuer {
	for _, i := range s.issuers {
		if i.Name == name {
			return i
		}
	}
	return nil
}
