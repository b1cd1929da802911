package identity

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
)

const (
	maxSessions = 200 // live ones a user; with one more the oldest ends
	maxAgent    = 200 // bytes of a User-Agent that are kept
)

// sessionID is the public name of the session with this hash; see [Hash.id].
func (h Hash) sessionID() string { return hex.EncodeToString(h[:8]) }

// Login opens a session, on record before its secret is returned, which is once. The principal
// is one that [Service.Verify] or [Service.Admit] returned: a session does not open another
// ([ErrInvalid]), and who has no account has no sessions either. The session ends no later than
// the principal does, and with its token or account. The other errors are [ErrRevoked],
// [ErrExpired] and technical ones.
func (s *Service) Login(ctx context.Context, n NewSession) (Session, Secret, error) {
	leave, err := s.openings.enter(ctx)
	if err != nil {
		return Session{}, "", fmt.Errorf("logging in: %w", err)
	}
	defer leave()
	x, secret, err := s.newSession(ctx, n, precise(time.Now()))
	if err != nil {
		return Session{}, "", fmt.Errorf("logging in: %w", err)
	}
	revision, err := s.store.OpenSession(ctx, x, maxSessions)
	if err != nil {
		return Session{}, "", fmt.Errorf("logging in: %w", err)
	}
	if revision > s.cache.revision.Load() {
		s.announce(ctx, revision)
	}
	// Nobody knows the secret yet: what cannot be recorded has no effect.
	if err := s.recordLogin(ctx, n.Principal, x.Session); err != nil {
		return Session{}, "", fmt.Errorf("logging in: %w", err)
	}
	return x.Session, secret, nil
}

func (s *Service) newSession(ctx context.Context, n NewSession, now time.Time) (StoredSession, Secret, error) {
	p := n.Principal
	switch {
	case n.Kind != WebSession && n.Kind != APISession:
		return StoredSession{}, "", fmt.Errorf("%w: kind: %q is neither web nor api", ErrInvalid, n.Kind)
	case n.Lifetime <= 0:
		return StoredSession{}, "", fmt.Errorf("%w: lifetime: %s is not positive", ErrInvalid, n.Lifetime)
	case p.SessionID != "":
		return StoredSession{}, "", fmt.Errorf("%w: a session cannot open another: log in with the token or password", ErrInvalid)
	case p.OnBehalfOf != "":
		return StoredSession{}, "", fmt.Errorf("%w: nobody logs in on behalf of somebody else", ErrInvalid)
	}
	if err := s.fresh(ctx, now); err != nil {
		return StoredSession{}, "", err
	}
	a, err := s.named(ctx, p.User)
	if err != nil {
		return StoredSession{}, "", err
	}
	if a == nil {
		return StoredSession{}, "", fmt.Errorf("%w: %q has no account that a session could belong to", ErrInvalid, p.User)
	}
	secret, hash := newToken()
	x := StoredSession{
		Session: Session{
			ID: hash.sessionID(), User: a.Name, Kind: n.Kind, Source: p.Source, TokenID: p.TokenID, Created: now,
			Expires: earlier(precise(now.Add(n.Lifetime)), precise(p.Expires)),
			Address: p.Address, Agent: cut(n.Agent, maxAgent),
		},
		Hash: hash, Role: p.Role, Groups: p.Groups, Issued: precise(p.Issued),
	}
	if x.Issued.IsZero() {
		x.Issued = now
	}
	if n.Upstream != nil {
		if x.Upstream, err = s.seal.seal(x.ID, *n.Upstream); err != nil {
			return StoredSession{}, "", err
		}
	}
	c := Credential{Session: x, User: a.User}
	if p.TokenID != "" {
		token, err := s.store.ByID(ctx, p.TokenID)
		if errors.Is(err, ErrNotFound) {
			return StoredSession{}, "", ErrRevoked
		} else if err != nil {
			return StoredSession{}, "", err
		}
		c.Token = token.Token
	}
	_, err = sessionOf(&c, now)
	return x, secret, err
}

// sessionOf judges a session with its user and token.
func sessionOf(c *Credential, now time.Time) (*verified, error) {
	x, u := &c.Session, &c.User
	if !x.Ended.IsZero() {
		return nil, fmt.Errorf("session %s was ended: %w", x.ID, ErrRevoked)
	}
	v := &verified{
		kind: x.Kind, subject: u.Subject, issuer: cmp.Or(x.Upstream.Issuer, u.Issuer),
		principal: policy.Principal{
			User: u.Name, Role: x.Role, Groups: x.Groups, Source: x.Source,
			TokenID: x.TokenID, SessionID: x.ID, Issued: x.Issued,
			Expires: earlier(x.Expires, u.Expires),
		},
	}
	if err := errors.Join(v.live(now), u.live(now), u.accepts(x.Issued)); err != nil {
		return nil, err
	}
	if x.Source == policy.SourceToken {
		if u.Source != "" || c.Token.User != u.Name {
			return nil, fmt.Errorf("session %s is not of this account's token: %w", x.ID, ErrRevoked)
		}
		if err := c.Token.live(now); err != nil {
			return nil, err
		}
		v.principal.Role = c.Token.role(u)
		v.principal.Expires = earlier(v.principal.Expires, c.Token.Expires)
	} else if x.Source != u.Source {
		return nil, fmt.Errorf("session %s is of source %q, the account is not: %w", x.ID, x.Source, ErrRevoked)
	}
	if !x.LastUsed.IsZero() {
		v.used.Store(x.LastUsed.Unix())
	}
	v.renewal.set(x.Upstream.Due)
	return v, nil
}

func (s *Service) recordLogin(ctx context.Context, p policy.Principal, x Session) error {
	input, err := json.Marshal(struct {
		Session string      `json:"session"`
		Kind    SessionKind `json:"kind"`
		Expires time.Time   `json:"expires"`
		Agent   string      `json:"agent,omitempty"`
	}{x.ID, x.Kind, x.Expires, x.Agent})
	if err != nil {
		return fmt.Errorf("recording a login: %w", err)
	}
	err = s.log.Record(ctx, audit.Event{
		Type: audit.Login, Action: p.Source, User: p.User, Role: string(p.Role),
		Address: p.Address, TokenID: p.TokenID, Input: string(input), Status: "success",
	})
	if err != nil {
		return fmt.Errorf("recording a login: %w", err)
	}
	return nil
}

// cut returns at most n bytes of s, as valid text without control characters.
func cut(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, s)
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "")
	}
	return s
}

// Sessions returns the live sessions of the user, the oldest first; an empty user means all.
func (s *Service) Sessions(ctx context.Context, user string) ([]Session, error) {
	stored, err := s.store.Sessions(ctx, SessionFilter{User: user}, time.Now())
	if err != nil {
		return nil, err
	}
	sessions := make([]Session, len(stored))
	for i := range stored {
		sessions[i] = stored[i].Session
	}
	return sessions, nil
}

// Upstream returns what an identity provider's session is ended with, also shortly after ours
// has ended. It returns [ErrSessionNotFound] for a session without one.
func (s *Service) Upstream(ctx context.Context, sessionID string) (Upstream, error) {
	c, err := s.store.SessionByID(ctx, sessionID)
	if errors.Is(err, ErrNotFound) || err == nil && c.Session.Upstream.Issuer == "" {
		return Upstream{}, fmt.Errorf("%w: %s", ErrSessionNotFound, sessionID)
	} else if err != nil {
		return Upstream{}, err
	}
	return s.seal.open(sessionID, c.Session.Upstream)
}
