package model

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// Error is what a Turn of a model behind a server fails with, the caller's own cancellation
// excepted. Its text is composed of this package's words only: an upstream's error
// text can hold a key or another customer's data, so it is read to classify the
// failure and then dropped.
type Error struct {
	// Status is the HTTP status, 0 when no answer came.
	Status int
	// Attempts is how often the server was asked.
	Attempts int

	kind       error // ErrUnavailable or ErrBadResponse
	reason     string
	retry      bool          // asking again may help
	retryAfter time.Duration // what the server asked to wait; 0 when it did not say
	waits      bool          // retryAfter was given
	unasked    bool          // no answer had begun
}

// Error returns the sentinel's text and the reason.
func (e *Error) Error() string {
	text := e.kind.Error() + ": " + e.reason
	if e.Attempts > 1 {
		text += fmt.Sprintf(" (asked %d times)", e.Attempts)
	}
	return text
}

// Unwrap makes errors.Is match ErrUnavailable or ErrBadResponse.
func (e *Error) Unwrap() error { return e.kind }

// Is makes errors.Is match ErrUnasked where no answer had begun.
func (e *Error) Is(target error) bool { return target == ErrUnasked && e.unasked }

// OverBudget returns the error of a turn that is not taken because a budget is used up. The reason is for the
// user; it names the setting and says when the budget begins anew.
func OverBudget(reason string) *Error { return &Error{kind: ErrBudget, reason: reason, unasked: true} }

// statusOverloaded is what Anthropic's servers answer when they have too much to do.
const statusOverloaded = 529

// ClientMessage decides what a client of the service may read about a failed turn.
// It is safe for any error: one that this package did not make is described in
// general words only.
func ClientMessage(err error) string {
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return "the model did not answer in time"
	case errors.Is(err, context.Canceled):
		return "the run was cancelled while the model was answering"
	case errors.Is(err, ErrUnavailable):
		return ErrUnavailable.Error()
	case errors.Is(err, ErrBadResponse):
		return ErrBadResponse.Error()
	}
	return "the model failed"
}

func unavailable(format string, args ...any) *Error {
	return &Error{kind: ErrUnavailable, reason: fmt.Sprintf(format, args...)}
}

func badResponse(format string, args ...any) *Error {
	return &Error{kind: ErrBadResponse, reason: fmt.Sprintf(format, args...)}
}

// statusError classifies an HTTP answer that is not 200. body is looked at for a
// few well-known conditions and never quoted.
func (c *client) statusError(status int, header http.Header, body string) *Error {
	e := unavailable("its server answered %d %s", status, http.StatusText(status))
	body = strings.ToLower(body)
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		e.reason = fmt.Sprintf("its server refused the API key (%d); check %s", status, c.field("api_key_env"))
	case status == http.StatusTooManyRequests && strings.Contains(body, "insufficient_quota"):
		e.reason = "the quota of the API key is used up (429)"
	case status == http.StatusTooManyRequests:
		e.reason, e.retry = "its server is limiting requests (429)", true
	case status == http.StatusPaymentRequired, strings.Contains(body, "credit balance is too low"):
		e.reason = fmt.Sprintf("the account of the API key has no credit left (%d)", status)
	case status == statusOverloaded:
		e.reason, e.retry = "its server is overloaded (529)", true
	case status == http.StatusInternalServerError, status == http.StatusBadGateway, status == http.StatusServiceUnavailable:
		e.retry = true
	case status >= 500:
	case strings.Contains(body, "does not support tools"), strings.Contains(body, "enable-auto-tool-choice"):
		e.kind, e.reason = ErrBadResponse, fmt.Sprintf("this model cannot call tools on its server (%d)", status)
	case strings.Contains(body, "context_length"), strings.Contains(body, "context length"), strings.Contains(body, "context size"), strings.Contains(body, "prompt is too long"), status == http.StatusRequestEntityTooLarge:
		e.kind, e.reason = ErrBadResponse, fmt.Sprintf("the conversation is too long for the model (%d)", status)
	case status == http.StatusNotFound && strings.Contains(body, "model"):
		e.kind, e.reason = ErrBadResponse, "its server does not know the model (404); check "+c.field("name")
	case status == http.StatusNotFound:
		e.kind, e.reason = ErrBadResponse, "its API is not at this address (404); "+c.field("base_url")+" "+c.hint
	case status < 400:
		e.kind, e.reason = ErrBadResponse, fmt.Sprintf("its server redirects (%d), which is not followed; set %s to the final address", status, c.field("base_url"))
	default:
		e.kind, e.reason = ErrBadResponse, fmt.Sprintf("its server refused the request as invalid (%d)", status)
	}
	e.Status, e.unasked = status, status < 500 || status == http.StatusServiceUnavailable || status == statusOverloaded
	e.retryAfter, e.waits = retryAfter(header)
	return e
}

// retryAfter reads Retry-After-Ms and Retry-After (RFC 9110, 10.2.3).
func retryAfter(h http.Header) (time.Duration, bool) {
	for _, f := range []struct{ name, unit string }{{"Retry-After-Ms", "ms"}, {"Retry-After", "s"}} {
		if v := strings.TrimSpace(h.Get(f.name)); v != "" && !strings.HasPrefix(v, "-") {
			if d, err := time.ParseDuration(v + f.unit); err == nil {
				return d, true
			}
			if t, err := http.ParseTime(v); err == nil {
				return max(0, time.Until(t)), true
			}
		}
	}
	return 0, false
}

// connectionError classifies a failure to get any answer. The text of err names
// addresses and is not passed on.
func connectionError(err error) *Error {
	var dns *net.DNSError
	var unknown x509.UnknownAuthorityError
	var verify *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	e := unavailable("the connection to its server failed")
	e.retry = true
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		e.reason, e.unasked = "its server refused the connection; is it running?", true
	case errors.As(err, &dns):
		e.reason, e.unasked = "the name of its server cannot be resolved", true
	case errors.As(err, &verify), errors.As(err, &unknown):
		e.reason, e.retry, e.unasked = "the TLS certificate of its server is not trusted", false, true
	case errors.As(err, &record):
		e.reason, e.retry, e.unasked = "its server does not speak TLS at this address", false, true
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		e.reason = "its server closed the connection without an answer"
	}
	return e
}
