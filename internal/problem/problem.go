// Package problem writes the errors of all HTTP interfaces as problem details (RFC 9457).
//
//	problem.Write(w, r, problem.Problem{
//		Status: http.StatusNotFound, Code: "thread_not_found",
//		Detail: "There is no thread " + id + ".",
//	})
//
// The body has the members type, title, status, detail, code (a stable word for programs) and
// request_id where the request has one. What stands in Detail is shown to the client: never
// put the text of an internal or upstream error there. [Parse] is the client's side. All
// functions are safe for concurrent use.
package problem

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"
)

// ContentType is the media type of a problem.
const ContentType = "application/problem+json"

// requestIDHeader is where a request's id stands when no context carries one.
const requestIDHeader = "X-Request-Id"

// maxBody bounds what a client reads of a problem.
const maxBody = 64 << 10

// Problem is one error. As an error value it is what a client of our own interfaces gets.
type Problem struct {
	Type      string `json:"type"`   // default about:blank: the status says what kind it is
	Title     string `json:"title"`  // default the status' phrase
	Status    int    `json:"status"` // default 500
	Detail    string `json:"detail,omitempty"`
	Code      string `json:"code"` // default made from the status, such as not_found
	RequestID string `json:"request_id,omitempty"`
}

// Error returns the detail, or the title where there is none, and the code.
func (p Problem) Error() string {
	return fmt.Sprintf("%s (%s)", cmp.Or(p.Detail, p.Title), p.Code)
}

type requestIDKey struct{}

// WithRequestID returns a context whose problems carry the id.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

// Write answers the request with p. Headers set before stay (WWW-Authenticate, Retry-After),
// except those that described the body which is not sent now. Nothing may have been written
// to w yet.
func Write(w http.ResponseWriter, r *http.Request, p Problem) {
	if p.Status < 400 || p.Status > 599 {
		p.Status = http.StatusInternalServerError
	}
	p.Type = cmp.Or(p.Type, "about:blank")
	p.Title = cmp.Or(p.Title, http.StatusText(p.Status), "Error")
	p.Code = cmp.Or(p.Code, word(p.Title))
	h := w.Header()
	if p.RequestID == "" {
		p.RequestID, _ = r.Context().Value(requestIDKey{}).(string)
	}
	p.RequestID = cmp.Or(p.RequestID, h.Get(requestIDHeader))
	body, err := json.Marshal(p)
	if err != nil { // strings and a number: cannot happen
		body = []byte(`{"type":"about:blank","title":"Error","status":500,"code":"internal_error"}`)
	}
	for _, name := range []string{"Content-Length", "Content-Encoding", "Etag", "Last-Modified"} {
		h.Del(name)
	}
	h.Set("Content-Type", ContentType)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(p.Status)
	if r.Method != http.MethodHead {
		// The client may be gone; there is nobody left to tell.
		_, _ = w.Write(append(body, '\n'))
	}
}

// TooLarge returns what is told of a body that [http.MaxBytesReader] has cut; ok is false for other
// errors.
func TooLarge(err error) (p Problem, ok bool) {
	tooLarge, ok := errors.AsType[*http.MaxBytesError](err)
	if !ok {
		return Problem{}, false
	}
	return Problem{
		Status: http.StatusRequestEntityTooLarge, Code: "body_too_large",
		Detail: fmt.Sprintf("The body has more than %d bytes.", tooLarge.Limit),
	}, true
}

// word makes a code from a title: "Not Found" becomes not_found.
func word(title string) string {
	b := []byte(title)
	for i, c := range b {
		switch {
		case 'A' <= c && c <= 'Z':
			b[i] = c + 'a' - 'A'
		case ('a' > c || c > 'z') && ('0' > c || c > '9'):
			b[i] = '_'
		}
	}
	return string(b)
}

// Parse reads the problem of a response that is not a success; the caller closes its body.
// An answer that is not a problem becomes one that says what came instead.
func Parse(resp *http.Response) Problem {
	fallback := Problem{
		Type: "about:blank", Title: http.StatusText(resp.StatusCode), Status: resp.StatusCode,
		Code: "unexpected_answer", Detail: "unexpected answer " + resp.Status,
	}
	if media, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err != nil || media != ContentType {
		return fallback
	}
	var p Problem
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxBody)).Decode(&p); err != nil || p.Code == "" {
		return fallback
	}
	p.Status = resp.StatusCode
	return p
}

// HasCode reports whether err is a problem with that code.
func HasCode(err error, code string) bool {
	p, ok := errors.AsType[Problem](err)
	return ok && p.Code == code
}

// RetryAfter says when it is worth trying again (RFC 9110, 10.2.3): in a whole number of seconds, at
// least one, so that who waits that long has waited long enough.
func RetryAfter(h http.Header, wait time.Duration) {
	h.Set("Retry-After", strconv.FormatInt(max(1, int64((wait+time.Second-1)/time.Second)), 10))
}
