package rest

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// ignoredFields is where a client is told of members of its body that mean nothing here.
const ignoredFields = "X-Ignored-Fields"

// DecodeOpen is Decode for clients that send more than is asked for: an absent body is an empty object,
// members that are null are absent, also those of the objects config, command, checkpoint and ttl, and
// members that are not known are listed in the header X-Ignored-Fields of the answer.
func (s *Server) DecodeOpen(w http.ResponseWriter, r *http.Request, v any, limit int64, known map[string]bool) bool {
	if r.ContentLength == 0 && r.Header.Get("Content-Type") == "" {
		if err := s.Into([]byte("{}"), v); err != nil {
			s.Fail(w, r, err)
			return false
		}
		return true
	}
	return s.decode(w, r, v, limit, func(body []byte) ([]byte, error) {
		body, ignored := Open(body, known)
		if len(ignored) > 0 {
			w.Header().Set(ignoredFields, strings.Join(ignored, ", "))
		}
		return body, nil
	})
}

// nested are the members whose members may be null too.
var nested = []string{"config", "command", "checkpoint", "ttl"}

// Open takes out of an object what is null, and returns which of its members are not known.
func Open(body []byte, known map[string]bool) (doc []byte, ignored []string) {
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return body, nil
	}
	changed := dropNulls(members)
	for _, name := range nested {
		var inner map[string]json.RawMessage
		if members[name] != nil && json.Unmarshal(members[name], &inner) == nil && dropNulls(inner) {
			members[name], _ = json.Marshal(inner) // of raw values that were read: it has no error
			changed = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !known[name] {
			ignored = append(ignored, printable(name))
		}
	}
	if !changed {
		return body, ignored
	}
	doc, err := json.Marshal(members)
	if err != nil {
		return body, ignored
	}
	return doc, ignored
}

func dropNulls(members map[string]json.RawMessage) (changed bool) {
	for name, value := range members {
		if string(value) == "null" {
			delete(members, name)
			changed = true
		}
	}
	return changed
}

// printable is a name in a header.
func printable(name string) string {
	clean := strings.Map(func(c rune) rune {
		if c <= ' ' || c > '~' || c == ',' {
			return '_'
		}
		return c
	}, name)
	return clean[:min(len(clean), 64)]
}
