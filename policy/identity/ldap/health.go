package ldap

import (
	"errors"
	"fmt"
	"time"

	goldap "github.com/go-ldap/ldap/v3"

	"github.com/svc-gateway/svc/internal/health"
)

// standing is how a server stands to this service, and since when.
type standing struct {
	since  time.Time
	reason string // empty: it works
}

// Health returns why a server of the directory does not do its work, and since when: a stable word of
// package health, empty when all do. The time is zero while nobody was asked.
func (d *Directory) Health() (since time.Time, reason string) {
	for _, s := range d.servers {
		switch now := s.standing.Load(); {
		case now == nil:
		case now.reason != "":
			return now.since, now.reason
		case now.since.After(since):
			since = now.since
		}
	}
	return since, ""
}

func reasonOf(err error) string {
	if goldap.IsErrorAnyOf(err, goldap.LDAPResultInvalidCredentials, goldap.LDAPResultInappropriateAuthentication, goldap.LDAPResultInsufficientAccessRights) {
		return health.Authentication
	}
	if _, ok := errors.AsType[noTLS](err); ok {
		return health.NotTLS
	}
	if _, ok := errors.AsType[broken](err); ok && health.Reason(err) == health.Refused {
		return health.Unreachable // the library keeps the text of an error alone
	}
	return health.Reason(err)
}

// noTLS is the failure of a server that TLS could not be agreed on with.
type noTLS struct{ error }

func (n noTLS) Unwrap() error { return n.error }

// mixedUp adds what may be wrong with the address of a server that ends the connection as soon as it
// is spoken to.
func (s *server) mixedUp(err error) error {
	if goldap.IsErrorWithCode(err, goldap.ErrorNetwork) { // of the handshake that it had agreed to
		return noTLS{err}
	}
	if _, ended := errors.AsType[broken](err); !ended && !health.Severed(err) {
		return err
	}
	if s.mode == ldaps {
		return noTLS{fmt.Errorf("%w (if this is the port without TLS, write ldap:// in ldap.url)", err)}
	}
	return noTLS{fmt.Errorf("%w (if this is the port for TLS, write ldaps:// in ldap.url)", err)}
}
