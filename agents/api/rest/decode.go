package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/svc-gateway/svc/internal/budget"
	"github.com/svc-gateway/svc/internal/jsonform"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/strictjson"
)

// forms are what bodies are held to, by the type that they are decoded into.
type forms map[reflect.Type]*jsonform.Form

// Learn makes the forms of what routes are asked with.
func (s *Server) Learn(routes []Route) error {
	for _, rte := range routes {
		if rte.Request == nil || rte.Method == http.MethodGet {
			continue
		}
		if reflect.TypeOf(rte.Request).Elem().Kind() == reflect.Slice { // see DecodeArray
			continue
		}
		form, err := jsonform.Of(rte.Request)
		if err != nil {
			return fmt.Errorf("%s %s: %w", rte.Method, rte.Path, err)
		}
		s.forms[reflect.TypeOf(rte.Request)] = form
	}
	return nil
}

// Checked is a body that knows what a schema cannot say.
type Checked interface{ Check() error }

// Decode reads a request's body of at most limit bytes into v, or answers what is wrong with it.
func (s *Server) Decode(w http.ResponseWriter, r *http.Request, v any, limit int64) bool {
	return s.decode(w, r, v, limit, func(body []byte) ([]byte, error) { return body, nil })
}

// decode reads a body, which prepare may make another one of before it is held to its form.
func (s *Server) decode(w http.ResponseWriter, r *http.Request, v any, limit int64, prepare func([]byte) ([]byte, error)) bool {
	err := s.withBody(w, r, limit, func(body []byte) error {
		if bytes.TrimLeft(body, " \t\r\n")[0] != '{' {
			return badBody("invalid_json", "the body must be a JSON object")
		}
		body, err := prepare(body)
		if err != nil {
			return err
		}
		return s.Into(body, v)
	})
	if err != nil {
		s.Fail(w, r, err)
	}
	return err == nil
}

// DecodeArray reads a body that is an array into v, or answers what is wrong with it. What is in the array is
// the caller's to look at.
func (s *Server) DecodeArray(w http.ResponseWriter, r *http.Request, v *[]json.RawMessage, limit int64) bool {
	err := s.withBody(w, r, limit, func(body []byte) error {
		if json.Unmarshal(body, v) != nil {
			return badBody("invalid_json", "the body must be a JSON array")
		}
		return nil
	})
	if err != nil {
		s.Fail(w, r, err)
	}
	return err == nil
}

// Into holds a document to the form of v and puts it there.
func (s *Server) Into(body []byte, v any) error {
	if err := s.forms[reflect.TypeOf(v)].Check(body); err != nil {
		return Invalid(err.Error())
	}
	// The same names as the form's count, in the same case: encoding/json would take others too. That
	// no name stands twice was seen.
	if err := jsonv2.Unmarshal(body, v, jsontext.AllowDuplicateNames(true)); err != nil {
		return Invalid("the body does not have the documented form")
	}
	if c, ok := v.(Checked); ok {
		return c.Check()
	}
	return nil
}

// withBody has read look at a request's body of well-formed JSON. There is memory for what is made of it
// as long as that takes.
func (s *Server) withBody(w http.ResponseWriter, r *http.Request, limit int64, read func(body []byte) error) error {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != MediaJSON {
		return problem.Problem{
			Status: http.StatusUnsupportedMediaType, Code: "unsupported_media_type",
			Detail: "Content-Type: must be application/json",
		}
	}
	hold := s.Options.Memory.Hold(Caller(r).User)
	defer hold.Release()
	body, err := readBody(w, r, hold, limit)
	if err != nil {
		return err
	}
	if err := TakeMade(r.Context(), hold, body); err != nil {
		return err
	}
	if err := strictjson.Check(body); err != nil {
		return notJSON(err)
	}
	return read(body)
}

// readStep is how much more of a body of unknown length is read at a time.
const readStep = 64 << 10

// readBody reads a body of at most limit bytes, as far as there is memory for it.
func readBody(w http.ResponseWriter, r *http.Request, hold *budget.Hold, limit int64) ([]byte, error) {
	if p, ok := r.Body.(*peeked); ok {
		return p.whole, hold.Take(r.Context(), int64(len(p.whole)))
	}
	return ReadHeld(r.Context(), sent{http.MaxBytesReader(w, r.Body, limit)}, hold, limit)
}

// sent is a request's body. Its errors are what the client is told.
type sent struct{ io.Reader }

func (s sent) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = unread(err)
	}
	return n, err
}

// ReadHeld reads what a client sends, of at most limit bytes, as far as there is memory for it. The error is the
// reader's, or that of [budget.Hold.Take].
func ReadHeld(ctx context.Context, from io.Reader, hold *budget.Hold, limit int64) ([]byte, error) {
	var body []byte
	for {
		if len(body) == cap(body) {
			step := min(max(readStep, int64(len(body))/2), limit+1-int64(len(body)))
			if err := hold.Take(ctx, step); err != nil {
				return nil, err
			}
			body = slices.Grow(body, int(step))
		}
		n, err := from.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if errors.Is(err, io.EOF) {
			return body, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// TakeMade takes memory for what is made of a body: it holds the body's strings a second time, and a little
// beside each of them.
func TakeMade(ctx context.Context, hold *budget.Hold, body []byte) error {
	return hold.Take(ctx, 3*int64(len(body)))
}

// unread is what a client is told when its body could not be read. What a stage in front of the API
// has to say against the body stays that stage's answer.
func unread(err error) error {
	if p, ok := problem.TooLarge(err); ok {
		p.Detail += " The setting limits.body_bytes is the most; what is small by nature may have less."
		return p
	}
	if p, ok := errors.AsType[problem.Problem](err); ok {
		return p
	}
	return badBody("truncated_body", "the body ended before it was complete")
}

func notJSON(err error) error {
	switch {
	case errors.Is(err, strictjson.ErrEmpty):
		return badBody("empty_body", "the body is empty; send a JSON object, {} at least")
	case errors.Is(err, strictjson.ErrTruncated):
		return badBody("truncated_json", "the JSON body ends too early")
	case errors.Is(err, strictjson.ErrDuplicate):
		return badBody("duplicate_key", err.Error()+"; give every name once")
	case errors.Is(err, strictjson.ErrDepth):
		return badBody("too_deep", err.Error())
	}
	return badBody("invalid_json", err.Error())
}

func badBody(code, detail string) error {
	return problem.Problem{Status: http.StatusBadRequest, Code: code, Detail: detail}
}

// Invalid is the answer to a request that does not make sense; the detail begins with the field.
func Invalid(detail string) error {
	return problem.Problem{Status: http.StatusUnprocessableEntity, Code: "invalid_input", Detail: detail}
}
