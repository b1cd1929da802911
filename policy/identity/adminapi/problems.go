package adminapi

import (
	"errors"
	"net/http"

	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy/identity"
)

// answers says how each error of [identity.Admin] looks on the wire. [Client] turns the code back into
// the error.
var answers = []struct {
	err    error
	status int
	code   string
}{
	{errMediaType, http.StatusUnsupportedMediaType, "unsupported_media_type"},
	{identity.ErrForbidden, http.StatusForbidden, "forbidden"},
	{identity.ErrUserExists, http.StatusConflict, "user_exists"},
	{identity.ErrUserNotFound, http.StatusNotFound, "user_not_found"},
	{identity.ErrTokenNotFound, http.StatusNotFound, "token_not_found"},
	{identity.ErrTokenExists, http.StatusConflict, "token_exists"},
	{identity.ErrSessionNotFound, http.StatusNotFound, "session_not_found"},
	{identity.ErrLastAdmin, http.StatusConflict, "last_admin"},
	{identity.ErrConflict, http.StatusConflict, "conflict"},
	{identity.ErrInvalid, http.StatusUnprocessableEntity, "invalid_request"},
}

// toProblem is the answer to an error of [identity.Admin]. The text is shown: it names what the sender
// sent, or goes to an admin.
func toProblem(err error) problem.Problem {
	for _, a := range answers {
		if errors.Is(err, a.err) {
			return problem.Problem{Status: a.status, Code: a.code, Detail: err.Error()}
		}
	}
	if p, ok := problem.TooLarge(err); ok {
		return p
	}
	return problem.Problem{Status: http.StatusServiceUnavailable, Code: "identity_unavailable", Detail: err.Error()}
}

// fromProblem is the other direction of toProblem.
func fromProblem(p problem.Problem) error {
	for _, a := range answers {
		if a.code == p.Code {
			return &remoteError{p, a.err}
		}
	}
	return p
}

// remoteError is an error of the service, with its text.
type remoteError struct {
	problem  problem.Problem
	sentinel error
}

func (e *remoteError) Error() string {
	if e.problem.Detail == "" {
		return e.sentinel.Error()
	}
	return e.problem.Detail
}

func (e *remoteError) Unwrap() []error { return []error{e.problem, e.sentinel} }
