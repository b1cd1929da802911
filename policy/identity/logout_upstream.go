package identity

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
)

// UpstreamLogout is what an identity provider says is over: the session with its name SID, or, when
// that is empty, all of the subject together with everything that the provider issued to it before.
type UpstreamLogout struct {
	Issuer, Subject, SID string
	// Issued is when the provider said so, by its own clock; zero: now. What it let in later goes on:
	// somebody who has the message of then may send it again.
	Issued time.Time
	// Began says when the provider let a session in, by the same clock, zero for long ago. Nil: all of
	// them are older than the message.
	Began func(Upstream) time.Time
}

// over reports whether the logout is about what began then. Providers tell full seconds.
func (l *UpstreamLogout) over(began time.Time) bool {
	return l.Issued.IsZero() || !began.Truncate(time.Second).After(l.Issued)
}

// LogoutUpstream ends the sessions that an identity provider says are over, and returns how many
// those were. The caller has made sure that the provider said so.
func (s *Service) LogoutUpstream(ctx context.Context, l UpstreamLogout) (int, error) {
	if l.Issuer == "" || l.Subject == "" && l.SID == "" {
		return 0, fmt.Errorf("%w: a logout needs an issuer and a subject or sid", ErrInvalid)
	}
	sessions, err := s.store.Sessions(ctx, SessionFilter{Issuer: l.Issuer, Subject: l.Subject, SID: l.SID}, time.Now())
	if err != nil {
		return 0, fmt.Errorf("logging out: %w", err)
	}
	users := map[string]bool{}
	for i := range sessions {
		users[sessions[i].User] = true
	}
	if l.SID == "" {
		c, err := s.store.ByLink(ctx, Link{policy.SourceOIDC, l.Issuer, l.Subject})
		switch {
		case err == nil:
			users[c.User.Name] = true
		case !errors.Is(err, ErrNotFound):
			return 0, fmt.Errorf("logging out: %w", err)
		}
	}
	n := 0
	var errs []error
	for user := range users {
		ended, err := s.endUpstream(ctx, user, l)
		n += ended
		errs = append(errs, err)
	}
	return n, errors.Join(errs...)
}

// endUpstream does [Service.LogoutUpstream] for one account.
func (s *Service) endUpstream(ctx context.Context, user string, l UpstreamLogout) (n int, err error) {
	actor := Actor{User: user, Source: policy.SourceOIDC}
	err = s.change(ctx, actor, change{typ: audit.Logout, action: "backchannel-logout", user: user, own: true, plan: func(st state) (Change, error) {
		if st.account == nil {
			return Change{}, fmt.Errorf("%w: %s", ErrUserNotFound, user)
		}
		c := Change{Sessions: st.end(func(x *StoredSession) bool {
			u := &x.Upstream
			return u.Issuer == l.Issuer && (l.Subject == "" || u.Subject == l.Subject) && (l.SID == "" || u.SID == l.SID) && s.upstreamOver(x, &l)
		})}
		if l.SID == "" {
			c.Users = []User{st.account.cutOff(l.cutOff(st.now, st.account.ValidAfter))}
		}
		n = len(c.Sessions)
		return c, nil
	}})
	if err != nil {
		return 0, fmt.Errorf("logging out: %w", err)
	}
	return n, nil
}

// upstreamOver reports whether a session is older than the logout. One that cannot be read is.
func (s *Service) upstreamOver(x *StoredSession, l *UpstreamLogout) bool {
	if l.Began == nil {
		return true
	}
	up, err := s.seal.open(x.ID, x.Upstream)
	return err != nil || l.over(l.Began(up))
}

// cutOff is from when on credentials are good again: after the second in which the provider said so,
// but not later than now, and never earlier than before.
func (l *UpstreamLogout) cutOff(now, before time.Time) time.Time {
	at := now
	if said := l.Issued.Truncate(time.Second).Add(time.Second); !l.Issued.IsZero() && said.Before(now) {
		at = said
	}
	if at.Before(before) {
		return before
	}
	return at
}
