package adminapi

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/svc-gateway/svc/internal/strictjson"
	"github.com/svc-gateway/svc/policy/identity"
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
		return fmt.Errorf("%w: body: %w", identity.ErrInvalid, err)
	}
	err = json.Unmarshal(doc, to, json.RejectUnknownMembers(true))
	if e, ok := errors.AsType[*json.SemanticError](err); ok {
		what := "wrong type"
		if errors.Is(err, json.ErrUnknownName) {
			what = "unknown key"
		}
		return fmt.Errorf("%w: body: %s at %q", identity.ErrInvalid, what, e.JSONPointer)
	}
	return err
}
