package identity

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
)

// maxRequest bounds the body of an administrative request, in bytes.
const maxRequest = 64 << 10

// adminRoutes are the operations of [Service.AdminHandler].
var adminRoutes = []struct {
	method, path, summary string
	serve                 func(Admin, *http.Request) (int, any, error)
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

// AdminEndpoints lists what [Service.AdminHandler] serves, and that only admins may.
func AdminEndpoints() []policy.Endpoint {
	list := make([]policy.Endpoint, len(adminRoutes))
	for i, rte := range adminRoutes {
		list[i] = policy.Endpoint{Method: rte.method, Path: rte.path, Action: policy.AdminAction, Summary: rte.summary}
	}
	return list
}

// AdminHandler returns the HTTP interface of [Admin]. The actor is the principal in the
// request's context; who may reach it with which principal is up to the one who mounts it.
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
// Unknown and duplicate keys are errors; errors are problem details.
func (s *Service) AdminHandler() http.Handler {
	mux := http.NewServeMux()
	for _, rte := range adminRoutes {
		mux.HandleFunc(rte.method+" "+rte.path, func(w http.ResponseWriter, r *http.Request) {
			actor, _ := policy.PrincipalFrom(r.Context())
			// Before the body is looked at: what is wrong with it is nobody else's business.
			if err := s.authorise(r.Context(), actor, change{action: rte.method + " " + rte.path, user: r.PathValue("name")}); err != nil {
				problem.Write(w, r, toProblem(err))
				return
			}
			s.serve(w, r, actor, rte.serve)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		problem.Write(w, r, problem.Problem{Status: http.StatusNotFound, Detail: "There is nothing at " + r.URL.Path + "."})
	})
	return mux
}

func (s *Service) serve(w http.ResponseWriter, r *http.Request, actor Actor, serve func(Admin, *http.Request) (int, any, error)) {
	r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
	status, answer, err := serve(s.As(actor), r)
	if err != nil {
		problem.Write(w, r, toProblem(err))
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer) // the client may be gone
}

func listUsers(a Admin, r *http.Request) (int, any, error) {
	accounts, err := a.Users(r.Context())
	return http.StatusOK, usersBody{accounts}, err
}

func addUser(a Admin, r *http.Request) (int, any, error) {
	var in addUserBody
	if err := decode(r, &in); err != nil {
		return 0, nil, err
	}
	expires, err := end(in.Expires)
	if err != nil {
		return 0, nil, err
	}
	user, secret, err := a.AddUser(r.Context(), AddUser{in.Name, in.Role, expires})
	return http.StatusCreated, addedBody{user, secret.Reveal()}, err
}

func updateUser(a Admin, r *http.Request) (int, any, error) {
	var in updateUserBody
	if err := decode(r, &in); err != nil {
		return 0, nil, err
	}
	u := UpdateUser{Role: in.Role, Disabled: in.Disabled}
	if in.Expires != nil {
		expires, err := end(*in.Expires)
		if err != nil {
			return 0, nil, err
		}
		u.Expires = &expires
	}
	user, err := a.UpdateUser(r.Context(), r.PathValue("name"), u)
	return http.StatusOK, userBody{user}, err
}

func removeUser(a Admin, r *http.Request) (int, any, error) {
	user, err := a.RemoveUser(r.Context(), r.PathValue("name"))
	return http.StatusOK, userBody{user}, err
}

func addToken(a Admin, r *http.Request) (int, any, error) {
	var in addTokenBody
	if err := decode(r, &in); err != nil {
		return 0, nil, err
	}
	expires, err := end(in.Expires)
	if err != nil {
		return 0, nil, err
	}
	token, secret, err := a.AddToken(r.Context(), r.PathValue("name"), AddToken{in.Name, in.Role, expires})
	return http.StatusCreated, newTokenBody{secret.Reveal(), token}, err
}

func rotateToken(a Admin, r *http.Request) (int, any, error) {
	var in rotateBody
	if err := decode(r, &in); err != nil {
		return 0, nil, err
	}
	var grace time.Duration
	if in.Grace != "" {
		var err error
		if grace, err = time.ParseDuration(in.Grace); err != nil {
			return 0, nil, fmt.Errorf("%w: grace: cannot read %q; want a duration such as 24h", ErrInvalid, in.Grace)
		}
	}
	token, secret, err := a.RotateToken(r.Context(), r.PathValue("name"), in.Token, grace)
	return http.StatusOK, newTokenBody{secret.Reveal(), token}, err
}

func revokeToken(a Admin, r *http.Request) (int, any, error) {
	revoked, err := a.RevokeToken(r.Context(), r.PathValue("name"), r.PathValue("id"))
	return http.StatusOK, revokedBody{orEmpty(revoked)}, err
}

func listSessions(a Admin, r *http.Request) (int, any, error) {
	sessions, err := a.Sessions(r.Context(), r.URL.Query().Get("user"))
	return http.StatusOK, sessionsBody{orEmpty(sessions)}, err
}

func endSessions(a Admin, r *http.Request) (int, any, error) {
	ended, err := a.EndSessions(r.Context(), r.PathValue("name"), r.PathValue("id"))
	return http.StatusOK, endedBody{orEmpty(ended)}, err
}

func listLockouts(a Admin, r *http.Request) (int, any, error) {
	lockouts, err := a.Lockouts(r.Context())
	return http.StatusOK, lockoutsBody{orEmpty(lockouts)}, err
}

func unlock(a Admin, r *http.Request) (int, any, error) {
	unlocked, err := a.Unlock(r.Context(), r.PathValue("who"))
	return http.StatusOK, unlockedBody{orEmpty(unlocked)}, err
}

// orEmpty makes no list an empty one, which is [] in JSON.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// end reads an end that may be missing.
func end(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	return ParseExpiry(s, time.Now())
}
