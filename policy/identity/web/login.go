package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/strictjson"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

// maxBody bounds the body of a login, in bytes.
const maxBody = 64 << 10

// credentials are what a login is tried with: a token, or a user name and a password.
type credentials struct {
	Token    identity.Secret      `json:"token"`
	User     string               `json:"user"`
	Password identity.Secret      `json:"password"`
	Kind     identity.SessionKind `json:"kind"`
	next     string
	form     bool // it came from the page
}

// loggedIn is the answer to a login with JSON.
type loggedIn struct {
	User      string               `json:"user"`
	Role      policy.Role          `json:"role"`
	Kind      identity.SessionKind `json:"kind"`
	SessionID string               `json:"session_id"`
	Expires   time.Time            `json:"expires"`
	Warnings  []string             `json:"warnings,omitempty"` // such as that the token is old
	Token     string               `json:"token,omitempty"`    // in clear, for kind api: this answer is the one time it is shown
}

// login opens a session. It is refused across origins even though it needs no session: the
// victim of such a login would work in the attacker's account without noticing.
func (h *Handler) login(w http.ResponseWriter, r *http.Request, _ policy.Principal) {
	if err := h.origins.Check(r); err != nil {
		h.Refuse(w, r, errOrigin)
		return
	}
	in, err := readCredentials(w, r)
	if err != nil {
		h.Refuse(w, r, err)
		return
	}
	p, err := h.check(r, in)
	if err != nil {
		h.refuseLogin(w, r, in, err)
		return
	}
	session, secret, err := h.open(w, r, identity.NewSession{Principal: p, Kind: in.Kind})
	switch {
	case err != nil:
		h.refuseLogin(w, r, in, err)
	case in.form:
		redirect(w, goOn(r, in.next))
	default:
		h.answerLogin(w, r, p, session, secret)
	}
}

func (h *Handler) answerLogin(w http.ResponseWriter, r *http.Request, p policy.Principal, s identity.Session, secret identity.Secret) {
	warnings, err := h.Service.Warnings(r.Context(), p)
	if err != nil {
		h.trouble("looking for warnings", err) // they are no reason to throw the session away
	}
	out := loggedIn{User: s.User, Role: p.Role, Kind: s.Kind, SessionID: s.ID, Expires: s.Expires, Warnings: warnings}
	if s.Kind == identity.APISession {
		out.Token = secret.Reveal()
	}
	writeJSON(w, out)
}

// readCredentials reads the body; a query string is never looked at, because it ends up in logs.
func readCredentials(w http.ResponseWriter, r *http.Request) (credentials, error) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return credentials{}, errMediaType
	}
	var in credentials
	switch media {
	case "application/x-www-form-urlencoded":
		if err := r.ParseForm(); err != nil {
			return in, invalid(err, "the form cannot be read")
		}
		in = credentials{
			Token: identity.Secret(strings.TrimSpace(r.PostForm.Get("token"))),
			User:  strings.TrimSpace(r.PostForm.Get("user")), Password: identity.Secret(r.PostForm.Get("password")),
			Kind: identity.WebSession, next: r.PostForm.Get("next"), form: true,
		}
		return in, nil
	case "application/json":
		doc, err := io.ReadAll(r.Body)
		if err != nil {
			return in, invalid(err, "the body cannot be read")
		}
		if err := strictjson.Check(doc); err != nil {
			return in, invalid(err, "body: "+err.Error())
		}
		if err := jsonv2.Unmarshal(doc, &in, jsonv2.RejectUnknownMembers(true)); err != nil {
			return in, invalid(err, `the body is not {"token"} or {"user", "password"}, with "kind" if you like`)
		}
		switch in.Kind {
		case "":
			in.Kind = identity.WebSession
		case identity.WebSession, identity.APISession:
		default:
			return in, invalid(nil, "kind: want web or api")
		}
		return in, nil
	}
	return in, errMediaType
}

// invalid is a body that says nothing, unless err is about its size.
func invalid(err error, detail string) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return err
	}
	return &identity.Refused{Status: http.StatusUnprocessableEntity, Code: "invalid_request", Detail: detail, Reason: "invalid_request"}
}

// check finds out whose the credentials are.
func (h *Handler) check(r *http.Request, in credentials) (policy.Principal, error) {
	switch {
	case in.Token != "" && (in.User != "" || in.Password != ""):
		return policy.Principal{}, invalid(nil, "send a token, or a user name and a password, not both")
	case in.Token != "" && h.Tokens:
		return h.checkToken(r.Context(), in.Token)
	case in.User != "" && h.Passwords != nil:
		return h.Passwords.Check(r.Context(), in.User, in.Password.Reveal(), identity.Address(r))
	}
	return policy.Principal{}, invalid(nil, h.wanted())
}

