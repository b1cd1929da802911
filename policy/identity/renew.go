package identity

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
)

const (
	renewGrace = 10 * time.Minute // how long a session goes on while its provider cannot be asked
	renewWait  = 10 * time.Second // how long one attempt may take
	renewPause = 15 * time.Second // between attempts that fail; more than renewWait
)

var (
	// errOverdue is technical: the provider could not be asked for too long.
	errOverdue = errors.New("the identity provider could not be asked for too long")
	errTried   = errors.New("somebody else is asking it, or has just tried")
)

// renewal says when a session is to be renewed.
type renewal struct {
	due atomic.Int64 // Unix nanoseconds; 0 is never
}

func (r *renewal) set(due time.Time) {
	if due.IsZero() {
		r.due.Store(0)
		return
	}
	r.due.Store(due.UnixNano())
}

// overdue is how long ago the session was to be renewed; negative when that is still to come.
func (r *renewal) overdue(now time.Time) time.Duration {
	due := r.due.Load()
	if due == 0 {
		return -1
	}
	return time.Duration(now.UnixNano() - due)
}

// renewed returns the principal of an identity provider's session, which is renewed first when that is
// due. The request that finds it due renews it and waits. While that goes on, and for a while after it
// failed, the others go on with what was known, for the grace; then they wait too, as those do that
// come to a session which was not used for long. From what was known the settings of now may only take
// away.
func (s *Service) renewed(ctx context.Context, v *verified, now time.Time) (policy.Principal, error) {
	src := s.sources.Load()
	if src == nil {
		return policy.Principal{}, errNotReady
	}
	if src.renewer == nil {
		return policy.Principal{}, fmt.Errorf("user %s is of an identity provider, and none is configured: %w", v.principal.User, ErrRevoked)
	}
	late, id := v.renewal.overdue(now), v.principal.SessionID
	if late < 0 {
		return known(src.renewer, v)
	}
	if late < renewGrace {
		if holder, err := s.bus.Holder(ctx, renewKey(id)); err != nil || holder != "" {
			return known(src.renewer, v) // a bus that is away is no reason to refuse
		}
	}
	is, err, _ := s.renewing.Do(id, func() (any, error) { return s.renewAlone(ctx, src.renewer, id) })
	switch {
	case err == nil:
		is := is.(*verified)
		v.renewal.due.Store(is.renewal.due.Load())
		return is.principal, nil
	case errors.Is(err, ErrRevoked), errors.Is(err, ErrExpired):
		return policy.Principal{}, err
	case late >= renewGrace:
		return policy.Principal{}, fmt.Errorf("%w: %w", errOverdue, err)
	}
	return known(src.renewer, v)
}

// known returns the principal of a session that is not renewed just now, with what the settings of now
// leave of its role: its provider may have been removed, or the groups give less. More than the
// provider gave takes a renewal.
func known(renewer Renewer, v *verified) (policy.Principal, error) {
	p := v.principal
	role := renewer.RoleOf(v.issuer, p.Groups)
	if role == "" {
		return policy.Principal{}, fmt.Errorf("user %s is of %s, which gives no role any more: %w", p.User, v.issuer, ErrRevoked)
	}
	p.Role = policy.Weaker(p.Role, role)
	return p, nil
}

func renewKey(session string) string { return "identity/renew/" + session }

// renewAlone renews a session unless another node is at it, or an attempt has just failed: a
// lease that is not given back keeps everybody from trying again too soon.
func (s *Service) renewAlone(ctx context.Context, renewer Renewer, id string) (*verified, error) {
	ctx, holder := context.WithoutCancel(ctx), rand.Text()
	token, err := s.bus.Lease(ctx, renewKey(id), holder, renewPause)
	if err != nil {
		return nil, fmt.Errorf("renewing session %s: %w", id, err)
	} else if token == 0 {
		return nil, errTried
	}
	v, err := s.renew(ctx, renewer, id)
	if err == nil {
		_ = s.bus.Release(ctx, renewKey(id), holder) // it ends by itself
	}
	return v, err
}

// renew asks the provider about a session and stores what it says. A provider that rotates
// refresh tokens takes back the one that was used, so ctx must not end with the request that led
// here: the answer is waited for and stored.
func (s *Service) renew(ctx context.Context, renewer Renewer, id string) (*verified, error) {
	ctx, cancel := context.WithTimeout(ctx, renewWait)
	defer cancel()
	c, err := s.store.SessionByID(ctx, id)
	if errors.Is(err, ErrNotFound) {
		return nil, fmt.Errorf("session %s: %w", id, ErrRevoked)
	} else if err != nil {
		return nil, err
	}
	now := time.Now()
	if c.Session.Upstream.Due.After(now) {
		return sessionOf(&c, now) // somebody else was first
	}
	if _, err := sessionOf(&c, now); err != nil {
		return nil, err
	}
	u, err := s.seal.open(id, c.Session.Upstream)
	if errors.Is(err, errUnsealable) {
		return nil, s.endUnrenewed(ctx, &c.Session, err)
	} else if err != nil {
		return nil, err
	}
	x, next, err := renewer.Renew(ctx, u)
	if err == nil && (x.Subject != u.Subject || x.Role == "") {
		err = fmt.Errorf("the provider answered for subject %q with role %q: %w", x.Subject, x.Role, ErrRevoked)
	}
	if errors.Is(err, ErrRevoked) || errors.Is(err, ErrNoRole) {
		return nil, s.endUnrenewed(ctx, &c.Session, err)
	} else if err != nil {
		return nil, fmt.Errorf("renewing session %s: %w", id, err)
	}
	if c.Session.Upstream, err = s.seal.seal(id, next); err != nil {
		return nil, err
	}
	c.Session.Role, c.Session.Groups = x.Role, x.Groups
	revision, err := s.store.RenewSession(ctx, c.Session)
	if errors.Is(err, ErrNotFound) {
		return nil, fmt.Errorf("session %s was ended meanwhile: %w", id, ErrRevoked)
	} else if err != nil {
		return nil, err
	}
	if revision > s.cache.revision.Load() {
		s.announce(ctx, revision)
	}
	return sessionOf(&c, now)
}

// endUnrenewed ends a session that the provider does not renew, and returns why as an
// [ErrRevoked].
func (s *Service) endUnrenewed(ctx context.Context, x *StoredSession, why error) error {
	actor := Actor{User: x.User, Role: x.Role, Source: x.Source}
	err := s.change(ctx, actor, change{typ: audit.Logout, action: "renewal-refused", user: x.User, own: true, plan: func(st state) (Change, error) {
		return Change{Sessions: st.end(func(o *StoredSession) bool { return o.ID == x.ID })}, nil
	}})
	return errors.Join(fmt.Errorf("session %s: %w: %w", x.ID, ErrRevoked, why), err)
}
