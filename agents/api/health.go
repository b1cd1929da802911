package api

import "net/http"

func (h *Handler) health(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, Health{Status: "healthy", Service: Service})
}

// healthDetails answers whether or not something is degraded: the service is there.
func (h *Handler) healthDetails(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	writeJSON(w, h.opts.Health())
}
