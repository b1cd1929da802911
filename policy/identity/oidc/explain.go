package oidc

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/svc-gateway/svc/policy/identity"
)

// Explain judges a token as the API does, also one that is made for the resource alone unless that is
// empty, and reports each step. It lets nobody in: whether the user's account is open is not looked at.
func (s *Set) Explain(ctx context.Context, token, resource string) identity.Report {
	r := identity.Report{Steps: []identity.Step{}}
	e := evaluation{set: s, use: forAPI, resource: resource, raw: token, access: token, now: time.Now(), report: &r}
	err := e.token(ctx)
	if err == nil {
		err = e.user(ctx)
	}
	if errors.Is(err, errForeign) {
		err = fmt.Errorf("the token comes from %q, and the providers here are %s", e.claims.text("iss"), s.urls())
	}
	if err != nil {
		r.Error = err.Error()
	}
	r.User, r.Role, r.Groups = e.external.Name, e.external.Role, e.external.Groups
	return r
}

func (s *Set) urls() string {
	all := make([]string, len(s.issuers))
	for n, i := range s.issuers {
		all[n] = i.URL
	}
	return strings.Join(all, ", ")
}
