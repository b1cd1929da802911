package auth

import (
	"cmp"
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/credentials"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

// authorize finds out who sends the request and whether they may, or answers it.
func (h *Handler) authorize(rec *recorder, r *http.Request) (p policy.Principal, ok bool) {
	var by, outcome string
	if err := h.audit.Healthy(r.Context()); err != nil {
		outcome = h.unaudited(rec, r, err)
	} else if p, by, err = h.chain.Decide(r); err != nil {
		outcome = h.refuse(rec, r, err)
	} else {
		p.RequestID = rec.id[0]
		rec.sentBy(p, by)
		placeholders(r, p)
		outcome = h.allow(rec, r, p)
	}
	h.count(r.Context(), cmp.Or(by, nobody), outcome)
	return p, outcome == succeeded
}

// allow lets a principal pass who does not send too much and has the role, or answers.
func (h *Handler) allow(rec *recorder, r *http.Request, p policy.Principal) (outcome string) {
	if outcome := h.limit(rec, r, p); outcome != succeeded {
		return outcome
	}
	if !h.permits(p) && !h.web.Serves(r.URL.Path) { // nobody is kept from their own sessions
		rec.reason = roleInsufficient
		h.forbid(rec, r, p)
		return roleInsufficient
	}
	if !h.web.Serves(r.URL.Path) {
		if outcome := h.ruled(rec, r, p); outcome != succeeded {
			return outcome
		}
	}
	if err := h.users.NoteAddress(r.Context(), p); err != nil {
		h.logger.Error("accounting for a request", zap.Error(err))
	}
	return succeeded
}

const (
	userPlaceholder = "http.auth.user.id" // what Caddy's access log calls user_id
	rolePlaceholder = "http.auth.user.role"
)

// placeholders tells logs who sends the request. They are looked up when somebody asks, because
// setting them makes the map of each request's placeholders grow.
func placeholders(r *http.Request, p policy.Principal) {
	repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	if !ok {
		return
	}
	user, role := p.User, string(p.Role)
	if _, said := repl.Get(userPlaceholder); said { // what was said before would be found first
		repl.Set(userPlaceholder, user)
		repl.Set(rolePlaceholder, role)
		return
	}
	repl.Map(func(name string) (any, bool) {
		switch name {
		case userPlaceholder:
			return user, true
		case rolePlaceholder:
			return role, true
		}
		return nil, false
	})
}

// again is ServeHTTP behind another svc_auth, which has done all but what differs here.
func (h *Handler) again(w http.ResponseWriter, r *http.Request, p policy.Principal, next caddyhttp.Handler) error {
	if !h.permits(p) {
		h.forbid(w, r, p)
		return nil
	}
	placeholders(r, p)
	h.reserved.stripSpellings(r.Header)
	h.reserved.stripTrailers(r)
	return next.ServeHTTP(w, h.prepare(r, p))
}

// prepare readies an authenticated request for the next handler.
func (h *Handler) prepare(r *http.Request, p policy.Principal) *http.Request {
	ctx := policy.WithPrincipal(credentials.Note(r.Context(), r.Header), p)
	if h.stripCredentials(r.Header, external(p)); !h.PassCredentials {
		r.URL = identity.StripTicket(r.URL)
	}
	if h.IdentityHeaders != nil {
		h.IdentityHeaders.set(r.Header, p)
	}
	if h.Assertion != nil {
		h.assert(r, p)
	}
	return r.WithContext(ctx)
}

// external reports whether the request's Authorization was a credential of another source, such
// as a password of the directory, that let the request in.
func external(p policy.Principal) bool {
	return p.SessionID == "" && (p.Source == policy.SourceOIDC || p.Source == policy.SourceLDAP)
}

// stripCredentials removes what was meant for this stage: our own forms always, a password or a
// provider's token in Authorization when foreign.
func (h *Handler) stripCredentials(header http.Header, foreign bool) {
	if h.PassCredentials {
		return
	}
	if foreign {
		header.Del("Authorization")
	}
	identity.Strip(header)
	stripCookie(header, identity.SessionCookie)
}
