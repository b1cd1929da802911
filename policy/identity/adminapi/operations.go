package adminapi

import (
	"fmt"
	"net/http"
	"time"

	"github.com/svc-gateway/svc/policy/identity"
)

func listUsers(a identity.Admin, r *http.Request) (int, any, error) {
	accounts, err := a.Users(r.Context())
	return http.StatusOK, usersBody{accounts}, err
}

func addUser(a identity.Admin, r *http.Request) (int, any, error) {
	var in addUserBody
	if err := decode(r, &in); err != nil {
		return 0, nil, err
	}
	expires, err := end(in.Expires)
	if err != nil {
		return 0, nil, err
	}
	user, secret, err := a.AddUser(r.Context(), identity.AddUser{Name: in.Name, Role: in.Role, Expires: expires})
	return http.StatusCreated, addedBody{user, secret.Reveal()}, err
}

func updateUser(a identity.Admin, r *http.Request) (int, any, error) {
	var in updateUserBody
	if err := decode(r, &in); err != nil {
		return 0, nil, err
	}
	u := identity.UpdateUser{Role: in.Role, Disabled: in.Disabled}
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

func removeUser(a identity.Admin, r *http.Request) (int, any, error) {
	user, err := a.RemoveUser(r.Context(), r.PathValue("name"))
	return http.StatusOK, userBody{user}, err
}

func addToken(a identity.Admin, r *http.Request) (int, any, error) {
	var in addTokenBody
	if err := decode(r, &in); err != nil {
		return 0, nil, err
	}
	expires, err := end(in.Expires)
	if err != nil {
		return 0, nil, err
	}
	token, secret, err := a.AddToken(r.Context(), r.PathValue("name"), identity.AddToken{Name: in.Name, Role: in.Role, Expires: expires})
	return http.StatusCreated, newTokenBody{secret.Reveal(), token}, err
}

func rotateToken(a identity.Admin, r *http.Request) (int, any, error) {
	var in rotateBody
	if err := decode(r, &in); err != nil {
		return 0, nil, err
	}
	var grace time.Duration
	if in.Grace != "" {
		var err error
		if grace, err = time.ParseDuration(in.Grace); err != nil {
			return 0, nil, fmt.Errorf("%w: grace: cannot read %q; want a duration such as 24h", identity.ErrInvalid, in.Grace)
		}
	}
	token, secret, err := a.RotateToken(r.Context(), r.PathValue("name"), in.Token, grace)
	return http.StatusOK, newTokenBody{secret.Reveal(), token}, err
}

func revokeToken(a identity.Admin, r *http.Request) (int, any, error) {
	revoked, err := a.RevokeToken(r.Context(), r.PathValue("name"), r.PathValue("id"))
	return http.StatusOK, revokedBody{orEmpty(revoked)}, err
}

func listSessions(a identity.Admin, r *http.Request) (int, any, error) {
	sessions, err := a.Sessions(r.Context(), r.URL.Query().Get("user"))
	return http.StatusOK, sessionsBody{orEmpty(sessions)}, err
}

func endSessions(a identity.Admin, r *http.Request) (int, any, error) {
	ended, err := a.EndSessions(r.Context(), r.PathValue("name"), r.PathValue("id"))
	return http.StatusOK, endedBody{orEmpty(ended)}, err
}

func listLockouts(a identity.Admin, r *http.Request) (int, any, error) {
	lockouts, err := a.Lockouts(r.Context())
	return http.StatusOK, lockoutsBody{orEmpty(lockouts)}, err
}

func unlock(a identity.Admin, r *http.Request) (int, any, error) {
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
	return identity.ParseExpiry(s, time.Now())
}
