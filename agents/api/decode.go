package api

import (
	"bytes"
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
	"github.com/svc-gateway/svc/policy"
)

// forms are what bodies are held to, by the type that they are decoded into.
type forms map[reflect.Type]*jsonform.Form

func newForms() (forms, error) {
	f := forms{}
	for _, body := range []any{new(RunRequest), new(ThreadRunRequest), new(ThreadRequest), new(DecisionRequest)} {
		form, err := jsonform.Of(body)
		if err != nil {
			return nil, err
		}
		f[reflect.TypeOf(body)] = form
	}
	return f, nil
}

// decode reads a request's body of at most limit bytes into v, or answers what is wrong with it.
func (h *Handler) decode(w http.ResponseWriter, r *http.Request, v any, limit int64) bool {
	if err := h.readInto(w, r, v, limit); err != nil {
		h.fail(w, r, err)
		return false
	}
	return true
}

func (h *Handler) readInto(w http.ResponseWriter, r *http.Request, v any, limit int64) error {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != mediaJSON {
		return problem.Problem{
			Status: http.StatusUnsupportedMediaType, Code: "unsupported_media_type",
			Detail: "Content-Type: must be application/json",
		}
	}
	p, _ := policy.PrincipalFrom(r.Context())
	hold := h.opts.Memory.Hold(p.User)
	defer hold.Release()
	body, err := readBody(w, r, hold, limit)
	if err != nil {
		return err
	}
	// What is made of the body holds its strings a second time, and a little beside each of them.
	if err := hold.Take(r.Context(), 3*int64(len(body))); err != nil {
		return err
	}
	if err := strictjson.Check(body); err != nil {
		return notJSON(err)
	}
	if bytes.TrimLeft(body, " \t\r\n")[0] != '{' {
		return badBody("invalid_json", "the body must be a JSON object")
	}
	if err := h.forms[reflect.TypeOf(v)].Check(body); err != nil {
		return invalid(err.Error())
	}
	// The same names as the form's count, in the same case: encoding/json would take others too. That
	// no name stands twice was seen.
	if err := jsonv2.Unmarshal(body, v, jsontext.AllowDuplicateNames(true)); err != nil {
		return invalid("the body does not have the documented form")
	}
	return lastIsUser(v)
}

// readStep is how much more of a body of unknown length is read at a time.
const readStep = 64 << 10

// readBody reads a body of at most limit bytes, as far as there is memory for it.
func readBody(w http.ResponseWriter, r *http.Request, hold *budget.Hold, limit int64) ([]byte, error) {
	from := http.MaxBytesReader(w, r.Body, limit)
	var body []byte
	for {
		if len(body) == cap(body) {
			step := min(max(readStep, int64(len(body))/2), limit+1-int64(len(body)))
			if err := hold.Take(r.Context(), step); err != nil {
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
			return nil, unread(err)
		}
	}
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

// lastIsUser holds what a schema cannot say: there must be something to answer.
func lastIsUser(v any) error {
	var in Input
	switch v := v.(type) {
	case *RunRequest:
		in = v.Input
	case *ThreadRunRequest:
		in = v.Input
	default:
		return nil
	}
	if last := len(in.Messages) - 1; last < 0 || in.Messages[last].Role != "user" {
		return invalid(fmt.Sprintf("input.messages[%d].role: the last message must be the user's", last))
	}
	return nil
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

func invalid(detail string) error {
	return problem.Problem{Status: http.StatusUnprocessableEntity, Code: "invalid_input", Detail: detail}
}
