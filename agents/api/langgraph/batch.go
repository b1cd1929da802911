package langgraph

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode"

	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/policy"
)

// maxBatch bounds how many runs are asked for at once.
const maxBatch = 100

// batchRoutes is the endpoint that starts several runs.
func (d *dialect) batchRoutes() []rest.Route {
	return []rest.Route{{
		Method: http.MethodPost, Path: "/runs/batch", Action: policy.Use, Summary: "Start several runs on threads of their own in the background",
		Request: new([]RunBody), Success: rest.JSON(new([]Run)), Faults: faultsOfRuns, Serve: d.batch,
	}}
}

// batch starts runs one after the other. What is wrong with one of them is found before the first one starts.
func (d *dialect) batch(w http.ResponseWriter, r *http.Request) {
	var docs []json.RawMessage
	if !d.DecodeArray(w, r, &docs, d.Options.BodyBytes) {
		return
	}
	bodies, err := d.batchOf(docs)
	for i := 0; err == nil && i < len(bodies); i++ {
		err = inBatch(i, d.check(r, bodies[i]))
	}
	shown := []Run{}
	for i := 0; err == nil && i < len(bodies); i++ {
		var b begun
		if b, err = d.start(r.Context(), numbered(r, i), "", &bodies[i]); err == nil {
			shown = append(shown, shownRun(b.run.RunInfo))
		}
	}
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	rest.WriteJSON(w, shown)
}

// check says what is wrong with a request for a run on a thread of its own, as far as that is known before.
func (d *dialect) check(r *http.Request, body RunBody) error {
	if body.resumes() {
		return resumeNowhere
	}
	_, req, err := d.runOf(r.Context(), body.Assistant, "", body)
	if err == nil {
		err = d.View(r).Check(req)
	}
	return err
}

// inBatch is an error about one run of several, which its detail begins with.
func inBatch(i int, err error) error {
	if err == nil {
		return nil
	}
	p := rest.Problem(err)
	p.Detail = fmt.Sprintf("[%d].%s", i, p.Detail)
	return p
}

// numbered is the request for one run of several. A key that the request came with tells all of them from
// other requests, and each from the others.
func numbered(r *http.Request, i int) *http.Request {
	if r.Header.Get(idempotencyKey) == "" {
		return r
	}
	one := r.WithContext(r.Context())
	one.Header = r.Header.Clone()
	one.Header.Set(idempotencyKey, fmt.Sprintf("%s/%d", r.Header.Get(idempotencyKey), i))
	return one
}

func (d *dialect) batchOf(docs []json.RawMessage) ([]RunBody, error) {
	if len(docs) > maxBatch {
		return nil, rest.Invalid(fmt.Sprintf("the body must not have more than %d runs", maxBatch))
	}
	bodies := make([]RunBody, len(docs))
	for i, doc := range docs {
		members := object(doc)
		if members == nil {
			return nil, rest.Invalid(fmt.Sprintf("[%d]: must be of type object, got %s", i, kindOf(doc)))
		}
		plain := map[string]json.RawMessage{} // the SDK sends its own names beside assistant_id
		for name, value := range members {
			if named := snake(name); plain[named] == nil || named == name {
				plain[named] = value
			}
		}
		body, _ := rest.Open(encode(plain), runMembers)
		if err := d.Into(body, &bodies[i]); err != nil {
			return nil, inBatch(i, err)
		}
	}
	return bodies, nil
}

// snake is a name such as streamMode as the protocol has it, stream_mode.
func snake(name string) string {
	var b strings.Builder
	for _, c := range name {
		if unicode.IsUpper(c) {
			b.WriteByte('_')
			c = unicode.ToLower(c)
		}
		b.WriteRune(c)
	}
	return b.String()
}
