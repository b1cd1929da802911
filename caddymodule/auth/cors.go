package auth

import (
	"net/http"

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
			"Retry-After", "X-Pagination-Total", "X-Request-Id",
		},
		MaxAge: 600,
	})
}

// corsFields are the fields of an answer that this stage decides about.
var corsFields = [...]string{
	"Access-Control-Allow-Origin", "Access-Control-Expose-Headers",
	"Access-Control-Allow-Credentials",
}
