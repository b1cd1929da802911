package scan

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/media"
	"github.com/svc-gateway/svc/internal/problem"
)

// Reasons to refuse a body.
var (
	errTooLarge  = errors.New("request body too large")
	errUnscanned = errors.New("body too long to be scanned")
	errCharset   = errors.New("body in a character set that cannot be read")
	errPacked    = errors.New("body compressed without saying so")
	errFrames    = errors.New("body without the frames of gRPC")
	errUntold    = errors.New("the classifier cannot be asked")
	errBusy      = errors.New("too many bodies wait to be scanned")
)

// codeFound is what a client is told of a finding that is blocked.
const codeFound = "injection_found"

// busyFor is when it is worth to try again where too much is scanned at present.
const busyFor = 10 * time.Second

// blockedError is why a body was blocked. It names the categories and never a rule.
type blockedError struct {
	categories []string
	side       side
}

func (e *blockedError) Error() string {
	return "the " + string(e.side) + " body was blocked: " + strings.Join(e.categories, ", ")
}

func (e *blockedError) Unwrap() error { return e.problem() }

// failedError is why the rest of a body cannot be scanned.
type failedError struct {
	err  error
	side side
}

func (e *failedError) Error() string {
	return "scanning the " + string(e.side) + " body: " + e.err.Error()
}
func (e *failedError) Unwrap() []error { return []error{e.err, e.problem()} }

func (e *failedError) problem() problem.Problem {
	switch {
	case errors.Is(e.err, errBusy):
		return problem.Problem{
			Status: http.StatusServiceUnavailable, Code: "scan_busy",
			Detail: "Too many bodies wait to be scanned. Try again later.",
		}
	case errors.Is(e.err, errUntold):
		return problem.Problem{
			Status: http.StatusServiceUnavailable, Code: "classifier_unavailable",
			Detail: "What judges bodies here cannot be asked at present. Try again later.",
		}
	case e.side == response:
		code, reason := whyUnreadable(e.err)
		return unscannable(code, reason)
	}
	return (&bodyError{err: e.err}).problem()
}

// problemOf is what the client is told of a body that was refused.
func problemOf(err error) problem.Problem {
	p, _ := errors.AsType[problem.Problem](err)
	return p
}

// problem is what the client is told.
func (e *blockedError) problem() problem.Problem {
	p := problem.Problem{
		Status: http.StatusUnprocessableEntity, Code: codeFound,
		Detail: "The request body was refused because it seems to hold an injection (" + strings.Join(e.categories, ", ") + ").",
	}
	if e.side == response {
		p.Status = http.StatusBadGateway
		p.Detail = "The response was refused because it seems to hold an injection (" + strings.Join(e.categories, ", ") + ")."
	}
	return p
}

// refuses tells whether the header already says that the body will not do.
func (h *Handler) refuses(r *http.Request, b media.Body) (problem.Problem, bool) {
	switch {
	case r.ContentLength > h.MaxBody:
		return tooLarge(h.MaxBody), true
	case b.Coding != "" && h.Encoded == encodedRefuse:
		return encodedBody("Request bodies are scanned here: send this one without Content-Encoding."), true
	case b.Ambiguous:
		return unsupportedCharset("Request bodies are scanned here: send this one with one Content-Type."), true
	case !b.Readable():
		return unsupportedCharset(asUTF8), true
	case b.Coding != "" && h.Encoded == encodedPass:
		h.warnUnscanned(r, request, b.Coding)
	}
	return problem.Problem{}, false
}

// suits tells whether a body can be scanned that begins so. One that is compressed without saying so
// cannot, unless the option encoded lets such bodies pass.
func (h *Handler) suits(start media.Start, b media.Body, r *http.Request, s side) error {
	packed := start.Format.Packed() && b.Kind.Textual()
	switch {
	case !start.Charset.Readable():
		return errCharset
	case packed && h.Encoded == encodedPass:
		h.warnUnscanned(r, s, start.Format.String())
	case packed:
		return errPacked
	}
	return nil
}

