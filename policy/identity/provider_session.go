package identity

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/svc-gateway/svc/policy"
)

// SessionCookie is the cookie that holds the secret of a web session.
const SessionCookie = "svc_token"

// NewSessionProvider returns the provider of web sessions, which are sent in [SessionCookie].
// It stands behind those of explicit credentials: what a request says counts more than what a
// browser adds by itself.
//
// Because it does, a request that a web page of another origin makes is refused unless that
// origin is trusted (see [NewNoneProvider]). So are two cookies of that name: a neighbour below
// the same domain can set one, and which of them counts would be the neighbour's choice.
func NewSessionProvider(s *Service, trustedOrigins ...string) (Provider, error) {
	p := &sessionProvider{s: s}
	for _, o := range trustedOrigins {
		if err := p.origins.AddTrustedOrigin(o); err != nil {
			return nil, fmt.Errorf("trusting origin %q: %w", o, err)
		}
	}
	return p, nil
}

type sessionProvider struct {
	s       *Service
	origins http.CrossOriginProtection
}

func (*sessionProvider) Name() string { return "session" }

func (p *sessionProvider) Authenticate(r *http.Request) (policy.Principal, Outcome, error) {
	cookies := r.CookiesNamed(SessionCookie)
	switch {
	case len(cookies) == 0 || len(cookies) == 1 && cookies[0].Value == "":
		return policy.Principal{}, NotMine, nil
	case len(cookies) > 1:
		return policy.Principal{}, No, errTwoSessions
	}
	principal, err := p.s.Session(r.Context(), cookies[0].Value, WebSession)
	if err != nil {
		return policy.Principal{}, NotMine, refuseSession(err)
	}
	if err := p.origins.Check(acting(r)); err != nil {
		return policy.Principal{}, No, errCrossOrigin
	}
	return principal, Yes, nil
}

// acting is the request as CrossOriginProtection has to see it, which lets every GET pass: one
// that asks for another protocol, such as WebSocket's, can do anything afterwards.
func acting(r *http.Request) *http.Request {
	if r.Header.Get("Upgrade") == "" && r.Method != http.MethodConnect {
		return r
	}
	post := *r
	post.Method = http.MethodPost
	return &post
}

var (
	errTwoSessions = &Refused{
		Status: http.StatusUnauthorized, Code: "credentials_conflict", Reason: "conflict",
		Detail: "The request holds the cookie " + SessionCookie + " twice: remove the cookies of this site and log in again.",
	}
	errCrossOrigin = &Refused{
		Status: http.StatusForbidden, Code: "cross_origin", Reason: "cross_origin",
		Detail: "A web page of another origin sent this with the cookie of a session. Add the origin to cors.origins to trust it.",
	}
	errNoSession = &Refused{
		Status: http.StatusUnauthorized, Code: "session_ended", Reason: "session_ended",
		Detail: "The session has ended: log in again.",
	}
)

// refuseSession turns an error of [Service.Session] into a refusal; technical ones stay as they
// are. A browser is told the same whatever ended the session.
func refuseSession(err error) error {
	for _, gone := range []error{ErrMalformed, ErrUnknown, ErrRevoked, ErrExpired} {
		if errors.Is(err, gone) {
			return errNoSession
		}
	}
	return err
}
