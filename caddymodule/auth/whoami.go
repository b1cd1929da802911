package auth

import (
	"encoding/json"
	"net/http"

	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
)

// whoami tells a client as whom it acts.
func whoami(w http.ResponseWriter, r *http.Request, p policy.Principal) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		problem.Write(w, r, problem.Problem{
			Status: http.StatusMethodNotAllowed, Code: "method_not_allowed",
			Detail: "Only GET and HEAD are served here.",
		})
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	// A client that is gone needs no answer.
	_ = json.NewEncoder(w).Encode(p)
}
