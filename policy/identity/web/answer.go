package web

import (
	"errors"
	"net/http"
	"strings"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy/identity"
)

// answers say what is told of errors that are not a [*identity.Refused].
var answers = []struct {
	err    error
	status int
	code   string
	detail string
}{
	{identity.ErrSessionNotFound, http.StatusNotFound, "session_not_found", "There is no such session, or it has ended."},
	{identity.ErrUserNotFound, http.StatusNotFound, "user_not_found", "There is no such user."},
	{identity.ErrForbidden, http.StatusForbidden, "forbidden", "Your role does not permit this."},
	{identity.ErrRevoked, http.StatusUnauthorized, "session_ended", "Your access has ended: log in again."},
	{identity.ErrExpired, http.StatusUnauthorized, "session_ended", "Your access has ended: log in again."},
}

// explain turns an error into what the client is told, and logs those that are technical. It sets
// the header fields that belong to the status.
func (h *Handler) explain(w http.ResponseWriter, err error) problem.Problem {
	p := h.problem(err)
	if refused, ok := errors.AsType[*identity.Refused](err); ok && refused.RetryAfter > 0 {
		problem.RetryAfter(w.Header(), refused.RetryAfter)
	}
	if p.Status == http.StatusUnauthorized {
		// Not the chain's challenges: for Basic a browser would open a dialog of its own.
		w.Header().Set("WWW-Authenticate", `Bearer realm="svc"`)
	}
	return p
}

func (h *Handler) problem(err error) problem.Problem {
	if _, ok := errors.AsType[*identity.Refused](err); ok || errors.Is(err, identity.ErrNoCredentials) {
		return h.Chain.Problem(err)
	}
	if p, ok := problem.TooLarge(err); ok {
		return p
	}
	for _, a := range answers {
		if errors.Is(err, a.err) {
			return problem.Problem{Status: a.status, Code: a.code, Detail: a.detail}
		}
	}
	h.trouble("answering a request about identities", err)
	return problem.Problem{
		Status: http.StatusServiceUnavailable, Code: "identity_unavailable",
		Detail: "This cannot be done at the moment; try again later.",
	}
}

// Refuse answers a request that failed with err, with a page or a problem.
func (h *Handler) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	h.Problem(w, r, h.explain(w, err))
}

// Problem answers with a page where a person is looking, and with a problem elsewhere.
func (h *Handler) Problem(w http.ResponseWriter, r *http.Request, p problem.Problem) {
	r = arrived(r, h.Prefix)
	if !WantsPage(r) {
		problem.Write(w, r, p)
		return
	}
	h.page(w, r, p.Status, "problem", failure{http.StatusText(p.Status), p.Detail, p.Code})
}

// WantsPage reports whether a browser will show the answer to a person: it asks for HTML, and
// not on behalf of a script, a frame or an image (https://www.w3.org/TR/fetch-metadata/).
func WantsPage(r *http.Request) bool {
	return strings.Contains(strings.ToLower(r.Header.Get("Accept")), "text/html") &&
		oneOf(r.Header.Get("Sec-Fetch-Mode"), "", "navigate") && oneOf(r.Header.Get("Sec-Fetch-Dest"), "", "document")
}

func oneOf(value, a, b string) bool { return value == a || value == b }

func (h *Handler) trouble(doing string, err error) { h.Log.Error(doing, zap.Error(err)) }
