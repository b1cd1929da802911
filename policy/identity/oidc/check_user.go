package oidc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"

	"github.com/svc-gateway/svc/internal/strictjson"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

// maxGroups is how many groups of a user are looked at and kept.
const maxGroups = 1000

// askUserInfo adds what the provider's userinfo endpoint says, where the settings ask for it.
func (e *evaluation) askUserInfo(ctx context.Context) error {
	switch {
	case !e.issuer.UserInfo:
		e.found("not asked for (userinfo)")
		return nil
	case e.state.UserInfo == "":
		return fmt.Errorf("%s has no userinfo endpoint", e.issuer.URL)
	case e.access == "":
		return fmt.Errorf("%s gave no access token to ask its userinfo endpoint with", e.issuer.URL)
	}
	info, err := e.issuer.userInfo(ctx, e.state, e.access)
	if err != nil {
		return err
	}
	if sub := info.text("sub"); sub == "" || sub != e.claims.text("sub") { // OpenID Connect Core, 5.3.2
		return refuse(codeInvalid, "The provider's userinfo is about somebody else than the token.")
	}
	e.claims = maps.Clone(e.claims)
	maps.Copy(e.claims, info)
	e.found("%d claims", len(info))
	return nil
}

// userInfo asks with an access token. One that the provider does not take is refused.
func (i *issuer) userInfo(ctx context.Context, s *state, access string) (claims, error) {
	doc, err := i.get(ctx, s.UserInfo, access)
	if status, ok := errors.AsType[statusError](err); ok && (status.code == http.StatusUnauthorized || status.code == http.StatusForbidden) {
		return nil, refuse(codeInvalid, "The provider's userinfo endpoint does not take the token.")
	}
	var c claims
	if err == nil {
		c, err = strictjson.Object(doc)
	}
	if err != nil {
		return nil, fmt.Errorf("asking for the userinfo of %s: %w", i.URL, err)
	}
	return c, nil
}

// findUser finds out who it is.
func (e *evaluation) findUser(context.Context) error {
	sub := e.claims.text("sub")
	if sub == "" {
		return refuse(codeInvalid, "The token does not say who it is about (sub).")
	}
	name, claim := userName(e.issuer.Issuer, e.claims)
	if name == "" {
		return refuse(codeInvalid, "The token has no user name: there is no claim %s, or the address in it is not verified.", claim)
	}
	subject, err := e.subject(sub)
	if err != nil {
		return err
	}
	e.external.Source, e.external.Issuer = policy.SourceOIDC, e.issuer.URL
	e.external.Subject, e.external.Name = subject, name
	e.found("%s, from %s; known by %q", name, claim, subject)
	return nil
}

// subject is what the account is known by: sub, or the claim that the settings name, which is kept
// apart from what any sub may say.
func (e *evaluation) subject(sub string) (string, error) {
	claim := e.issuer.NameClaim
	if claim == "" {
		return sub, nil
	}
	v, _ := e.claims.at(claim)
	name, _ := v.(string)
	if name == "" || claim == "email" && !verified(e.claims, false) {
		return "", refuse(codeInvalid, "The token does not name an account: there is no claim %s, or the address in it is not verified.", claim)
	}
	return claim + "=" + name, nil
}

// findRole maps the groups to a role. A user without one is known, and not let in.
func (e *evaluation) findRole(context.Context) error {
	list, given := groups(e.claims, e.issuer.GroupsClaim)
	if len(list) > maxGroups {
		list = list[:maxGroups]
	}
	e.external.Groups = list
	if e.external.Role = role(e.issuer.Issuer, list); e.external.Role != "" {
		e.found("%s, of the groups %q in %s", e.external.Role, list, e.issuer.GroupsClaim)
		return nil
	}
	if !given {
		return &identity.Refused{
			Status: http.StatusForbidden, Code: codeNoRole,
			Detail: fmt.Sprintf("The provider says nothing of groups: there is no claim %s.", e.issuer.GroupsClaim),
		}
	}
	return &identity.Refused{
		Status: http.StatusForbidden, Code: codeNoRole,
		Detail: fmt.Sprintf("None of the groups in the claim %s gives a role here.", e.issuer.GroupsClaim),
	}
}
