package langgraph

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/internal/health"
	"github.com/svc-gateway/svc/policy"
)

// MetricsQuery are the query parameters of GET /metrics.
type MetricsQuery struct {
	Format string `query:"format" json:"-" enum:"prometheus,json" default:"prometheus"`
}

// metricsRoutes are the endpoints for monitors.
func (d *dialect) metricsRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/metrics", Action: policy.AdminAction, Summary: "How each part of the service is, for monitors",
			Request: new(MetricsQuery), Success: rest.Reply{Status: http.StatusOK, Media: "text/plain", Body: new(string)}, Faults: []int{422}, Serve: d.metrics,
		},
	}
}

func (d *dialect) metrics(w http.ResponseWriter, r *http.Request) {
	details := d.Options.Health()
	switch r.URL.Query().Get("format") {
	case "json":
		rest.WriteJSON(w, details)
	case "", "prometheus":
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		// A client that has gone is told nothing.
		_, _ = w.Write([]byte(exposition(details)))
	default:
		d.Fail(w, r, rest.Invalid("format: must be prometheus or json"))
	}
}

// exposition is how the parts of the service are in the text format of Prometheus.
func exposition(details health.Details) string {
	var b strings.Builder
	gauge := func(name, help string) { fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name) }
	gauge("svc_info", "The version of the service.")
	fmt.Fprintf(&b, "svc_info{version=%q,node=%q} 1\n", details.Version, details.Node)
	gauge("svc_uptime_seconds", "Seconds since the service was started.")
	fmt.Fprintf(&b, "svc_uptime_seconds %d\n", details.Uptime)
	gauge("svc_part_ok", "Whether a part works as it should: 1, or 0 while it is degraded.")
	for _, name := range slices.Sorted(maps.Keys(details.Parts)) {
		p, ok := details.Parts[name], 0
		if p.Status == health.OK {
			ok = 1
		}
		fmt.Fprintf(&b, "svc_part_ok{part=%q,kind=%q} %d\n", name, p.Kind, ok)
	}
	return b.String()
}
