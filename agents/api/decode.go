package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	reflectschema "github.com/swaggest/jsonschema-go"

	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/strictjson"
)

// schemas validate bodies by the type that they are decoded into.
type schemas struct {
	byType map[reflect.Type]*jsonschema.Schema
}

func compileSchemas() (*schemas, error) {
	s := &schemas{map[reflect.Type]*jsonschema.Schema{}}
	for _, body := range []any{new(RunRequest), new(ThreadRunRequest), new(ThreadRequest)} {
		t := reflect.TypeOf(body)
		var reflector reflectschema.Reflector
		made, err := reflector.Reflect(body, reflectschema.InlineRefs)
		if err != nil {
			return nil, fmt.Errorf("describing %s: %w", t, err)
		}
		text, err := json.Marshal(made)
		if err != nil {
			return nil, fmt.Errorf("describing %s: %w", t, err)
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
		if err != nil {
			return nil, fmt.Errorf("reading the schema of %s: %w", t, err)
		}
		compiler := jsonschema.NewCompiler()
		compiler.AssertFormat()
		if err := compiler.AddResource(t.String(), doc); err != nil {
			return nil, fmt.Errorf("adding the schema of %s: %w", t, err)
		}
		if s.byType[t], err = compiler.Compile(t.String()); err != nil {
			return nil, fmt.Errorf("compiling the schema of %s: %w", t, err)
		}
	}
	return s, nil
}

// decode reads a request's body into v, or answers what is wrong with it.
func (h *Handler) decode(w http.ResponseWriter, r *http.Request, v any) bool {
	if err := h.readBody(w, r, v); err != nil {
		h.fail(w, r, err)
		return false
	}
	return true
}

func (h *Handler) readBody(w http.ResponseWriter, r *http.Request, v any) error {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != mediaJSON {
		return problem.Problem{
			Status: http.StatusUnsupportedMediaType, Code: "unsupported_media_type",
			Detail: "Content-Type: must be application/json",
		}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.opts.BodyBytes))
	if err != nil {
		if p, ok := problem.TooLarge(err); ok {
			p.Detail = fmt.Sprintf("the body is larger than %d bytes (setting limits.body_bytes)", h.opts.BodyBytes)
			return p
		}
		return badBody("truncated_body", "the body ended before it was complete")
	}
	fields, err := strictjson.Object(body)
	if err != nil {
		return notJSON(err)
	}
	if err := h.schemas.byType[reflect.TypeOf(v)].Validate(fields); err != nil {
		return invalid(explain(err))
	}
	// The same names as the schema's count, in the same case: encoding/json would take others too.
	if err := jsonv2.Unmarshal(body, v); err != nil {
		return invalid("the body does not have the documented form")
	}
	return lastIsUser(v)
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

// explain names the first field that is wrong, and why.
func explain(err error) string {
	failed, ok := errors.AsType[*jsonschema.ValidationError](err)
	if !ok {
		return "the body does not have the documented form"
	}
	for len(failed.Causes) > 0 {
		failed = failed.Causes[0]
	}
	if k, ok := failed.ErrorKind.(*kind.Required); ok {
		return field(append(failed.InstanceLocation, k.Missing[0])) + ": is missing"
	}
	at := field(failed.InstanceLocation)
	switch k := failed.ErrorKind.(type) {
	case *kind.Type:
		return fmt.Sprintf("%s: must be of type %s, got %s", at, strings.Join(k.Want, " or "), k.Got)
	case *kind.Enum:
		return fmt.Sprintf("%s: must be one of %s, got %q", at, strings.Trim(fmt.Sprint(k.Want), "[]"), fmt.Sprint(k.Got))
	case *kind.MinItems:
		return at + ": must not be empty"
	case *kind.MinLength:
		return at + ": must not be empty"
	case *kind.Format:
		return fmt.Sprintf("%s: must be a valid %s", at, k.Want)
	}
	return at + ": " + failed.Error()
}

// field writes a JSON pointer's tokens as people write fields: input.messages[0].role.
func field(tokens []string) string {
	var b strings.Builder
	for _, t := range tokens {
		if _, err := strconv.Atoi(t); err == nil {
			b.WriteString("[" + t + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(t)
	}
	if b.Len() == 0 {
		return "the body"
	}
	return b.String()
}
