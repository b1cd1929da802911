package auth

import (
	"net/http"
	"slices"
	"strings"

	"github.com/rs/cors"

	"github.com/svc-gateway/svc/internal/settings"
)

// newCORS returns what answers preflights; nil when no origin is allowed. Origins that are all
// named may have their pages send the cookie of a session, which browsers send to the same site
// only (SameSite=Strict): those who are trusted to write must be able to read the answer. Where a
// pattern lets everybody read, nobody reads with somebody else's session.
func newCORS(s settings.Settings) *cors.Cors {
	origins := s.CORS.Origins
	if len(origins) == 0 {
		return nil
	}
	return cors.New(cors.Options{
		AllowCredentials: len(plainOrigins(origins)) == len(origins),
		AllowedOrigins:   origins,
		AllowedMethods: []string{
			http.MethodGet, http.MethodHead, http.MethodPost,
			http.MethodPut, http.MethodPatch, http.MethodDelete,
		},
		AllowedHeaders: []string{"*"},
		ExposedHeaders: []string{
			"Content-Location", "Location", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset",
			"Retry-After", "WWW-Authenticate", "X-Ignored-Fields", "X-Pagination-Next", "X-Pagination-Total", "X-Request-Id",
		},
		MaxAge: 600,
	})
}

// exposed is the field that names what pages of other origins may read.
const exposed = "Access-Control-Expose-Headers"

// corsFields are the fields of an answer that this stage decides about.
var corsFields = [...]string{"Access-Control-Allow-Origin", exposed, "Access-Control-Allow-Credentials"}

// keepCORS remembers the fields that are set by now, for the final header.
func (rec *recorder) keepCORS() {
	h := rec.Header()
	rec.cors = make(http.Header, len(corsFields))
	for _, name := range corsFields {
		rec.cors[name] = h[name]
	}
}

// decideCORS puts our fields in place of the next handler's. An origin that may read the answer may read
// what either of the two exposes.
func decideCORS(h, ours http.Header) {
	for name, values := range ours {
		switch {
		case values == nil:
			delete(h, name)
		case name == exposed:
			h[name] = union(values, h[name])
		default:
			h[name] = values
		}
	}
}

// union is a list of the names in lists of a header, each once.
func union(lists ...[]string) []string {
	var names []string
	for name := range strings.SplitSeq(strings.Join(slices.Concat(lists...), ","), ",") {
		name = strings.TrimSpace(name)
		if name != "" && !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) }) {
			names = append(names, name)
		}
	}
	return []string{strings.Join(names, ", ")}
}
