package oidctest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"net/http"
	"net/url"
)

// code is what somebody agreed to.
type code struct {
	redirect, challenge, nonce string
	user                       map[string]any
}

// SetUser says who logs in from now on: claims of their ID token and userinfo.
func (p *Provider) SetUser(claims map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.user = claims
}

// RefuseRefresh has refresh tokens refused from now on.
func (p *Provider) RefuseRefresh() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refused = true
}

// authorize agrees at once, as a provider does where somebody is logged in.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("client_id") != ClientID || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" {
		http.Error(w, "this is no request for a code with PKCE", http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	c := rand.Text()
	p.codes[c] = code{q.Get("redirect_uri"), q.Get("code_challenge"), q.Get("nonce"), p.user}
	p.mu.Unlock()
	back := url.Values{"code": {c}, "state": {q.Get("state")}, "iss": {p.URL}}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	if id, secret, _ := r.BasicAuth(); id != ClientID || secret != ClientSecret {
		fail(w, http.StatusUnauthorized, "invalid_client")
		return
	}
	p.mu.Lock()
	var user map[string]any
	nonce := ""
	switch r.PostFormValue("grant_type") {
	case "authorization_code":
		c, ok := p.codes[r.PostFormValue("code")]
		delete(p.codes, r.PostFormValue("code"))
		sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		if ok && c.redirect == r.PostFormValue("redirect_uri") && c.challenge == base64.RawURLEncoding.EncodeToString(sum[:]) {
			user, nonce = c.user, c.nonce
		}
	case "refresh_token":
		if _, ok := p.refresh[r.PostFormValue("refresh_token")]; ok && !p.refused {
			user = p.user
		}
		delete(p.refresh, r.PostFormValue("refresh_token")) // each is good once
	}
	refresh := rand.Text()
	if user != nil {
		p.refresh[refresh] = user
	}
	p.mu.Unlock()
	if user == nil {
		fail(w, http.StatusBadRequest, "invalid_grant")
		return
	}
	id := maps.Clone(user)
	if nonce != "" {
		id["nonce"] = nonce
	}
	id["sid"] = "sid-1"
	access := "access-" + rand.Text()
	if resource := r.PostFormValue("resource"); resource != "" { // RFC 8707
		access = p.Token(with(maps.Clone(user), map[string]any{"aud": resource, "client_id": ClientID}))
	}
	answer(w, map[string]any{
		"access_token": access, "token_type": "Bearer", "expires_in": 300,
		"refresh_token": refresh, "id_token": p.Token(id),
	})
}

func (p *Provider) userInfo(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") == "" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	answer(w, p.user)
}

func fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(`{"error":"` + code + `"}`)) // the client may be gone
}
