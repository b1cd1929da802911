package redact

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/scanner/redact"
)

// maxPlaces is the number of places of one response that are logged.
const maxPlaces = 16

// report is what was found in one response. It never holds a value.
type report struct {
	handler *Handler
	request *http.Request
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
	p.handler.metrics.found(p.handler, p.request, f.Rule, place)
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
