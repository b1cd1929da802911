// Package mergepatch changes the arguments of a call as a person who approves it says: RFC 7396, merge patches
// of JSON, on objects only. Nothing in it has state.
package mergepatch

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/svc-gateway/svc/internal/strictjson"
)

// Errors of [Apply].
var (
	// ErrForm is matched when the patch is not a JSON object.
	ErrForm = errors.New("the patch must be a JSON object")
	// ErrRedacted is matched when the patch holds the marker of a redacted value: it was made from
	// what is shown, and would put the marker in the place of the secret.
	ErrRedacted = errors.New("the patch holds the marker REDACTED: leave out what is not to change")
)

// redactedMarker stands for a secret wherever arguments are shown.
const redactedMarker = "REDACTED"

// Apply applies an RFC 7396 merge patch to the arguments of a call, both JSON objects.
func Apply(arguments, patch string) (string, error) {
	changes, err := strictjson.Object([]byte(patch))
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrForm, err)
	}
	if holdsMarker(changes) {
		return "", ErrRedacted
	}
	if strings.TrimSpace(arguments) == "" {
		arguments = "{}"
	}
	args, err := strictjson.Object([]byte(arguments))
	if err != nil {
		return "", fmt.Errorf("reading the arguments: %w", err)
	}
	out, err := json.Marshal(merge(args, changes))
	if err != nil {
		return "", fmt.Errorf("encoding the arguments: %w", err)
	}
	return string(out), nil
}

// merge is the function MergePatch of RFC 7396, section 2.
func merge(target any, patch map[string]any) map[string]any {
	object, ok := target.(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	for name, v := range patch {
		switch v := v.(type) {
		case nil:
			delete(object, name)
		case map[string]any:
			object[name] = merge(object[name], v)
		default:
			object[name] = v
		}
	}
	return object
}

// holdsMarker reports whether a name or a string in v holds the marker.
func holdsMarker(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, redactedMarker)
	case []any:
		for _, e := range v {
			if holdsMarker(e) {
				return true
			}
		}
	case map[string]any:
		for name, e := range v {
			if strings.Contains(name, redactedMarker) || holdsMarker(e) {
				return true
			}
		}
	}
	return false
}
