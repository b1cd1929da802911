package scan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/caddymodule/app"
	_ "github.com/svc-gateway/svc/caddymodule/app/commands" // admin, audit, config, login, scan and others
	"github.com/svc-gateway/svc/caddymodule/directive"
	"github.com/svc-gateway/svc/caddymodule/metric"
	"github.com/svc-gateway/svc/internal/media"
)

const (
	defaultMaxScan = 1 << 20
	defaultMaxWait = time.Minute
)

// What to do with a body that has a Content-Encoding.
const (
	encodedRefuse = "refuse"
	encodedDecode = "decode"
	encodedPass   = "pass"
)

// What to do with a body longer than max_scan.
const (
	beyondStream = "stream"
	beyondRefuse = "refuse"
)

func init() {
	caddy.RegisterModule(new(Handler))
}

// Handler scans bodies for injections. See the package comment.
type Handler struct {
	// The longest body that is held in memory and scanned as a whole, in bytes. Default:
	// 1048576 (1 MiB).
	MaxScan int64 `json:"max_scan,omitempty"`

	// The longest request body that is accepted, in bytes. Default: the setting
	// limits.body_bytes, which is 4 MiB unless set.
	MaxBody int64 `json:"max_body,omitempty"`

	// What to do with a body that is longer than max_scan: "stream" scans it in overlapping
	// windows on its way, "refuse" answers 413, or 502 for a response. Default: "stream".
	Beyond string `json:"beyond,omitempty"`

	// What to do with a compressed body: "refuse" answers 415, or 502 for a response;
	// "decode" scans what it holds, up to max_scan, and passes it as it came; "pass" lets it
	// through unscanned with a WARNING for each. Default: "refuse".
	Encoded string `json:"encoded,omitempty"`

	// What to do with a body, or a part of one, that neither its type nor its bytes let pass as text:
	// "shallow" scans the sentences in it, up to 64 KiB of them, "scan" all of it, "pass" nothing.
	// Default: "shallow".
	Binary string `json:"binary,omitempty"`

	// Which bodies are scanned, and which messages of a WebSocket: "request" (those of the client),
	// "response" (those of the server) or both. Default: "request".
	Bodies []string `json:"bodies,omitempty"`

	// Which bodies of a side ("request", "response") are scanned, by type and path. All others of
	// that side pass as if there were no svc_scan. Default: all.
	Choose map[string]*Choice `json:"choose,omitempty"`

	// How long a body waits until it may be scanned, where others are. One that has waited this long
	// is refused (503). Default: "1m".
	MaxWait caddy.Duration `json:"max_wait,omitempty"`

	// What is done about findings of high confidence, by category ("*" for all others): "log",
	// "annotate" (headers tell the next handler, or the client), "block" (422, 502, or an error
	// event and the end of a stream). Default: "log".
	Actions map[string]string `json:"actions,omitempty"`

	// Whether the statistical detector judges the texts, too, and what is done about its findings of
	// high confidence: "log", "annotate" or "block", as for actions. Default: it does not.
	Model string `json:"model,omitempty"`

	// A classifier outside that judges the texts, too, and what is done about its findings. Default:
	// none.
	Classifier *Classifier `json:"classifier,omitempty"`

	// The known shape of the JSON bodies: "openai", "anthropic", "ollama", "protocol" or "mcp". Only
	// what comes from outside is scanned in them. Default: none; all strings are.
	Shape string `json:"shape,omitempty"`

	// The shape of refusals: "problem" (RFC 9457), "openai", "anthropic", "ollama" or "jsonrpc".
	// Default: that of the option shape. Where this has none, JSON-RPC for requests that are, and
	// else problem.
	Refusals string `json:"refusals,omitempty"`

	// Paths in JSON bodies that are scanned, such as "messages.*.content", beside those of the
	// shape. Default: all.
	Fields []string `json:"fields,omitempty"`

	// Paths in JSON bodies that are not scanned. They go before fields. Default: none.
	Skip []string `json:"skip,omitempty"`

	// Where max_scan and classifier were written, if they can be judged only when the configuration is
	// loaded. Of a Caddyfile, for errors.
	Places directive.Places `json:"places,omitempty"`

	fields  *fields
	logger  *zap.Logger
	audit   auditor
	metrics *metrics
	place   metric.Place
}

// auditor takes events for the audit log.
type auditor interface {
	Queue(ctx context.Context, e ...audit.Event) error
}

// CaddyModule returns the Caddy module information.
func (*Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.svc_scan", New: func() caddy.Module { return new(Handler) }}
}

// Provision fills in the defaults and finds the app.
func (h *Handler) Provision(ctx caddy.Context) error {
	h.logger = ctx.Logger()
	a, err := app.Get(ctx)
	if err != nil {
		return fmt.Errorf("finding the svc app: %w", err)
	}
	h.audit = a.Audit()
	h.defaults(a.Settings().Limits.BodyBytes)
	if h.metrics, err = newMetrics(ctx.GetMetricsRegistry()); err != nil {
		return err
	}
	for _, c := range h.Choose {
		if err := c.provision(ctx); err != nil {
			return err
		}
	}
	if err := h.Classifier.provision(h.logger, a.Secrets()); err != nil {
		return h.Places.At("classifier", fmt.Errorf("classifier: %w", err))
	}
	h.fields, err = newFields(h.Shape, h.Fields, h.Skip)
	return err
}

func (h *Handler) defaults(maxBody int64) {
	if h.MaxBody == 0 {
		h.MaxBody = maxBody
	}
	if h.MaxScan == 0 {
		h.MaxScan = min(defaultMaxScan, h.MaxBody)
	}
	h.Encoded = cmp.Or(h.Encoded, encodedRefuse)
	h.Beyond = cmp.Or(h.Beyond, beyondStream)
	h.Binary = cmp.Or(h.Binary, binaryShallow)
	h.MaxWait = cmp.Or(h.MaxWait, caddy.Duration(defaultMaxWait))
	if h.Bodies == nil {
		h.Bodies = []string{string(request)}
	}
}

