package web

import (
	"net/http"
	"time"

	"github.com/svc-gateway/svc/policy/identity"
)

// setCookie gives a session to the browser. The cookie ends with the session.
func setCookie(w http.ResponseWriter, r *http.Request, s identity.Session, secret identity.Secret) {
	http.SetCookie(w, newCookie(r, secret.Reveal(), int(s.Expires.Sub(s.Created)/time.Second)))
}

// clearCookie has the browser forget its session.
func clearCookie(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, newCookie(r, "", -1))
}

func newCookie(r *http.Request, value string, seconds int) *http.Cookie {
	return &http.Cookie{
		Name: identity.SessionCookie, Value: value, Path: "/", MaxAge: seconds,
		HttpOnly: true, Secure: ArrivalOf(r).Secure, SameSite: http.SameSiteStrictMode,
	}
}
