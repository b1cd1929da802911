package web

import (
	"net/http"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
)

// jwks serves the keys that assertions are verified with. They are public.
func (h *Handler) jwks(w http.ResponseWriter, r *http.Request, _ policy.Principal) {
	keys, err := h.Keys()
	if err != nil {
		h.Log.Error("serving the keys of assertions", zap.Error(err))
		problem.Write(w, r, problem.Problem{
			Status: http.StatusServiceUnavailable, Code: "keys_unavailable",
			Detail: "The keys cannot be read at the moment; try again later.",
		})
		return
	}
	w.Header().Set("Content-Type", "application/jwk-set+json")
	w.Header().Set("Cache-Control", "public, max-age=300")
	_, _ = w.Write(keys) // a client that is gone needs no answer
}
