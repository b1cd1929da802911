package scan

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner"
)

// maxRecorded bounds the findings of one body in the audit log.
const maxRecorded = 100

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
	handler  *Handler
	side     side
	request  *http.Request
	asker    *asker
	replacer *caddy.Replacer
	again    bool // a message of the same connection went before

	// Of who scans.
	pace    pace
	inquiry *inquiry // nil: the classifier is not asked
	shallow int      // bytes that were scanned of what is no text

	mu        sync.Mutex    // a handler may read the body while it writes the answer, or when it is done
	bytes     int64         // that came by
	took      time.Duration // to scan them, waiting included
	findings  []scanner.Finding
	seen      map[kind]bool // what was found, and whether with high confidence
	count     int           // findings in all; more than were kept for a body full of them
	published int           // how many of them were told
	failed    error         // why the rest cannot be scanned
}

func (h *Handler) newReport(r *http.Request, s side, a *asker) *report {
	rep := &report{handler: h, side: s, request: r, asker: a}
	if h.Classifier != nil {
		rep.inquiry = new(inquiry)
	}
	rep.replacer, _ = r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer)
	rep.place()
	return rep
}

// collect keeps findings. One that was there before, as happens where windows overlap, is not
// counted again.
func (rep *report) collect(found []scanner.Finding) {
	if len(found) == 0 {
		return
	}
	rep.mu.Lock()
	defer rep.mu.Unlock()
	if rep.seen == nil {
		rep.seen = map[kind]bool{}
	}
	for _, f := range found {
		high := f.Confidence == scanner.High
		k := kindOf(f)
		first := high && !rep.seen[k] // which must not be missed, whatever was found before
		rep.seen[k] = rep.seen[k] || high
		if slices.ContainsFunc(rep.findings, func(o scanner.Finding) bool {
			return o.Rule == f.Rule && o.Category == f.Category && o.Excerpt == f.Excerpt
		}) {
			continue
		}
		rep.count++
		if first || len(rep.findings) < maxRecorded {
			rep.findings = append(rep.findings, f)
		} else if high { // many harmless ones must not hide it
			if i := slices.IndexFunc(rep.findings[rep.published:], low); i >= 0 {
				rep.findings[rep.published+i] = f
			}
		}
	}
}

func low(f scanner.Finding) bool { return f.Confidence == scanner.Low }

// concerned returns the categories found with high confidence that an action is for, sorted.
func (rep *report) concerned(action string) []string {
	rep.mu.Lock()
	defer rep.mu.Unlock()
	var names []string
	for k, high := range rep.seen {
		if high && rep.handler.actionFor(k) == action {
			names = append(names, string(k.category))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// blocked returns an error when something was found that is to be blocked, or not all was scanned.
func (rep *report) blocked() error {
	if err := rep.failure(); err != nil {
		return &failedError{err: err, side: rep.side}
	}
	if c := rep.concerned(actionBlock); len(c) > 0 {
		return &blockedError{categories: c, side: rep.side}
	}
	return nil
}

// renew ends a message and begins the next one of the same direction. What was found is counted on; what
// may be scanned without a turn does not become more.
func (rep *report) renew() {
	rep.close()
	rep.mu.Lock()
	defer rep.mu.Unlock()
	rep.again = rep.again || rep.published > 0
	rep.bytes, rep.took, rep.shallow = 0, 0, 0
	rep.findings, rep.published = nil, 0
	if rep.inquiry != nil {
		*rep.inquiry = inquiry{}
	}
}

// fail says why the rest of the body cannot be scanned. The first reason counts.
func (rep *report) fail(err error) {
	rep.mu.Lock()
	defer rep.mu.Unlock()
	rep.failed = cmp.Or(rep.failed, err)
}

func (rep *report) failure() error {
	rep.mu.Lock()
	defer rep.mu.Unlock()
	return rep.failed
}

// holder is whose body it is: the user's, or the address' where nobody is known.
func (rep *report) holder() string {
	if p, _ := policy.PrincipalFrom(rep.request.Context()); p.User != "" {
		return p.User
	}
	return clientIP(rep.request)
}

func (rep *report) categories() string {
	var names []string
	for k := range rep.seen {
		names = append(names, string(k.category))
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