// Validate refuses settings that contradict each other.
func (h *Handler) Validate() error {
	switch {
	case h.MaxScan < 0:
		return fmt.Errorf("max_scan: %d is negative", h.MaxScan)
	case h.MaxBody < 0:
		return fmt.Errorf("max_body: %d is negative", h.MaxBody)
	case h.MaxScan > h.MaxBody:
		return h.Places.At("max_scan", fmt.Errorf("max_scan: %d is more than max_body, %d, which is the setting limits.body_bytes where it is not given: write less, or set max_body", h.MaxScan, h.MaxBody))
	case !slices.Contains([]string{encodedRefuse, encodedDecode, encodedPass}, h.Encoded):
		return fmt.Errorf("encoded: unknown value %q: want refuse, decode or pass", h.Encoded)
	case h.Beyond != beyondStream && h.Beyond != beyondRefuse:
		return fmt.Errorf("beyond: unknown value %q: want stream or refuse", h.Beyond)
	case !slices.Contains([]string{binaryShallow, binaryScan, binaryPass}, h.Binary):
		return fmt.Errorf("binary: unknown value %q: want shallow, scan or pass", h.Binary)
	case h.MaxWait < 0:
		return fmt.Errorf("max_wait: %s is negative", time.Duration(h.MaxWait))
	case h.Model != "" && !slices.Contains(actionNames, h.Model):
		return fmt.Errorf("model: unknown value %q: want log, annotate or block", h.Model)
	case h.Refusals != "" && !slices.Contains(speeches, h.Refusals):
		return fmt.Errorf("refusals: unknown value %q: want %s", h.Refusals, strings.Join(speeches, ", "))
	case h.Shape != "" && shapes[h.Shape] == nil:
		return fmt.Errorf("shape: unknown value %q: want %s", h.Shape, strings.Join(shapeNames, ", "))
	case len(h.Bodies) == 0:
		return errors.New("bodies: want request, response or both")
	}
	for _, b := range h.Bodies {
		if b != string(request) && b != string(response) {
			return fmt.Errorf("bodies: unknown value %q: want request or response", b)
		}
	}
	for side, c := range h.Choose {
		if !slices.Contains(h.Bodies, side) {
			return fmt.Errorf("choose: %q is none of the bodies that are scanned: want some of %s", side, strings.Join(h.Bodies, ", "))
		}
		if err := c.check(); err != nil {
			return fmt.Errorf("choose: %w", err)
		}
	}
	return checkActions(h.Actions)
}

// ServeHTTP scans the request's body, calls the next handler and scans its response, and what goes over a
// connection whose protocol is changed.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	unannotate(r.Header)
	a := &asker{shape: cmp.Or(h.Refusals, speechOf(h.Shape))}
	rep := h.newReport(r, request, a)
	sides := h.sides(r) // told before a handler rewrites the path
	switch {
	case len(sides) == 0:
		return next.ServeHTTP(w, r)
	case r.Method == http.MethodConnect:
		refuseTunnel(w, r, a)
		return nil
	}
	if slices.Contains(sides, response) {
		upstream := next
		next = caddyhttp.HandlerFunc(func(w http.ResponseWriter, r *http.Request) error { return h.respond(w, r, upstream, a) })
	}
	t := h.tunnel(w, r, a, sides)
	defer t.stop()
	err := h.request(t, r, next, rep)
	if err == nil {
		t.finish()
	}
	return err
}

// request scans the request's body and calls the next handler.
func (h *Handler) request(t *tunnel, r *http.Request, next caddyhttp.Handler, rep *report) error {
	b, a, w := media.Of(r.Header), rep.asker, http.ResponseWriter(t)
	if r.Body == nil || r.ContentLength == 0 || !slices.Contains(t.sides, request) || !h.choosesType(request, b) {
		return next.ServeHTTP(w, r)
	}
	defer rep.close()
	if p, refused := h.refuses(r, b); refused {
		a.refuse(w, r, p)
		return nil
	}
	rest, err := h.scanRequest(r, b, rep)
	if err == nil {
		rep.publish(r)
		rep.annotate(r.Header)
		err = rep.blocked()
	}
	if err != nil {
		return a.answer(w, r, err)
	}
	if rest != nil {
		defer rep.publish(r) // also of a body whose request is broken off
	}
	err = next.ServeHTTP(w, r)
	if errors.Is(err, errTooLarge) || rest != nil && rep.blocked() != nil && err != nil { // the handler could not answer yet
		return a.answer(w, r, err)
	}
	return err
}

// sides returns the sides whose bodies are scanned at the path of the request.
func (h *Handler) sides(r *http.Request) (sides []side) {
	for _, s := range []side{request, response} {
		if slices.Contains(h.Bodies, string(s)) && h.Choose[string(s)].hasPath(r) {
			sides = append(sides, s)
		}
	}
	return sides
}

// choosesType reports whether bodies of the type are scanned.
func (h *Handler) choosesType(s side, b media.Body) bool { return h.Choose[string(s)].hasType(b) }

// wait is how long a body waits for its turn.
func (h *Handler) wait() time.Duration { return time.Duration(h.MaxWait) }

// Interface guards.
var (
	_ caddy.Provisioner           = (*Handler)(nil)
	_ caddy.Validator             = (*Handler)(nil)
	_ caddy.CleanerUpper          = (*Handler)(nil)
	_ caddyhttp.MiddlewareHandler = (*Handler)(nil)
)
