package auth

import (
	"net/http"

	"github.com/rs/cors"
)

// newCORS returns what answers preflights; nil when no origin is allowed. Browsers are not told
// to send cookies: an ambient credential of another origin is refused anyway, and API clients
// send a header.
func newCORS(origins []string) *cors.Cors {
	if len(origins) == 0 {
		return nil
	}
	return cors.New(cors.Options{
		AllowedOrigins: origins,
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
