// Package adminapi is the management of users over HTTP: [Handler] serves what [identity.Admin] can
// do, and [Client] is an identity.Admin that asks such a handler.
//
//	mux.Handle("/identity/", http.StripPrefix("/identity", adminapi.Handler(service)))
//	admin := adminapi.NewClient(httpClient, "http://service/identity")
//
//	GET    /users                      → 200 {"users": [Account…]}
//	POST   /users                      {"name", "role", "expires"?} → 201 {"user", "token"}
//	PATCH  /users/{name}               {"role"?, "disabled"?, "expires"?} → 200 {"user"}
//	DELETE /users/{name}               → 200 {"user"}
//	POST   /users/{name}/tokens        {"name", "role"?, "expires"?} → 201 {"token", "info": Token}
//	POST   /users/{name}/rotate        {"token"?, "grace"?} → 200 {"token", "info": Token}
//	DELETE /users/{name}/tokens        → 200 {"revoked": [Token…]}
//	DELETE /users/{name}/tokens/{id}   → 200 {"revoked": [Token…]}, by id or name
//	GET    /sessions                   ?user=… → 200 {"sessions": [Session…]}
//	DELETE /users/{name}/sessions      → 200 {"ended": [Session…]}
//	DELETE /users/{name}/sessions/{id} → 200 {"ended": [Session…]}
//	GET    /lockouts                   → 200 {"lockouts": [Lockout…]}
//	DELETE /lockouts/{who}             → 200 {"unlocked": [Lockout…]}, of a user or an address
//
// Whoever is no admin is refused before the request's body is read, and that they tried is recorded.
// Unknown and duplicate keys are errors; errors are problem details, whose codes the client turns
// back into the sentinels of package identity. Both ends are safe for concurrent use.
package adminapi

import (
	"encoding/json"
	"net/http"

	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

// maxRequest bounds the body of an administrative request, in bytes.
const maxRequest = 64 << 10

// routes are the operations of the handler.
var routes = []struct {
	method, path, summary string
	serve                 func(identity.Admin, *http.Request) (int, any, error)
}{
	{"GET", "/users", "All users with their tokens", listUsers},
	{"POST", "/users", "Add a user; the answer has the first token", addUser},
	{"PATCH", "/users/{name}", "Change role, end or disabledness", updateUser},
	{"DELETE", "/users/{name}", "Remove a user", removeUser},
	{"POST", "/users/{name}/tokens", "Add a named token", addToken},
	{"POST", "/users/{name}/rotate", "Replace a token, with an overlap if wanted", rotateToken},
	{"DELETE", "/users/{name}/tokens", "End all tokens and sessions of a user", revokeToken},
	{"DELETE", "/users/{name}/tokens/{id}", "End one token", revokeToken},
	{"GET", "/sessions", "The sessions of a user, or all", listSessions},
	{"DELETE", "/users/{name}/sessions", "End all sessions of a user", endSessions},
	{"DELETE", "/users/{name}/sessions/{id}", "End one session of a user", endSessions},
	{"GET", "/lockouts", "Who is locked out", listLockouts},
	{"DELETE", "/lockouts/{who}", "Let a user or an address try again", unlock},
}

// Endpoints lists what the handler serves, and that only admins may.
func Endpoints() []policy.Endpoint {
	list := make([]policy.Endpoint, len(routes))
	for i, rte := range routes {
		list[i] = policy.Endpoint{Method: rte.method, Path: rte.path, Action: policy.AdminAction, Summary: rte.summary}
	}
	return list
}

// Handler returns the interface on the service s. The actor is the principal in the request's
// context; who may reach it with which principal is up to the one who mounts it.
func Handler(s *identity.Service) http.Handler {
	mux := http.NewServeMux()
	for _, rte := range routes {
		mux.HandleFunc(rte.method+" "+rte.path, func(w http.ResponseWriter, r *http.Request) {
			actor, _ := policy.PrincipalFrom(r.Context())
			// Before the body is looked at: what is wrong with it is nobody else's business.
			if err := s.RequireAdmin(r.Context(), actor, rte.method+" "+rte.path, r.PathValue("name")); err != nil {
				problem.Write(w, r, toProblem(err))
				return
			}
			answer(w, r, s.As(actor), rte.serve)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		problem.Write(w, r, problem.Problem{Status: http.StatusNotFound, Detail: "There is nothing at " + r.URL.Path + "."})
	})
	return mux
}

func answer(w http.ResponseWriter, r *http.Request, a identity.Admin, serve func(identity.Admin, *http.Request) (int, any, error)) {
	r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
	status, body, err := serve(a, r)
	if err != nil {
		problem.Write(w, r, toProblem(err))
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client may be gone
}
