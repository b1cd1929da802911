package oidc

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/svc-gateway/svc/policy/identity"
)

// begin sends the browser to the provider, with a cookie that makes it the only one which can
// finish this login.
func (f *Flow) begin(w http.ResponseWriter, r *http.Request, i *issuer) error {
	s, err := i.current(r.Context())
	if err != nil {
		return err
	}
	if s.Authorization == "" || s.Token == "" {
		return fmt.Errorf("%s has no authorization or token endpoint: nobody can log in there with a browser", i.URL)
	}
	root, secure := f.Arrival(r)
	l := login{
		State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(),
		Redirect: f.origin(r, secure) + root + "/oidc/" + i.Name + "/callback",
		Next:     r.URL.Query().Get("next"), Until: time.Now().Add(loginLife),
	}
	if err := f.Set.keepLogin(w, r, l, root+"/oidc/"+i.Name, secure); err != nil {
		return err
	}
	options := []oauth2.AuthCodeOption{gooidc.Nonce(l.Nonce), oauth2.S256ChallengeOption(l.Verifier)}
	if slices.Contains(i.Scopes, "offline_access") { // OpenID Connect Core, 11
		options = append(options, oauth2.SetAuthURLParam("prompt", "consent"))
	}
	http.Redirect(w, r, i.oauth(s, l.Redirect).AuthCodeURL(l.State, options...), http.StatusSeeOther)
	return nil
}

// finish takes what the provider sent the browser back with, and finds out who logged in.
func (f *Flow) finish(w http.ResponseWriter, r *http.Request, i *issuer) (e *evaluation, up identity.Upstream, next string, err error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil || repeated(q) { // which one would count is anybody's guess (RFC 6749, 3.1)
		return nil, up, "", errNoLogin
	}
	root, secure := f.Arrival(r)
	l, ok := f.Set.recallLogin(w, r, q.Get("state"), root+"/oidc/"+i.Name, secure)
	if !ok {
		return nil, up, "", errNoLogin
	}
	s, err := i.current(r.Context())
	if err != nil {
		return nil, up, "", err
	}
	// Another provider must not be able to have us send it this one's code (RFC 9207).
	if iss := q.Get("iss"); iss != i.URL && (iss != "" || s.SendsIssuer) {
		return nil, up, "", errMixedUp
	}
	if code := q.Get("error"); code != "" {
		return nil, up, "", providerError(code)
	}
	if q.Get("code") == "" {
		return nil, up, "", errNoLogin
	}
	ctx := gooidc.ClientContext(r.Context(), i.client)
	token, err := i.oauth(s, l.Redirect).Exchange(ctx, q.Get("code"), oauth2.VerifierOption(l.Verifier))
	if err != nil {
		return nil, up, "", i.tokenError(err, errNoLogin)
	}
	i.accepts(nil)
	raw, _ := token.Extra("id_token").(string)
	e = &evaluation{set: f.Set, use: forLogin, only: i, nonce: l.Nonce, raw: raw, access: token.AccessToken, now: time.Now()}
	if err := e.person(r.Context()); err != nil {
		return e, up, "", err
	}
	up = identity.Upstream{
		Issuer: i.URL, Subject: e.external.Subject, SID: e.claims.text("sid"),
		Refresh: identity.Secret(token.RefreshToken), IDToken: identity.Secret(raw),
	}
	switch {
	case up.Refresh != "":
		up.Due = due(token, e.now)
	case !i.UserInfo: // what the userinfo said cannot be had again
		up.Due = e.now.Add(ownRenewal)
	}
	return e, up, l.Next, nil
}

// repeated reports whether a parameter comes more than once.
func repeated(q url.Values) bool {
	for _, values := range q {
		if len(values) > 1 {
			return true
		}
	}
	return false
}

// person runs all checks on an ID token. The session that it opens has an end of its own, and
// begins now.
func (e *evaluation) person(ctx context.Context) error {
	err := e.token(ctx)
	if errors.Is(err, errForeign) {
		err = errUnknownIssuer
	}
	if err == nil {
		err = e.user(ctx)
	}
	e.external.Issued, e.external.Expires = time.Time{}, time.Time{}
	return err
}

// oauth is us, as the provider knows us.
func (i *issuer) oauth(s *state, redirect string) *oauth2.Config {
	endpoint := oauth2.Endpoint{AuthURL: s.Authorization, TokenURL: s.Token, AuthStyle: oauth2.AuthStyleInHeader}
	basic := len(s.AuthMethods) == 0 || slices.Contains(s.AuthMethods, "client_secret_basic")
	if i.secret == "" || !basic {
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	return &oauth2.Config{
		ClientID: i.ClientID, ClientSecret: i.secret.Reveal(), Endpoint: endpoint,
		RedirectURL: redirect, Scopes: i.Scopes,
	}
}

// tokenError says what an error of the token endpoint means: the grant is no good, which is
// what instead is for, or something is wrong between us and the provider.
func (i *issuer) tokenError(err, instead error) error {
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		return fmt.Errorf("asking %s for tokens: %w", i.URL, err)
	}
	switch refused.ErrorCode {
	case "invalid_grant":
		i.accepts(nil)
		return instead
	case "invalid_client", "unauthorized_client":
		err := fmt.Errorf("asking %s for tokens: %w: it answers %q", i.URL, ErrClient, word(refused.ErrorCode))
		i.accepts(err)
		return err
	}
	// What else stands in the answer stays out of the log.
	return fmt.Errorf("asking %s for tokens: it answers %s %q", i.URL, refused.Response.Status, word(refused.ErrorCode))
}

var plainWord = regexp.MustCompile(`^[a-z_]{1,64}$`)

// word returns an error code of a provider, if it is one.
func word(code string) string {
	if plainWord.MatchString(code) {
		return code
	}
	return "an error"
}

// providerError is the error that the provider sent the browser back with (RFC 6749, 4.1.2.1).
func providerError(code string) error {
	switch code {
	case "server_error", "temporarily_unavailable":
		return fmt.Errorf("the provider says %s", code)
	}
	return &identity.Refused{
		Status: http.StatusForbidden, Code: "login_denied", Reason: "denied",
		Detail: "The identity provider did not let you in (" + word(code) + ").",
	}
}

var (
	errNoLogin = &identity.Refused{
		Status: http.StatusBadRequest, Code: "login_unknown", Reason: "state",
		Detail: "This login was begun in another browser, took longer than ten minutes, or is over already: log in again.",
	}
	errMixedUp = &identity.Refused{
		Status: http.StatusBadRequest, Code: "login_unknown", Reason: "issuer",
		Detail: "This login was begun with another identity provider: log in again.",
	}
)
