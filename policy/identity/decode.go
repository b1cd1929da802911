package identity

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/strictjson"
)

var errMediaType = errors.New("the body must be JSON, sent with Content-Type: application/json")

// decode reads a body strictly: one object, no unknown and no duplicate keys.
func decode(r *http.Request, to any) error {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return errMediaType
	}
	doc, err := io.ReadAll(r.Body)
	if err != nil {
		return fmt.Errorf("reading the body: %w", err)
	}
	if err := strictjson.Check(doc); err != nil {
		return fmt.Errorf("%w: body: %w", ErrInvalid, err)
	}
	err = json.Unmarshal(doc, to, json.RejectUnknownMembers(true))
	if e, ok := errors.AsType[*json.SemanticError](err); ok {
		what := "wrong type"
		if errors.Is(err, json.ErrUnknownName) {
			what = "unknown key"
		}
		return fmt.Errorf("%w: body: %s at %q", ErrInvalid, what, e.JSONPointer)
	}
	return err
}

// answers says how each error of [Admin] looks on the wire. [Client] turns the code back into
// the error.
var answers = []struct {
	err    error
	status int
	code   string
}{
	{errMediaType, http.StatusUnsupportedMediaType, "unsupported_media_type"},
	{ErrForbidden, http.StatusForbidden, "forbidden"},
	{ErrUserExists, http.StatusConflict, "user_exists"},
	{ErrUserNotFound, http.StatusNotFound, "user_not_found"},
	{ErrTokenNotFound, http.StatusNotFound, "token_not_found"},
	{ErrTokenExists, http.StatusConflict, "token_exists"},
	{ErrSessionNotFound, http.StatusNotFound, "session_not_found"},
	{ErrLastAdmin, http.StatusConflict, "last_admin"},
	{ErrConflict, http.StatusConflict, "conflict"},
	{ErrInvalid, http.StatusUnprocessableEntity, "invalid_request"},
}

// toProblem is the answer to an error of [Admin]. The text is shown: it names what the sender
// sent, or goes to an admin.
func toProblem(err error) problem.Problem {
	for _, a := range answers {
		if errors.Is(err, a.err) {
			return problem.Problem{Status: a.status, Code: a.code, Detail: err.Error()}
		}
	}
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return problem.Problem{
			Status: http.StatusRequestEntityTooLarge, Code: "body_too_large",
			Detail: fmt.Sprintf("The body has more than %d bytes.", tooLarge.Limit),
		}
	}
	return problem.Problem{Status: http.StatusServiceUnavailable, Code: "identity_unavailable", Detail: err.Error()}
}
