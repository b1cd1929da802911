package identity

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/svc-gateway/svc/policy"
)

const (
	// checkAfter is the age at which one caller reads the revision while others go on, and
	// maxStale the age at which everybody waits for it.
	checkAfter = 500 * time.Millisecond
	maxStale   = time.Second
)

// Verify returns who the token, or the session of an API client, belongs to. It returns
// [ErrMalformed], [ErrUnknown], [ErrExpired] or [ErrRevoked]; any other error is technical and
// says nothing about the token.
func (s *Service) Verify(ctx context.Context, token string) (policy.Principal, error) {
	return s.verify(ctx, token, func(k SessionKind) bool { return k != WebSession })
}

// Session is [Service.Verify] for sessions of the kind and nothing else.
func (s *Service) Session(ctx context.Context, secret string, kind SessionKind) (policy.Principal, error) {
	return s.verify(ctx, secret, func(k SessionKind) bool { return k == kind })
}

// verify finds what the secret is of. One of a kind that is not accepted is as good as unknown.
func (s *Service) verify(ctx context.Context, secret string, accepted func(SessionKind) bool) (policy.Principal, error) {
	hash, err := hashToken(secret)
	if err != nil {
		return policy.Principal{}, err
	}
	now := time.Now()
	if err := s.fresh(ctx, now); err != nil {
		return policy.Principal{}, err
	}
	v := s.cache.hash(hash)
	if v == nil {
		c, err := s.byHash(ctx, hash)
		if v, err = s.judge(c, err, now); err != nil {
			return policy.Principal{}, err
		}
		s.cache.put(hash, v, c.Revision)
	}
	if !accepted(v.kind) {
		return policy.Principal{}, ErrUnknown
	}
	if err := v.live(now); err != nil {
		return policy.Principal{}, err
	}
	s.used.noteUse(v, now)
	return s.asItsSourceSays(ctx, v, now)
}

// byHash finds a token or a session.
func (s *Service) byHash(ctx context.Context, h Hash) (Credential, error) {
	c, err := s.store.ByHash(ctx, h)
	if errors.Is(err, ErrNotFound) {
		return s.store.SessionByHash(ctx, h)
	}
	return c, err
}

// resolveByID is verify for a token or session by its id, which load looks up.
func (s *Service) resolveByID(ctx context.Context, id string, load func(context.Context, string) (Credential, error), now time.Time) (policy.Principal, error) {
	v := s.cache.id(id)
	if v == nil {
		c, err := load(ctx, id)
		if v, err = s.judge(c, err, now); err != nil {
			return policy.Principal{}, err
		}
		s.cache.putID(v, c.Revision)
	} else if err := v.live(now); err != nil {
		return policy.Principal{}, err
	}
	return s.asItsSourceSays(ctx, v, now)
}

// judge makes a token or session that may be used of what the store answered, or says why not.
func (s *Service) judge(c Credential, err error, now time.Time) (*verified, error) {
	if errors.Is(err, ErrNotFound) {
		return nil, ErrUnknown
	} else if err != nil {
		return nil, fmt.Errorf("verifying a token: %w", err)
	}
	s.learn(c.Revision)
	if c.Session.ID != "" {
		return sessionOf(&c, now)
	}
	if err := errors.Join(c.Token.live(now), c.User.live(now)); err != nil {
		return nil, err
	}
	v := &verified{principal: policy.Principal{
		User:    c.User.Name,
		Role:    c.Token.role(&c.User),
		Source:  policy.SourceToken,
		TokenID: c.Token.ID,
		Expires: earlier(c.Token.Expires, c.User.Expires),
	}}
	if !c.Token.LastUsed.IsZero() {
		v.used.Store(c.Token.LastUsed.Unix())
	}
	return v, nil
}

// fresh makes sure that the cache's revision was the store's at most maxStale ago; while changes may
// go unheard, that it was since the time now.
func (s *Service) fresh(ctx context.Context, now time.Time) error {
	asked, deaf := now.Sub(s.started), s.deaf()
	age := asked - time.Duration(s.checked.Load())
	switch {
	case deaf, age >= maxStale:
		select {
		case s.checking <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	case age < checkAfter:
		return nil
	default:
		select {
		case s.checking <- struct{}{}:
		default:
			return nil // somebody is at it
		}
	}
	defer func() { <-s.checking }()
	begun, last := time.Since(s.started), time.Duration(s.checked.Load())
	if deaf && last > asked || !deaf && begun-last < checkAfter {
		return nil // somebody was
	}
	revision, err := s.store.Revision(ctx)
	if err != nil {
		return fmt.Errorf("verifying a token: %w", err)
	}
	s.learn(revision)
	s.checked.Store(int64(begun))
	return nil
}
