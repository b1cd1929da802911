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

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

// Flow logs people in with a browser: authorization code with PKCE (RFC 7636), state and nonce.
// It serves the paths /oidc/{name}, where a login begins, /oidc/{name}/callback, where it ends,
// and /oidc/{name}/backchannel, where providers say that somebody logged out.
type Flow struct {
	Set *Set
	// Arrival says what a request alone does not: the path that the client has for the parent
	// of /oidc, and whether it came over TLS.
	Arrival func(*http.Request) (root string, secure bool)
	// PublicURL is scheme://host[:port] of this service; empty: as the request has it.
	PublicURL string
	// Home is the path that providers may send people to who logged out there.
	Home string
	// Sessions ends sessions that a provider opened; [identity.Service.LogoutUpstream] does.
	Sessions func(ctx context.Context, issuer, subject, sid string) (ended int, err error)
	// Audit hears of logins that failed.
	Audit identity.Recorder
}

// Enter is called for somebody whom a provider has let in, with where they wanted to go, which
// nobody has checked. It writes the answer.
type Enter func(w http.ResponseWriter, r *http.Request, who identity.External, up identity.Upstream, next string)

// Refuse is called when a login fails, and writes the answer.
type Refuse func(w http.ResponseWriter, r *http.Request, err error)

// Handler serves the paths.
func (f *Flow) Handler(enter Enter, refuse Refuse) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /oidc/{name}", f.at(refuse, func(w http.ResponseWriter, r *http.Request, i *issuer) {
		if err := f.begin(w, r, i); err != nil {
			refuse(w, r, err)
		}
	}))
	mux.HandleFunc("GET /oidc/{name}/callback", f.at(refuse, func(w http.ResponseWriter, r *http.Request, i *issuer) {
		e, up, next, err := f.finish(w, r, i)
		if err != nil {
			f.record(r, e, err)
			refuse(w, r, err)
			return
		}
		enter(w, r, e.external, up, next)
	}))
	mux.HandleFunc("POST /oidc/{name}/backchannel", f.at(refuse, f.backchannel))
	return mux
}

// at finds the provider of the path.
func (f *Flow) at(refuse Refuse, next func(http.ResponseWriter, *http.Request, *issuer)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		i := f.Set.byName(r.PathValue("name"))
		if i == nil || i.ClientID == "" {
			refuse(w, r, &identity.Refused{
				Status: http.StatusNotFound, Code: "issuer_unknown", Reason: "issuer",
				Detail: "There is no identity provider of that name to log in with.",
			})
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Referrer-Policy", "no-referrer") // the address holds a code
		next(w, r, i)
	}
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
	if err := f.Set.keep(w, r, l, root+"/oidc/"+i.Name, secure); err != nil {
		return err
	}
	options := []oauth2.AuthCodeOption{gooidc.Nonce(l.Nonce), oauth2.S256ChallengeOption(l.Verifier)}
	if slices.Contains(i.Scopes, "offline_access") { // OpenID Connect Core, 11
		options = append(options, oauth2.SetAuthURLParam("prompt", "consent"))
	}
	http.Redirect(w, r, i.oauth(s, l.Redirect).AuthCodeURL(l.State, options...), http.StatusSeeOther)
	return nil
}

// origin is the address that browsers know this service by.
func (f *Flow) origin(r *http.Request, secure bool) string {
	switch {
	case f.PublicURL != "":
		return f.PublicURL
	case secure:
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// finish takes what the provider sent the browser back with, and finds out who logged in.
func (f *Flow) finish(w http.ResponseWriter, r *http.Request, i *issuer) (e *evaluation, up identity.Upstream, next string, err error) {
	q := r.URL.Query()
	root, secure := f.Arrival(r)
	l, ok := f.Set.take(w, r, q.Get("state"), root+"/oidc/"+i.Name, secure)
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
	raw, _ := token.Extra("id_token").(string)
	e = &evaluation{set: f.Set, use: forLogin, only: i, nonce: l.Nonce, raw: raw, access: token.AccessToken, now: time.Now()}
	if err := e.person(r.Context()); err != nil {
		return e, up, "", err
	}
	up = identity.Upstream{
		Issuer: i.URL, Subject: e.external.Subject, SID: e.claims.text("sid"),
		Refresh: identity.Secret(token.RefreshToken), IDToken: identity.Secret(raw),
	}
	if up.Refresh != "" {
		up.Due = due(token, e.now)
	}
	return e, up, l.Next, nil
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

// tokenError says what an error of the token endpoint means: the grant is no good, which is
// what instead is for, or something is wrong between us and the provider.
func (i *issuer) tokenError(err, instead error) error {
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		return fmt.Errorf("asking %s for tokens: %w", i.URL, err)
	}
	if refused.ErrorCode == "invalid_grant" {
		return instead
	}
	// What else stands in the answer stays out of the log.
	return fmt.Errorf("asking %s for tokens: it answers %s %q", i.URL, refused.Response.Status, word(refused.ErrorCode))
}

// How long a session goes on before the provider is asked again.
const (
	minRenewal = time.Minute
	maxRenewal = time.Hour
)

// due is when a session has to be renewed: with the end of the access token.
func due(t *oauth2.Token, now time.Time) time.Time {
	life := maxRenewal
	if !t.Expiry.IsZero() {
		life = min(max(t.Expiry.Sub(now), minRenewal), maxRenewal)
	}
	return now.Add(life)
}

// record queues the record of a login that failed.
func (f *Flow) record(r *http.Request, e *evaluation, err error) {
	event := audit.Event{Type: audit.LoginFailed, Action: policy.SourceOIDC, Address: identity.Address(r), Reasons: []string{"unavailable"}}
	if refused, ok := errors.AsType[*identity.Refused](err); ok {
		event.Reasons = []string{refused.Reason}
	}
	if e != nil {
		event.User = e.external.Name
	}
	// Where the log cannot be written, svc_auth refuses the next request.
	_ = f.Audit.Queue(context.WithoutCancel(r.Context()), event)
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

// LogoutURL returns where a browser goes to end the session at the provider too; empty when the
// provider has no such place.
func (f *Flow) LogoutURL(up identity.Upstream) string {
	i := f.Set.byURL(up.Issuer)
	if i == nil {
		return ""
	}
	i.mu.Lock()
	s := i.state
	i.mu.Unlock()
	if s == nil || s.EndSession == "" {
		return ""
	}
	u, err := url.Parse(s.EndSession)
	if err != nil {
		return ""
	}
	q := u.Query()
	q.Set("client_id", i.ClientID)
	if up.IDToken != "" {
		q.Set("id_token_hint", up.IDToken.Reveal())
	}
	if f.PublicURL != "" {
		q.Set("post_logout_redirect_uri", f.PublicURL+f.Home)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// Buttons returns what the login page offers.
func (f *Flow) Buttons() []Button { return f.Set.Buttons() }
