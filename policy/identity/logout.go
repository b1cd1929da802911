package identity

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
)

// Logout ends a session of the user, or all when id is empty, and returns those that ended.
// Everybody may end their own; those of others need an admin ([ErrForbidden]). An id that no
// live session of the user has is [ErrSessionNotFound]. Ending all ends what external
// credentials from before opened too.
func (s *Service) Logout(ctx context.Context, actor Actor, user, id string) ([]Session, error) {
	var ended []Session
	err := s.change(ctx, actor, change{typ: audit.Logout, action: "logout", user: user, own: true, plan: func(st state) (Change, error) {
		if st.account == nil {
			return Change{}, fmt.Errorf("%w: %s", ErrUserNotFound, user)
		}
		c := Change{Sessions: st.end(func(x *StoredSession) bool { return id == "" || x.ID == id })}
		if id == "" {
			c.Users = []User{st.account.cutOff(st.now)}
		} else if len(c.Sessions) == 0 {
			return Change{}, fmt.Errorf("%w: user %s has no live one with id %s", ErrSessionNotFound, user, id)
		}
		ended = st.ended(c)
		return c, nil
	}})
	if err != nil {
		return nil, fmt.Errorf("logging out: %w", err)
	}
	return ended, nil
}

// LogoutUpstream ends the sessions that an identity provider says are over, and returns how many
// those were: the one with its name sid, or, when that is empty, all of the subject together
// with everything that the provider issued to it before. The caller has made sure that the
// provider said so.
func (s *Service) LogoutUpstream(ctx context.Context, issuer, subject, sid string) (int, error) {
	if issuer == "" || subject == "" && sid == "" {
		return 0, fmt.Errorf("%w: a logout needs an issuer and a subject or sid", ErrInvalid)
	}
	sessions, err := s.store.Sessions(ctx, SessionFilter{Issuer: issuer, Subject: subject, SID: sid}, time.Now())
	if err != nil {
		return 0, fmt.Errorf("logging out: %w", err)
	}
	users := map[string]bool{}
	for i := range sessions {
		users[sessions[i].User] = true
	}
	if sid == "" {
		c, err := s.store.ByLink(ctx, Link{policy.SourceOIDC, issuer, subject})
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
		ended, err := s.endUpstream(ctx, user, issuer, subject, sid)
		n += ended
		errs = append(errs, err)
	}
	return n, errors.Join(errs...)
}

// endUpstream does [Service.LogoutUpstream] for one account.
func (s *Service) endUpstream(ctx context.Context, user, issuer, subject, sid string) (n int, err error) {
	actor := Actor{User: user, Source: policy.SourceOIDC}
	err = s.change(ctx, actor, change{typ: audit.Logout, action: "backchannel-logout", user: user, own: true, plan: func(st state) (Change, error) {
		if st.account == nil {
			return Change{}, fmt.Errorf("%w: %s", ErrUserNotFound, user)
		}
		c := Change{Sessions: st.end(func(x *StoredSession) bool {
			u := &x.Upstream
			return u.Issuer == issuer && (subject == "" || u.Subject == subject) && (sid == "" || u.SID == sid)
		})}
		if sid == "" {
			c.Users = []User{st.account.cutOff(st.now)}
		}
		n = len(c.Sessions)
		return c, nil
	}})
	if err != nil {
		return 0, fmt.Errorf("logging out: %w", err)
	}
	return n, nil
}

// cutOff returns the user with everything revoked that sessions and external credentials from
// before now give.
func (a *Account) cutOff(now time.Time) User {
	u := a.User
	u.ValidAfter = now
	return u
}

// end ends the live sessions that which selects.
func (st *state) end(which func(*StoredSession) bool) []EndedSession {
	var ended []EndedSession
	for i := range st.sessions {
		if which(&st.sessions[i]) {
			ended = append(ended, EndedSession{st.sessions[i].ID, st.now})
		}
	}
	return ended
}

// endAll ends all live sessions.
func (st *state) endAll() []EndedSession { return st.end(func(*StoredSession) bool { return true }) }

// ended returns the sessions that the change ends.
func (st *state) ended(c Change) []Session {
	sessions := make([]Session, 0, len(c.Sessions))
	for i := range st.sessions {
		for _, e := range c.Sessions {
			if e.ID == st.sessions[i].ID {
				sessions = append(sessions, st.sessions[i].Session)
			}
		}
	}
	return sessions
}
