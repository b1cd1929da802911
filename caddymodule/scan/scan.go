package scan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/caddymodule/app"
	_ "github.com/svc-gateway/svc/caddymodule/app/admin" // the command admin
	"github.com/svc-gateway/svc/caddymodule/refusal"
	"github.com/svc-gateway/svc/internal/media"
)

const defaultMaxScan = 1 << 20

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
	// windows on its way, "refuse" answers 413, or 502 for a response. Default: stream.
	Beyond string `json:"beyond,omitempty"`

	// What to do with a compressed body: "refuse" answers 415, or 502 for a response;
	// "decode" scans what it holds, up to max_scan, and passes it as it came; "pass" lets it
	// through unscanned with a WARNING for each. Default: refuse.
	Encoded string `json:"encoded,omitempty"`

	// Which bodies are scanned: "request", "response" or both. Default: request.
	Bodies []string `json:"bodies,omitempty"`

	// What is done about findings of high confidence, by category ("*" for all others): "log",
	// "annotate" (headers tell the next handler, or the client), "block" (422, 502, or an error
	// event and the end of a stream). Default: log.
	Actions map[string]string `json:"actions,omitempty"`

	// The known shape of the JSON bodies: "openai", "protocol" or "mcp". Only what comes from
	// outside is scanned in them. Default: none; all strings are.
	Shape string `json:"shape,omitempty"`

	// Paths in JSON bodies that are scanned, such as "messages.*.content", beside those of the
	// shape. Default: all.
	Fields []string `json:"fields,omitempty"`

	// Paths in JSON bodies that are not scanned. They go before fields. Default: none.
	Skip []string `json:"skip,omitempty"`

	fields *fields
	logger *zap.Logger
	audit  auditor
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
		return fmt.Errorf("max_scan: %d is more than max_body, %d", h.MaxScan, h.MaxBody)
	case !slices.Contains([]string{encodedRefuse, encodedDecode, encodedPass}, h.Encoded):
		return fmt.Errorf("encoded: unknown value %q: want refuse, decode or pass", h.Encoded)
	case h.Beyond != beyondStream && h.Beyond != beyondRefuse:
		return fmt.Errorf("beyond: unknown value %q: want stream or refuse", h.Beyond)
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
	return checkActions(h.Actions)
}

// ServeHTTP scans the request's body, calls the next handler and scans its response.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	unannotate(r.Header)
	rep := h.newReport(r, request)
	var rest *tap
	b := media.Of(r.Header)
	switch {
	case !h.scans(request) || r.Body == nil || r.ContentLength == 0:
	case framed(b) && b.Coding == "":
		passFrames(r)
	default:
		if p, refused := h.refuses(r, b); refused {
			refusal.Write(w, r, p)
			return nil
		}
		var err error
		if rest, err = h.scanBody(r, b, rep); err == nil {
			rep.publish(r)
			rep.annotate(r.Header)
			err = rep.blocked()
		}
		if err != nil {
			return answer(w, r, err)
		}
	}
	if rest != nil {
		defer rep.publish(r) // also of a body whose request is broken off
	}
	err := h.respond(w, r, next)
	if errors.Is(err, errTooLarge) || errors.Is(err, errNotFramed) || rest != nil && rep.blocked() != nil && err != nil { // the handler could not answer yet
		return answer(w, r, err)
	}
	return err
}

func (h *Handler) scans(s side) bool { return slices.Contains(h.Bodies, string(s)) }

// Interface guards.
var (
	_ caddy.Provisioner           = (*Handler)(nil)
	_ caddy.Validator             = (*Handler)(nil)
	_ caddyhttp.MiddlewareHandler = (*Handler)(nil)
)
