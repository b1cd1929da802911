package rest

import (
	"net/http"

	"github.com/google/uuid"

	"github.com/svc-gateway/svc/internal/problem"
)

// PathID is an id of the path, or the answer that it is none.
func PathID(w http.ResponseWriter, r *http.Request, name string) (string, bool) {
	id, ok := UUID(r.PathValue(name))
	if !ok {
		problem.Write(w, r, problem.Problem{
			Status: http.StatusUnprocessableEntity, Code: "invalid_" + name,
			Detail: name + ": must be a UUID such as 0190f5a4-7c3e-7b1a-9f6e-2d4c8a1b3e5f",
		})
	}
	return id, ok
}

// UUID is an id in the form in which ids are kept, false for what is none.
func UUID(text string) (string, bool) {
	parsed, err := uuid.Parse(text)
	if err != nil || len(text) != 36 {
		return "", false
	}
	return parsed.String(), true
}
