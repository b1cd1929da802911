package identity

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/svc-gateway/svc/policy"
)

const (
	// RotateAfter is the age at which a token should be rotated.
	RotateAfter = 90 * 24 * time.Hour

	endsSoon     = 7 * 24 * time.Hour // before an end there is a warning
	maxOldTokens = 100
)

// Old reports whether the token works and should be rotated.
func (t *Token) Old(now time.Time) bool {
	return t.live(now) == nil && now.Sub(t.Created) >= RotateAfter
}

// Days is how many whole days ago the token was made.
func (t *Token) Days(now time.Time) int { return days(now.Sub(t.Created)) }

// OldTokens returns the tokens that should be rotated, the oldest first, at most 100.
func (s *Service) OldTokens(ctx context.Context) ([]Token, error) {
	now := time.Now()
	return s.store.OldTokens(ctx, now.Add(-RotateAfter), now, maxOldTokens)
}

// Warnings returns what somebody who logs in should know about the credential: that it is old,
// or ends soon.
func (s *Service) Warnings(ctx context.Context, p policy.Principal) ([]string, error) {
	now := time.Now()
	var list []string
	if p.TokenID != "" {
		c, err := s.store.ByID(ctx, p.TokenID)
		if errors.Is(err, ErrNotFound) {
			return nil, fmt.Errorf("token %s: %w", p.TokenID, ErrRevoked)
		} else if err != nil {
			return nil, err
		}
		if c.Token.Old(now) {
			list = append(list, fmt.Sprintf("The token %s (%s) is %d days old: ask an admin to rotate it, as should be done every %d days.",
				c.Token.Name, c.Token.ID, c.Token.Days(now), days(RotateAfter)))
		}
		p.Expires = earlier(c.Token.Expires, c.User.Expires) // not that of a session
	}
	if !p.Expires.IsZero() && p.Expires.Sub(now) < endsSoon && p.Source == policy.SourceToken {
		list = append(list, "The token or its user's account ends at "+p.Expires.UTC().Format(time.RFC3339)+".")
	}
	return list, nil
}

func days(d time.Duration) int { return int(d / (24 * time.Hour)) }
