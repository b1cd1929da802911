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

// AcceptCertificates says whom certificates let in from now on: role returns what the certificate of
// an authority for a subject gives, empty for nothing. Before the first call nobody asks.
func (s *Service) AcceptCertificates(role func(issuer, subject string) policy.Role) {
	s.certificates.Store(&role)
}

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

// asSettingsSay returns somebody who came with a JWT or a certificate, which was not kept, as the
// settings of now have it: they may have changed since it was shown.
func (s *Service) asSettingsSay(p policy.Principal, l Link) (policy.Principal, error) {
	switch p.Source {
	case policy.SourceOIDC:
		src := s.sources.Load()
		if src == nil {
			return policy.Principal{}, errNotReady
		}
		var role policy.Role
		if src.renewer != nil {
			role = src.renewer.RoleOf(l.Issuer, p.Groups)
		}
		if role == "" {
			return policy.Principal{}, fmt.Errorf("user %s came with a token of %s, which gives no role any more: %w", p.User, l.Issuer, ErrRevoked)
		}
		p.Role = role
	case policy.SourceCertificate:
		asked := s.certificates.Load()
		if asked == nil {
			return p, nil
		}
		role := (*asked)(l.Issuer, l.Subject)
		if role == "" {
			return policy.Principal{}, fmt.Errorf("user %s came with a certificate, which gives no role any more: %w", p.User, ErrRevoked)
		}
		p.Role = policy.Weaker(p.Role, role) // another site may give more than the one it was shown to
	}
	return p, nil
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
