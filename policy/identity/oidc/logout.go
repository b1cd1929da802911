package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/svc-gateway/svc/policy/identity"
)

// LogoutURL returns where a browser goes to end the session at the provider too, empty when the
// provider has no such place, and what the provider is not told there.
func (f *Flow) LogoutURL(up identity.Upstream) (at, leftOut string) {
	i := f.Set.byURL(up.Issuer)
	if i == nil {
		return "", ""
	}
	i.mu.Lock()
	s := i.state
	i.mu.Unlock()
	if s == nil || s.EndSession == "" {
		return "", ""
	}
	u, err := url.Parse(s.EndSession)
	if err != nil {
		return "", ""
	}
	q := u.Query()
	q.Set("client_id", i.ClientID)
	if up.IDToken != "" {
		q.Set("id_token_hint", up.IDToken.Reveal())
	}
	if f.PublicURL != "" {
		q.Set("post_logout_redirect_uri", f.PublicURL+f.Home)
	} else {
		leftOut = "The provider is not told the way back here, because auth.public_url is not set."
	}
	u.RawQuery = q.Encode()
	return u.String(), leftOut
}

// maxLogoutBody is the largest body of a back-channel logout, in bytes.
const maxLogoutBody = 2 * maxToken

// backchannel ends sessions because their provider says so (OpenID Connect Back-Channel Logout
// 1.0, 2.5 to 2.8).
func (f *Flow) backchannel(w http.ResponseWriter, r *http.Request, i *issuer) {
	r.Body = http.MaxBytesReader(w, r.Body, maxLogoutBody)
	raw, err := logoutForm(r)
	e := evaluation{set: f.Set, use: forLogout, only: i, raw: raw, now: time.Now()}
	if err == nil {
		err = e.token(r.Context())
	}
	jti := i.URL + " " + e.claims.text("jti")
	if err == nil && !f.Set.logouts.first(jti, e.external.Expires, e.now) {
		err = refuse(codeInvalid, "The logout token was used before.")
	}
	if err == nil {
		_, err = f.Sessions(r.Context(), identity.UpstreamLogout{
			Issuer: i.URL, Subject: e.claims.text("sub"), SID: e.claims.text("sid"), Issued: e.external.Issued, Began: began,
		})
		if err != nil {
			f.Set.logouts.forget(jti) // the provider may send it again
		}
	}
	refused, ok := errors.AsType[*identity.Refused](err)
	switch {
	case err == nil:
		w.WriteHeader(http.StatusOK)
	case ok:
		answerError(w, http.StatusBadRequest, "invalid_request", refused.Detail)
	case errors.Is(err, errForeign):
		answerError(w, http.StatusBadRequest, "invalid_request", errUnknownIssuer.Detail)
	default:
		answerError(w, http.StatusServiceUnavailable, "temporarily_unavailable", "Try again later.")
	}
}

// logoutForm returns the token of a back-channel logout, of which there is one.
func logoutForm(r *http.Request) (string, error) {
	if err := r.ParseForm(); err != nil {
		return "", refuse(codeMalformed, "The body is not a form.")
	}
	if sent := r.PostForm["logout_token"]; len(sent) > 1 {
		return "", refuse(codeMalformed, "The form holds logout_token %d times.", len(sent))
	}
	return r.PostForm.Get("logout_token"), nil
}

// began is when the provider made the ID token of a session, by the provider's clock, as the time in
// a logout token is. What does not say is as old as can be.
func began(up identity.Upstream) time.Time {
	e := evaluation{raw: up.IDToken.Reveal()}
	if e.checkForm(context.Background()) != nil {
		return time.Time{}
	}
	t, given, err := e.claims.date("iat")
	if !given || err != nil {
		return time.Time{}
	}
	return t
}

func answerError(w http.ResponseWriter, status int, code, description string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": code, "error_description": description}) // the client may be gone
}

// maxReplays is how many logout tokens are remembered.
const maxReplays = 10_000

// replays are the logout tokens that were used, each until it is no good any more.
type replays struct {
	mu   sync.Mutex
	used map[string]time.Time // ends, by issuer and jti
}

// first reports whether the token is used for the first time.
func (p *replays) first(jti string, end, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until, ok := p.used[jti]; ok && now.Before(until) {
		return false
	}
	if len(p.used) >= maxReplays {
		maps.DeleteFunc(p.used, func(_ string, until time.Time) bool { return !now.Before(until) })
	}
	if p.used == nil || len(p.used) >= maxReplays {
		p.used = map[string]time.Time{} // to use one again only ends sessions that are meant to be over
	}
	p.used[jti] = end
	return true
}

func (p *replays) forget(jti string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.used, jti)
}
