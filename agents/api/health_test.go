package api_test

import (
	"encoding/json"
	"testing"

	"github.com/svc-gateway/svc/internal/health"
)

// How things are inside is for admins.
func TestHealthDetails(t *testing.T) {
	s := newServer(t, parrot{})
	for user, want := range map[string]int{"": 401, "eve": 403, "ada": 403, "root": 200} {
		status, header, body := s.do(user, "GET", "/health/details", nil)
		if status != want {
			t.Errorf("%q: got %d, want %d: %s", user, status, want, body)
		}
		var d health.Details
		if err := json.Unmarshal([]byte(body), &d); want == 200 && (err != nil || d.Status != health.OK || d.Version != "test" || header.Get("Cache-Control") != "no-store") {
			t.Errorf("got %+v, %v, %v", d, err, header)
		}
	}
}
