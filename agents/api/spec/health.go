package spec

import (
	"net/http"

	"github.com/svc-gateway/svc/agents/api/rest"
)

func (d *dialect) health(w http.ResponseWriter, _ *http.Request) {
	rest.WriteJSON(w, Health{Status: "healthy", Service: Service})
}

// healthDetails answers whether or not something is degraded: the service is there.
func (d *dialect) healthDetails(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	rest.WriteJSON(w, d.Options.Health())
}