// warnUnscanned tells that a body passes.
func (h *Handler) warnUnscanned(r *http.Request, s side, encoding string) {
	h.logger.Warn(string(s)+" body passes unscanned because it is encoded",
		zap.String("encoding", encoding), zap.String("method", r.Method), zap.String("path", r.URL.Path))
}

const asUTF8 = "Request bodies are scanned here: send this one as UTF-8."

func encodedBody(detail string) problem.Problem {
	return problem.Problem{Status: http.StatusUnsupportedMediaType, Code: "encoded_body", Detail: detail}
}

func unsupportedCharset(detail string) problem.Problem {
	return problem.Problem{Status: http.StatusUnsupportedMediaType, Code: "unsupported_charset", Detail: detail}
}

func tooLarge(limit int64) problem.Problem {
	return problem.Problem{
		Status: http.StatusRequestEntityTooLarge, Code: "body_too_large",
		Detail: fmt.Sprintf("The request body is larger than %d bytes (setting limits.body_bytes, option max_body of svc_scan).", limit),
	}
}

// bodyError is why a body could not be read, with the limit it was read under. Like a blockedError
// it matches the problem that the client is to be told, so that a handler which reads the body, and
// knows nothing of this stage, can tell it too.
type bodyError struct {
	err   error
	limit int64
}

func (e *bodyError) Error() string   { return "reading the request body: " + e.err.Error() }
func (e *bodyError) Unwrap() []error { return []error{e.err, e.problem()} }

func (e *bodyError) problem() problem.Problem {
	switch {
	case errors.Is(e.err, errTooLarge):
		return tooLarge(e.limit)
	case errors.Is(e.err, errUnscanned):
		return problem.Problem{
			Status: http.StatusRequestEntityTooLarge, Code: "body_unscanned",
			Detail: "The request body is longer than what is scanned here (option max_scan of svc_scan).",
		}
	case errors.Is(e.err, errCharset):
		return unsupportedCharset(asUTF8)
	case errors.Is(e.err, errFrames):
		return unsupportedCharset("Request bodies are scanned here: this one is not what its Content-Type says.")
	case errors.Is(e.err, errPacked):
		return encodedBody("Request bodies are scanned here: this one is compressed and does not say so.")
	case errors.Is(e.err, errUndecodable):
		return encodedBody("The request body cannot be decoded to be scanned: send it with the Content-Encoding gzip, deflate or zstd, or without one.")
	case errors.Is(e.err, os.ErrDeadlineExceeded):
		return problem.Problem{
			Status: http.StatusRequestTimeout, Code: "body_timeout",
			Detail: "The request body did not arrive in time.",
		}
	}
	return problem.Problem{
		Status: http.StatusBadRequest, Code: "body_incomplete",
		Detail: "The request body ended early or is badly framed.",
	}
}

// answer tells the client why its body could not be read. An error of Caddy's own, such as one
// of request_body, keeps its status and goes Caddy's way.
func (a *asker) answer(w http.ResponseWriter, r *http.Request, err error) error {
	p, ok := errors.AsType[problem.Problem](err)
	if _, caddys := errors.AsType[caddyhttp.HandlerError](err); caddys && (!ok || p.Code == "body_incomplete") {
		return err
	}
	a.refuse(w, r, p)
	return nil
}

// unscannable is what is told of a response that cannot be scanned.
func unscannable(code, reason string) problem.Problem {
	return problem.Problem{Status: http.StatusBadGateway, Code: code, Detail: "The response cannot be scanned: " + reason + "."}
}

// whyUnreadable says why what has come of a response cannot be scanned.
func whyUnreadable(err error) (code, reason string) {
	switch {
	case errors.Is(err, errCharset):
		return "upstream_charset", "it is UTF-16 or UTF-32 and does not say so"
	case errors.Is(err, errPacked):
		return "upstream_encoded", "it is compressed and does not say so"
	case errors.Is(err, errFrames):
		return "upstream_frames", "it is not the frames of gRPC that it says it is"
	}
	return "upstream_encoded", "what the upstream compressed cannot be decoded"
}
