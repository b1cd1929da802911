package oidc

import (
	"errors"
	"fmt"
	"time"

	"github.com/svc-gateway/svc/internal/health"
)

// Health is how a provider stands to this service.
type Health struct {
	Name   string
	Since  time.Time // when that became so; zero: it was not asked yet
	Reason string    // why its users may not get in, a stable word; empty: it works
}

// NoIssuer is the reason of a provider whose documents are not those of its issuer identifier, or
// cannot be read. The others are those of package health.
const NoIssuer = "issuer"

var (
	// ErrClient is the trouble of a provider that does not take client_id and client_secret.
	ErrClient = errors.New("the provider does not accept client_id and client_secret")

	errNoIssuer = errors.New("there is no document of this issuer: is the identifier exactly the provider's own")
)

// Health returns how each of the providers is, in the order of the settings.
func (s *Set) Health() []Health {
	all := make([]Health, len(s.issuers))
	for n, i := range s.issuers {
		i.mu.Lock()
		all[n] = Health{Name: i.Name, Since: i.changed, Reason: i.reason()}
		i.mu.Unlock()
	}
	return all
}

// reason says what is wrong. The caller holds mu.
func (i *issuer) reason() string {
	switch {
	case i.err == nil && i.refused:
		return health.Authentication
	case i.err == nil || errors.Is(i.err, errClosed):
		return ""
	case errors.Is(i.err, errNoIssuer):
		return NoIssuer
	}
	return health.Reason(i.err)
}

// accepts notes whether the provider takes what this service proves itself with, and tells of news.
func (i *issuer) accepts(err error) {
	i.mu.Lock()
	news := i.refused != (err != nil)
	if i.refused = err != nil; news {
		i.changed = time.Now()
	}
	i.mu.Unlock()
	if news {
		i.trouble(err)
	}
}

// mixedUp adds what may be wrong with the address when a provider ends the connection.
func (i *issuer) mixedUp(err error) error {
	if !health.Severed(err) {
		return err
	}
	return fmt.Errorf("%w (is it TLS that is spoken there, and https in the address, or neither?)", err)
}
