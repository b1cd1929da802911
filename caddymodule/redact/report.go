package redact

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/caddymodule/metric"
	"github.com/svc-gateway/svc/scanner/redact"
)

// maxPlaces is the number of places of one response that are logged.
const maxPlaces = 16

// newFound returns the counter of what was found. All handlers of a configuration share one.
func newFound(r *prometheus.Registry) (*prometheus.CounterVec, error) {
	return metric.Register(r, prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "svc", Subsystem: "redact", Name: "total",
		Help: "Secrets found in responses, by rule, by where they stood (header, body) and by mode (redact, observe).",
	}, []string{"rule", "place", "mode"}))
}

// report is what was found in one response. It never holds a value.
type report struct {
	handler *Handler
	header  string // the field that is being read; empty: the body
	rules   map[string]int
	places  []string
	token   bool // the access token of an OAuth answer was among it
}

// note takes a finding.
func (p *report) note(f redact.Finding) {
	place := "body"
	if p.header != "" {
		place = "header"
	}
	if p.handler.found != nil {
		p.handler.found.WithLabelValues(f.Rule, place, p.handler.Mode).Inc()
	}
	p.token = p.token || f.Path == "/access_token"
	if p.handler.Mode != observe {
		return
	}
	if p.rules == nil {
		p.rules = make(map[string]int)
	}
	p.rules[f.Rule]++
	where := place
	switch {
	case p.header != "":
		where = "header " + p.header
	case f.Path != "":
		where = "body " + redact.Text(f.Path) // a key may be a secret
	}
	if len(p.places) < maxPlaces && !slices.Contains(p.places, where) {
		p.places = append(p.places, where)
	}
}

// log writes what would have been taken.
func (p *report) log(r *http.Request, status int) {
	if len(p.rules) == 0 {
		return
	}
	rules := make([]string, 0, len(p.rules))
	for _, name := range slices.Sorted(maps.Keys(p.rules)) {
		rules = append(rules, fmt.Sprintf("%s×%d", name, p.rules[name]))
	}
	p.handler.logger.Info("would be redacted",
		zap.String("method", r.Method), zap.String("path", r.URL.Path), zap.Int("status", status),
		zap.Strings("rules", rules), zap.Strings("where", p.places))
}