// wanted says what logs in here.
func (h *Handler) wanted() string {
	switch {
	case h.Tokens && h.Passwords != nil:
		return "Fill in a user name and a password, or a token."
	case h.Tokens:
		return "Fill in a token."
	case h.Passwords != nil:
		return "Fill in a user name and a password."
	}
	return "Neither tokens nor passwords log in here: use an identity provider."
}

// checkToken asks the provider of tokens, as if the token had been sent with each request. The
// secret of a session is no token: what it opens would not end with it.
func (h *Handler) checkToken(ctx context.Context, token identity.Secret) (policy.Principal, error) {
	r := (&http.Request{Header: http.Header{"Authorization": {"Bearer " + token.Reveal()}}}).WithContext(ctx)
	p, outcome, err := h.tokens.Authenticate(r)
	if outcome == identity.NotMine || outcome == identity.Yes && p.SessionID != "" {
		return policy.Principal{}, errNotToken
	}
	return p, err
}

// open opens the session. A browser gets it as a cookie, and the session that the browser had
// before ends: nobody who knew that one can use what is done from now on.
func (h *Handler) open(w http.ResponseWriter, r *http.Request, n identity.NewSession) (identity.Session, identity.Secret, error) {
	if n.Kind == identity.WebSession {
		if old, outcome, _ := h.cookie.Authenticate(r); outcome == identity.Yes {
			_, err := h.Service.Logout(r.Context(), old, old.User, old.SessionID)
			if err != nil && !errors.Is(err, identity.ErrSessionNotFound) {
				return identity.Session{}, "", fmt.Errorf("ending the session before: %w", err)
			}
		}
	}
	n.Principal.Address = identity.Address(r)
	n.Lifetime, n.Agent = h.Lifetime, r.UserAgent()
	session, secret, err := h.Service.Login(r.Context(), n)
	if err == nil && n.Kind == identity.WebSession {
		setCookie(w, r, session, secret)
	}
	return session, secret, err
}

// refuseLogin answers a login that failed: the page again, or a problem.
func (h *Handler) refuseLogin(w http.ResponseWriter, r *http.Request, in credentials, err error) {
	if refused, ok := errors.AsType[*identity.Refused](err); ok && in.Token != "" {
		h.recordFailure(r, refused.Reason)
	}
	if !in.form {
		h.Refuse(w, r, err)
		return
	}
	p := h.explain(w, err)
	h.page(w, r, p.Status, "login", h.form(r, in.User, in.next, p.Detail, true))
}

// recordFailure queues the record of a token that did not log in; [identity.Passwords] does it
// for passwords.
func (h *Handler) recordFailure(r *http.Request, reason string) {
	e := audit.Event{
		Type: audit.LoginFailed, Address: identity.Address(r), Action: policy.SourceToken,
		Reasons: []string{reason},
	}
	if err := h.Audit.Queue(context.WithoutCancel(r.Context()), e); err != nil {
		h.trouble("recording a login that failed", err)
	}
}

// Enter opens a session for somebody whom an identity provider has let in, and goes on to next.
// It answers with a page that goes on by itself: a redirect would be the last of a chain that
// another site began, to whose end browsers send no SameSite=Strict cookie.
func (h *Handler) Enter(w http.ResponseWriter, r *http.Request, who identity.External, up identity.Upstream, next string) {
	p, err := h.Service.Admit(r.Context(), who)
	if err == nil {
		_, _, err = h.open(w, r, identity.NewSession{Principal: p, Kind: identity.WebSession, Upstream: &up})
	}
	if err != nil {
		h.Refuse(w, r, identity.RefusePerson(err))
		return
	}
	h.page(w, r, http.StatusOK, "onward", onward{Title: "You are logged in", To: goOn(r, next)})
}

func writeJSON(w http.ResponseWriter, answer any) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	_ = json.NewEncoder(w).Encode(answer) // the client may be gone
}

var (
	errOrigin = &identity.Refused{
		Status: http.StatusForbidden, Code: "cross_origin", Reason: "cross_origin",
		Detail: "A web page of another origin sent this. Add the origin to cors.origins to trust it.",
	}
	errNotToken = &identity.Refused{
		Status: http.StatusUnauthorized, Code: "token_unknown", Reason: "not_a_token",
		Detail: "That is not a token of this service.",
	}
	errMediaType = &identity.Refused{
		Status: http.StatusUnsupportedMediaType, Code: "unsupported_media_type", Reason: "unsupported_media_type",
		Detail: "Send application/json or application/x-www-form-urlencoded.",
	}
)
