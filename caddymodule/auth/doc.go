// Package auth is the Caddy handler svc_auth: nobody gets past it without a principal.
//
//	example.com {
//		svc_auth {
//			require use
//			identity_headers
//		}
//		reverse_proxy localhost:8000
//	}
//
// For each request it
//
//   - gives the request an id, X-Request-Id, towards the client and the next handler;
//   - removes the identity headers a client sent, in any spelling that a server could take for
//     them;
//   - answers CORS preflights and adds the CORS fields, on errors too (setting cors.origins);
//   - refuses with 503 while the audit log cannot be written;
//   - asks the providers of the setting auth.mode, in order, and about the client's certificate
//     if the option client_certificate says so, and answers 401, 403, 429 after too many wrong
//     passwords or, when they cannot tell, 503, all as problem details (RFC 9457);
//   - takes a request out of the user's bucket (settings limits.requests_per_minute and
//     limits.requests_burst), and answers 429 when it is empty;
//   - checks the role if the option require says so;
//   - removes the credentials that were meant for us, and passes the request on with the typed
//     principal in its context (policy.PrincipalFrom) and the placeholders {http.auth.user.id}
//     and {http.auth.user.role}, with identity headers and a signed assertion if the options
//     say so;
//   - counts what became of it in the metric svc_auth_total{server,site,provider,outcome};
//   - queues one event of type request for the audit log when the status is known, for refused
//     requests as well.
//
// Only GET and HEAD of /health pass without a principal and without a record. The paths of the option
// open need no principal either: requests for them go on without one, whatever credential they show,
// cleaned in the same way and recorded. Below the prefix the
// handler answers itself, with package web: the login page, where browsers are sent that show no
// credential, sessions and users. With identity providers it also answers with the metadata of RFC 9728,
// in which MCP clients find them. A secret of ours counts in a header only, never in a query
// string.
//
// The placeholders are for logs. Whoever decides anything uses the principal: Caddy's vars can
// overwrite placeholders.
//
// A directive with a matcher has a [Cleaner] beside it, for the requests that it does not match. A handler
// does not see the requests of routes that it is not in. When a configuration starts that lets
// some of a site reach another server past the svc_auth of the same site, a warning says where.
//
// Behind another svc_auth only the options are applied, so that a part of a site can require
// more than the rest.
//
// [Matcher] is the request matcher svc_policy: an expression about the principal.
//
// [Provider] does a part of this for Caddy's own authentication directive. All types may be
// used by many requests at once.
package auth
