// Package web is where people log in and out with a browser, and where everybody asks for and
// ends sessions: the pages and the HTTP API of identities, below one prefix.
//
//	h, err := web.New(web.Config{Service: service, Chain: chain, Prefix: "/auth", …})
//	if h.Serves(r.URL.Path) {
//		h.ServeHTTP(w, r) // with a principal in the context unless h.Open(r.URL.Path)
//	}
//
//	GET    /login            the page
//	POST   /login            a form → 303; JSON {"token"} or {"user", "password"}, "kind"? → 200
//	POST   /logout           ends the session it is sent with
//	GET    /account          a page with one's sessions; an admin's shows everybody's
//	GET    /whoami           → 200, the principal
//	GET    /sessions         [?user=NAME or ?all=true, for admins] → 200 {"sessions": [Session…]}
//	DELETE /sessions         ends all of one's own → 200 {"ended": [Session…]}
//	DELETE /sessions/{id}    ends one of them → 200 {"ended": [Session…]}
//	POST   /sessions/end     a form with id (all when empty) and user → 303
//	GET    /oidc/{name}/…    logging in with an identity provider
//	       /users/…          [adminapi.Handler]
//
// # What the pages hold to
//
// They need no script and load nothing: one style sheet stands in the page, and the content
// security policy allows its hash and nothing else. They are never stored, framed or referred
// from. A login always makes a new session and ends the one that the browser had before. It goes
// on to a path of this host only, whatever the parameter next says, and no answer to a failed
// login tells whether there is such a user. Every request that a browser's cookie would
// authenticate, and the login itself, is refused when a page of another origin made it, unless
// that origin is trusted.
//
// The session's secret is in the cookie [identity.SessionCookie] only: HttpOnly, SameSite=Strict
// (so that a chain of redirects that began elsewhere ends with a page that goes on by itself),
// and Secure when the request came over TLS. A session of kind api is for programs: its secret
// is in the answer and works as a Bearer token only.
//
// A [Handler] is safe for concurrent use.
package web
