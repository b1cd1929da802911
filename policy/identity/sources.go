package identity

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/svc-gateway/svc/policy"
)

// sources are whom the service asks about people whom it does not know itself.
type sources struct {
	directory Directory
	renewer   Renewer
}

// errNotReady is technical: a configuration is about to say whom to ask.
var errNotReady = errors.New("the sources of external users are not known yet")

// SetSources says whom to ask about external users from now on; nil stands for a source that
// the configuration does not have, whose users are refused. Until the first call there is a
// technical error for all of them.
func (s *Service) SetSources(d Directory, r Renewer) { s.sources.Store(&sources{d, r}) }

// AcceptTokens says whether tokens of this service are a way in from now on; before the first
// call they are. Where they are not, what was opened with one is refused too.
func (s *Service) AcceptTokens(accept bool) { s.tokenless.Store(!accept) }

// asItsSourceSays returns the principal of a live token or session as its source sees it now.
func (s *Service) asItsSourceSays(ctx context.Context, v *verified, now time.Time) (policy.Principal, error) {
	switch v.principal.Source {
	case policy.SourceToken:
		if s.tokenless.Load() {
			return policy.Principal{}, fmt.Errorf("user %s came with a token, and none are accepted: %w", v.principal.User, ErrRevoked)
		}
	case policy.SourceLDAP:
		return s.lookup(ctx, v.principal, v.subject)
	case policy.SourceOIDC:
		return s.renewed(ctx, v, now)
	}
	return v.principal, nil
}

// lookup returns the principal with the role and groups that the directory has for it now.
func (s *Service) lookup(ctx context.Context, p policy.Principal, subject string) (policy.Principal, error) {
	src := s.sources.Load()
	if src == nil {
		return policy.Principal{}, errNotReady
	}
	if src.directory == nil {
		return policy.Principal{}, fmt.Errorf("user %s is of a directory, and none is configured: %w", p.User, ErrRevoked)
	}
	x, err := src.directory.Lookup(ctx, subject)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return p, nil
	case err != nil:
		return policy.Principal{}, fmt.Errorf("looking user %s up: %w", p.User, err)
	case x.Role == "":
		return policy.Principal{}, fmt.Errorf("user %s no longer has a role: %w", p.User, ErrRevoked)
	}
	p.Role, p.Groups = x.Role, x.Groups
	return p, nil
}
