package oidc

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/svc-gateway/svc/policy"
)

// Report is how a token was judged, step by step.
type Report struct {
	Steps   []Step      `json:"steps"`
	Allowed bool        `json:"allowed"`
	User    string      `json:"user,omitempty"` // the name in the token
	Role    policy.Role `json:"role,omitempty"`
	Groups  []string    `json:"groups,omitempty"`
}

// Explain judges a token as the API does and reports each step. It lets nobody in: whether the
// user's account is open is not looked at.
func (s *Set) Explain(ctx context.Context, token string) Report {
	e := evaluation{set: s, use: forAPI, raw: token, access: token, now: time.Now(), explain: true}
	err := e.token(ctx)
	if errors.Is(err, errForeign) {
		e.steps[len(e.steps)-1].Detail = errUnknownIssuer.Detail + " It says " + strconv.Quote(e.claims.text("iss")) + "; known are " + s.urls() + "."
	}
	if err == nil {
		err = e.user(ctx)
	}
	return Report{Steps: e.steps, Allowed: err == nil, User: e.external.Name, Role: e.external.Role, Groups: e.external.Groups}
}

func (s *Set) urls() string {
	all := make([]string, len(s.issuers))
	for n, i := range s.issuers {
		all[n] = i.URL
	}
	return strings.Join(all, ", ")
}
