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

// Verify returns who the token belongs to. It returns [ErrMalformed], [ErrUnknown],
// [ErrExpired] or [ErrRevoked]; any other error is technical and says nothing about the token.
func (s *Service) Verify(ctx context.Context, token string) (policy.Principal, error) {
	hash, err := hashToken(token)
	if err != nil {
		return policy.Principal{}, err
	}
	now := time.Now()
	if err := s.fresh(ctx, now); err != nil {
		return policy.Principal{}, err
	}
	v := s.cache.hash(hash)
	if v == nil {
		c, err := s.store.ByHash(ctx, hash)
		if v, err = s.loaded(c, err, now); err != nil {
			return policy.Principal{}, err
		}
		s.cache.put(hash, v, c.Revision)
	} else if err := v.live(now); err != nil {
		return policy.Principal{}, err
	}
	s.used.note(v, now)
	return v.principal, nil
}

// byID is Verify for a principal that was verified before.
func (s *Service) byID(ctx context.Context, id string, now time.Time) (policy.Principal, error) {
	if err := s.fresh(ctx, now); err != nil {
		return policy.Principal{}, err
	}
	v := s.cache.id(id)
	if v == nil {
		c, err := s.store.ByID(ctx, id)
		if v, err = s.loaded(c, err, now); err != nil {
			return policy.Principal{}, err
		}
		s.cache.putID(v, c.Revision)
	} else if err := v.live(now); err != nil {
		return policy.Principal{}, err
	}
	return v.principal, nil
}

// loaded judges what the store answered.
func (s *Service) loaded(c Credential, err error, now time.Time) (*verified, error) {
	if errors.Is(err, ErrNotFound) {
		return nil, ErrUnknown
	} else if err != nil {
		return nil, fmt.Errorf("verifying a token: %w", err)
	}
	s.cache.advance(c.Revision)
	if err := errors.Join(c.Token.live(now), c.User.live(now)); err != nil {
		return nil, err
	}
	v := &verified{principal: policy.Principal{
		User:    c.User.Name,
		Role:    c.User.Role,
		Source:  policy.SourceToken,
		TokenID: c.Token.ID,
		Expires: earlier(c.Token.Expires, c.User.Expires),
	}}
	if !c.Token.LastUsed.IsZero() {
		v.used.Store(c.Token.LastUsed.Unix())
	}
	return v, nil
}

// fresh makes sure that the cache's revision was the store's at most maxStale ago.
func (s *Service) fresh(ctx context.Context, now time.Time) error {
	age := now.Sub(s.started) - time.Duration(s.checked.Load())
	if age < checkAfter {
		return nil
	}
	if age < maxStale {
		select {
		case s.checking <- struct{}{}:
		default:
			return nil // somebody is at it
		}
	} else {
		select {
		case s.checking <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	defer func() { <-s.checking }()
	begun := time.Since(s.started)
	if begun-time.Duration(s.checked.Load()) < checkAfter {
		return nil // somebody was
	}
	revision, err := s.store.Revision(ctx)
	if err != nil {
		return fmt.Errorf("verifying a token: %w", err)
	}
	s.cache.advance(revision)
	s.checked.Store(int64(begun))
	return nil
}
