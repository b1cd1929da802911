package scan

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/headername"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner"
)

// The headers that tell the next handler, or the client, of findings that are to be annotated.
const (
	countHeader      = "X-Svc-Scan-Count"
	categoriesHeader = "X-Svc-Scan-Categories"
)

var annotations = headername.Set(countHeader, categoriesHeader)

// unannotate removes what a client says was found, in every spelling: nobody but this stage does.
func unannotate(header http.Header) {
	var buf [64]byte
	for name := range header {
		if len(name) >= len("XSvcScanCount") && annotations[string(headername.AppendFold(buf[:0], name))] {
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
	h := rep.handler
	h.metrics.found(rep, fresh)
	rep.place()
	p, _ := policy.PrincipalFrom(r.Context())
	rep.warn(r, fresh, p.User)
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

// warn logs findings: the first ones of a body as a WARNING, so that a body has one, those that come
// later in a stream, or on the same connection, as INFO.
func (rep *report) warn(r *http.Request, fresh []scanner.Finding, user string) {
	log, message := rep.handler.logger.Warn, "injection finding in a "+string(rep.side)+" body"
	if rep.published > 0 || rep.again {
		log, message = rep.handler.logger.Info, "more injection findings in the same "+string(rep.side)+" body"
	}
	rep.published = len(rep.findings)
	confidence := scanner.Low
	var categories, rules []string
	for _, f := range fresh {
		categories = append(categories, string(f.Category))
		rules = append(rules, f.Rule)
		if f.Confidence == scanner.High {
			confidence = scanner.High
		}
	}
	slices.Sort(categories)
	slices.Sort(rules)
	log(message, zap.Strings("categories", slices.Compact(categories)), zap.Strings("rules", slices.Compact(rules)),
		zap.String("confidence", string(confidence)), zap.Int("count", rep.count), zap.String("user", user),
		zap.String("method", r.Method), zap.String("path", r.URL.Path))
}

func clientIP(r *http.Request) string {
	ip, _ := caddyhttp.GetVar(r.Context(), caddyhttp.ClientIPVarKey).(string)
	return ip
}
