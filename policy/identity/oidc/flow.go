package oidc

import (
	"context"
	"errors"
	"net/http"

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
	Sessions func(context.Context, identity.UpstreamLogout) (ended int, err error)
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

// Buttons returns what the login page offers.
func (f *Flow) Buttons() []Button { return f.Set.Buttons() }
