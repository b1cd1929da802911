package scan

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner"
)

const (
	// maxLogged bounds the log entries of one request.
	maxLogged = 20
	// maxRecorded bounds the findings of one request in the audit log.
	maxRecorded = 100
)

// report collects the findings of one request.
type report struct {
	replacer  *caddy.Replacer
	findings  []scanner.Finding
	count     int // findings in all; more than were kept for a body full of them
	published int // how many of them were told
}

func newReport(r *http.Request) *report {
	rep := &report{}
	rep.replacer, _ = r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	rep.place()
	return rep
}

// addText scans a whole body.
func (rep *report) addText(text []byte, decode func(string) string) {
	s := string(text)
	if !json.Valid(text) {
		rep.add(decode(s))
		return
	}
	eachString(s, rep.add)
}

// add scans one text. A finding that was there before, as happens where windows overlap, is not
// counted again.
func (rep *report) add(text string) {
	for _, f := range scanner.Scan(text) {
		if slices.ContainsFunc(rep.findings, func(o scanner.Finding) bool {
			return o.Rule == f.Rule && o.Excerpt == f.Excerpt
		}) {
			continue
		}
		rep.count++
		if len(rep.findings) < maxRecorded {
			rep.findings = append(rep.findings, f)
		}
	}
}

func (rep *report) categories() string {
	var names []string
	for _, f := range rep.findings {
		names = append(names, string(f.Category))
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ",")
}

// place sets the placeholders.
func (rep *report) place() {
	if rep.replacer != nil {
		rep.replacer.Set("http.svc_scan.count", rep.count)
		rep.replacer.Set("http.svc_scan.categories", rep.categories())
	}
}

// publish tells the log, the audit log and the placeholders what was found since it last did.
func (h *Handler) publish(r *http.Request, rep *report) {
	fresh := rep.findings[rep.published:]
	if len(fresh) == 0 {
		return
	}
	rep.published = len(rep.findings)
	rep.place()
	p, _ := policy.PrincipalFrom(r.Context())
	for i, f := range fresh {
		if i == maxLogged {
			h.logger.Warn("more injection findings in the same request body", zap.Int("count", rep.count))
			break
		}
		h.logger.Warn("injection finding in a request body",
			zap.String("category", string(f.Category)), zap.String("rule", f.Rule),
			zap.String("confidence", string(f.Confidence)), zap.String("user", p.User),
			zap.String("method", r.Method), zap.String("path", r.URL.Path))
	}
	findings, err := json.Marshal(fresh)
	if err != nil {
		h.logger.Error("recording an injection finding", zap.Error(err))
		return
	}
	event := audit.Event{
		Type: audit.Injection, User: p.User, Role: string(p.Role), TokenID: p.TokenID,
		Address: clientIP(r), Method: r.Method, Path: r.URL.Path, Findings: findings,
	}
	if err := h.audit.Queue(context.WithoutCancel(r.Context()), event); err != nil {
		h.logger.Error("recording an injection finding", zap.Error(err))
	}
}

func clientIP(r *http.Request) string {
	ip, _ := caddyhttp.GetVar(r.Context(), caddyhttp.ClientIPVarKey).(string)
	return ip
}
