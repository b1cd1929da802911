package scan

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/headername"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/inject"
)

const (
	// maxLogged bounds the log entries of one body.
	maxLogged = 20
	// maxRecorded bounds the findings of one body in the audit log.
	maxRecorded = 100
)

// side is where a body was going.
type side string

// The sides.
const (
	request  side = "request"
	response side = "response"
)

// prefix is how the placeholders of a side begin.
func (s side) prefix() string {
	if s == response {
		return "http.svc_scan.response."
	}
	return "http.svc_scan."
}

// report collects the findings of one body.
type report struct {
	handler   *Handler
	side      side
	replacer  *caddy.Replacer
	mu        sync.Mutex // a handler may read the body while it writes the answer
	findings  []scanner.Finding
	count     int // findings in all; more than were kept for a body full of them
	published int // how many of them were told
}

func (h *Handler) newReport(r *http.Request, s side) *report {
	rep := &report{handler: h, side: s}
	rep.replacer, _ = r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	rep.place()
	return rep
}

// scanBody scans a whole body: the strings of a JSON document that the fields name, else all of it.
func (rep *report) scanBody(body []byte, f *fields, decode func(string) string) {
	s := string(body)
	if !json.Valid(body) {
		rep.scanText(decode(s))
		return
	}
	f.walk(s, func(_ []string, value string, _ bool) { rep.scanText(value) })
}

// scanText scans one text.
func (rep *report) scanText(text string) { rep.collect(inject.Scan(text)) }

// collect keeps findings. One that was there before, as happens where windows overlap, is not
// counted again.
func (rep *report) collect(found []scanner.Finding) {
	if len(found) == 0 {
		return
	}
	rep.mu.Lock()
	defer rep.mu.Unlock()
	for _, f := range found {
		if slices.ContainsFunc(rep.findings, func(o scanner.Finding) bool {
			return o.Rule == f.Rule && o.Excerpt == f.Excerpt
		}) {
			continue
		}
		rep.count++
		if len(rep.findings) < maxRecorded {
			rep.findings = append(rep.findings, f)
		} else if f.Confidence == scanner.High { // many harmless ones must not hide it
			if i := slices.IndexFunc(rep.findings[rep.published:], low); i >= 0 {
				rep.findings[rep.published+i] = f
			}
		}
	}
}

func low(f scanner.Finding) bool { return f.Confidence == scanner.Low }

// concerned returns the categories found that an action is for.
func (rep *report) concerned(action string) []string {
	rep.mu.Lock()
	defer rep.mu.Unlock()
	return rep.handler.concerned(action, rep.findings)
}

// blocked returns an error when something was found that is to be blocked.
func (rep *report) blocked() error {
	if c := rep.concerned(actionBlock); len(c) > 0 {
		return &blockedError{categories: c, side: rep.side}
	}
	return nil
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
		rep.replacer.Set(rep.side.prefix()+"count", rep.count)
		rep.replacer.Set(rep.side.prefix()+"categories", rep.categories())
	}
}

// The headers that tell the next handler, or the client, of findings that are to be annotated.
const (
	countHeader      = "X-Svc-Scan-Count"
	categoriesHeader = "X-Svc-Scan-Categories"
)

var annotations = headername.Set(countHeader, categoriesHeader)

// unannotate removes what a client says was found, in every spelling: nobody but this stage does.
func unannotate(header http.Header) {
	for name := range header {
		if len(name) >= len("XSvcScanCount") && annotations[headername.Fold(name)] {
			delete(header, name)
		}
	}
}

// annotate tells of the findings in a header.
func (rep *report) annotate(header http.Header) {
	if c := rep.concerned(actionAnnotate); len(c) > 0 {
		header.Set(countHeader, strconv.Itoa(rep.count))
		header.Set(categoriesHeader, strings.Join(c, ","))
	}
}

// publish tells the log, the audit log and the placeholders what was found since it last did.
func (rep *report) publish(r *http.Request) {
	rep.mu.Lock()
	defer rep.mu.Unlock()
	fresh := rep.findings[rep.published:]
	if len(fresh) == 0 {
		return
	}
	rep.published = len(rep.findings)
	rep.place()
	h := rep.handler
	p, _ := policy.PrincipalFrom(r.Context())
	for i, f := range fresh {
		if i == maxLogged {
			h.logger.Warn("more injection findings in the same "+string(rep.side)+" body", zap.Int("count", rep.count))
			break
		}
		h.logger.Warn("injection finding in a "+string(rep.side)+" body",
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
		Address: clientIP(r), RequestID: p.RequestID, Method: r.Method, Path: r.URL.Path, Findings: findings,
	}
	if err := h.audit.Queue(context.WithoutCancel(r.Context()), event); err != nil {
		h.logger.Error("recording an injection finding", zap.Error(err))
	}
}

func clientIP(r *http.Request) string {
	ip, _ := caddyhttp.GetVar(r.Context(), caddyhttp.ClientIPVarKey).(string)
	return ip
}
