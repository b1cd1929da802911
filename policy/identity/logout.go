package identity

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
)

// Logout ends a session of the user, or all when id is empty, and returns those that ended.
// Everybody may end their own; those of others need an admin ([ErrForbidden]). An id that no
// live session of the user has is [ErrSessionNotFound]. Ending all ends what external
// credentials from before opened too.
//
// A token with a weaker role than its user's ends the sessions that were opened with it, and nothing
// that another credential of the user gives.
func (s *Service) Logout(ctx context.Context, actor Actor, user, id string) ([]Session, error) {
	var ended []Session
	err := s.change(ctx, actor, change{typ: audit.Logout, action: "logout", user: user, own: true, plan: func(st state) (Change, error) {
		if st.account == nil {
			return Change{}, fmt.Errorf("%w: %s", ErrUserNotFound, user)
		}
		weak := actor.Source == policy.SourceToken && policy.Weaker(actor.Role, st.account.Role) != st.account.Role
		if weak && id == "" {
			return Change{}, errWeakToken
		}
		c := Change{Sessions: st.end(func(x *StoredSession) bool { return id == "" || x.ID == id })}
		if weak && slices.ContainsFunc(st.sessions, func(x StoredSession) bool { return x.ID == id && x.TokenID != actor.TokenID }) {
			return Change{}, errWeakToken
		}
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

var errWeakToken = fmt.Errorf("%w: the token has a weaker role than its user, and may end only a session that was opened with it", ErrForbidden)

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
