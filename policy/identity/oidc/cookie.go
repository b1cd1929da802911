package oidc

import (
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	// loginLife is how long a login may take.
	loginLife = 10 * time.Minute
	// cookiePrefix begins the names of the cookies of logins, one for each that is going on.
	cookiePrefix = "svc_oidc_"
	// maxLogins is how many logins a browser may have going on with a provider.
	maxLogins = 5
	// maxNext is the longest address that a login remembers to go on to.
	maxNext = 2048
)

// login is one that is going on. It is kept by the browser, where only we can read it.
type login struct {
	State    string    `json:"s"`
	Nonce    string    `json:"n"`
	Verifier string    `json:"v"` // of PKCE
	Redirect string    `json:"r"`
	Next     string    `json:"x,omitempty"`
	Until    time.Time `json:"u"`
}

// cookieName is that of the login's cookie.
func cookieName(state string) string { return cookiePrefix + state[:min(len(state), 8)] }

// keepLogin gives a login to the browser. The cookie is sent along when the provider sends the
// browser back (Lax), to the path of this provider alone.
func (s *Set) keepLogin(w http.ResponseWriter, r *http.Request, l login, path string, secure bool) error {
	if len(l.Next) > maxNext {
		l.Next = ""
	}
	text, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("keeping a login: %w", err)
	}
	var old []string
	for _, c := range r.Cookies() {
		if strings.HasPrefix(c.Name, cookiePrefix) {
			old = append(old, c.Name)
		}
	}
	if len(old) >= maxLogins {
		for _, name := range old {
			http.SetCookie(w, cookie(name, "", path, secure))
		}
	}
	name := cookieName(l.State)
	sealed := s.seal.Seal(nil, nil, text, []byte(name+path))
	http.SetCookie(w, cookie(name, base64.RawURLEncoding.EncodeToString(sealed), path, secure))
	return nil
}

// recallLogin gets a login back from the browser that began it, and from no other. It can be had
// once: the browser forgets it.
func (s *Set) recallLogin(w http.ResponseWriter, r *http.Request, state, path string, secure bool) (login, bool) {
	name := cookieName(state)
	for _, c := range r.CookiesNamed(name) {
		sealed, err := base64.RawURLEncoding.DecodeString(c.Value)
		if err != nil {
			continue
		}
		text, err := s.seal.Open(nil, nil, sealed, []byte(name+path))
		if err != nil {
			continue
		}
		var l login
		if json.Unmarshal(text, &l) != nil || subtle.ConstantTimeCompare([]byte(l.State), []byte(state)) != 1 || time.Now().After(l.Until) {
			continue
		}
		http.SetCookie(w, cookie(name, "", path, secure))
		return l, true
	}
	return login{}, false
}

// cookie returns the cookie of a login; one without a value deletes it.
func cookie(name, value, path string, secure bool) *http.Cookie {
	c := &http.Cookie{
		Name: name, Value: value, Path: path, MaxAge: int(loginLife.Seconds()),
		HttpOnly: true, Secure: secure, SameSite: http.SameSiteLaxMode,
	}
	if value == "" {
		c.MaxAge = -1
	}
	return c
}
