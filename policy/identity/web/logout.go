package web

import (
	"errors"
	"net/http"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

// loggedOut is the answer to a logout by a program.
type loggedOut struct {
	endedBody
	LogoutURL string `json:"logout_url,omitempty"` // where a browser ends the session at the identity provider too
	LeftOut   string `json:"left_out,omitempty"`   // what the provider is not told there, and why
}

// logout ends the session that the request was sent with, everywhere. The path is open so that a
// browser whose session has ended meanwhile is logged out too.
func (h *Handler) logout(w http.ResponseWriter, r *http.Request, _ policy.Principal) {
	p, err := h.Chain.Authenticate(r)
	if err == nil && p.SessionID == "" {
		err = errNotSession
	}
	if err != nil {
		h.noLogout(w, r, err)
		return
	}
	at, leftOut := h.upstreamLogout(r, p)
	ended, err := h.Service.Logout(r.Context(), p, p.User, p.SessionID)
	if err != nil {
		h.Refuse(w, r, err)
		return
	}
	clearCookie(w, r)
	switch {
	case !WantsPage(r):
		writeJSON(w, loggedOut{endedBody{listed(ended)}, at, leftOut})
	case at != "": // not a redirect: the content security policy holds for where a form leads
		h.page(w, r, http.StatusOK, "onward", onward{Title: "You are logged out here", To: at, Note: leftOut})
	default:
		redirect(w, ArrivalOf(r).Root+"/login?out")
	}
}

// upstreamLogout returns where the session ends at its identity provider, empty where it does not, and
// what the provider is not told there. What is wrong there keeps nobody from logging out here.
func (h *Handler) upstreamLogout(r *http.Request, p policy.Principal) (at, leftOut string) {
	if h.Issuers == nil || p.Source != policy.SourceOIDC {
		return "", ""
	}
	up, err := h.Service.Upstream(r.Context(), p.SessionID)
	if err != nil {
		h.trouble("looking for the provider's session", err)
		return "", ""
	}
	return h.Issuers.LogoutURL(up)
}

// noLogout answers where there is no session to end. That is what a person wanted; but where
// another site wanted it the cookie was only not sent, and must not be taken away.
func (h *Handler) noLogout(w http.ResponseWriter, r *http.Request, err error) {
	refused, ok := errors.AsType[*identity.Refused](err)
	nobody := errors.Is(err, identity.ErrNoCredentials) || ok && refused.Status == http.StatusUnauthorized
	if !nobody || !WantsPage(r) {
		h.Refuse(w, r, err)
		return
	}
	if err := h.origins.Check(r); err != nil {
		h.Refuse(w, r, errOrigin)
		return
	}
	clearCookie(w, r)
	redirect(w, ArrivalOf(r).Root+"/login?out")
}

var errNotSession = &identity.Refused{
	Status: http.StatusConflict, Code: "not_a_session", Reason: "not_a_session",
	Detail: "The request was sent with a credential that is not a session: a token is ended by revoking it.",
}
