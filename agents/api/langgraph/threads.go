package langgraph

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/policy"
)

const (
	maxMetadata = 16 << 10 // bytes of a thread's metadata as JSON
	maxThread   = 1 << 20  // bytes of the body that creates a thread, which may have a state
)

// TTL says when a thread is removed.
type TTL struct {
	Minutes  float64 `json:"ttl,omitempty" description:"minutes in which nothing has happened in it"`
	Strategy string  `json:"strategy,omitempty" enum:"delete" default:"delete"`
}

// ThreadBody is the body of POST /threads.
type ThreadBody struct {
	ID         string          `json:"thread_id,omitempty" format:"uuid" description:"default: a new one"`
	Metadata   map[string]any  `json:"metadata,omitempty" nullable:"false" description:"kept with the thread and returned by searches"`
	IfExists   string          `json:"if_exists,omitempty" enum:"raise,do_nothing" default:"raise"`
	TTL        json.RawMessage `json:"ttl,omitempty" description:"minutes, or {\"ttl\": minutes, \"strategy\": \"delete\"}"`
	GraphID    string          `json:"graph_id,omitempty" description:"kept in the metadata"`
	Supersteps json.RawMessage `json:"supersteps,omitempty" description:"updates of the state that the thread begins with"`
}

// threadRoutes are the endpoints of threads.
func (d *dialect) threadRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodPost, Path: "/threads", Action: policy.Use,
			Summary: "Create a conversation thread",
			Request: new(ThreadBody), Success: rest.JSON(new(Thread)), Faults: []int{400, 409, 413, 415, 422, 429, 503},
			Serve: d.createThread,
		},
		{
			Method: http.MethodGet, Path: "/threads/{thread_id}", Action: policy.Use,
			Summary: "Look at a thread with its values and what it waits for",
			Request: new(ThreadPath), Success: rest.JSON(new(Thread)), Faults: []int{404, 422, 503},
			Serve: d.getThread,
		},
	}
}

func (d *dialect) createThread(w http.ResponseWriter, r *http.Request) {
	var body ThreadBody
	if !d.DecodeOpen(w, r, &body, min(maxThread, d.Options.BodyBytes), membersOf[ThreadBody]()) {
		return
	}
	t, err := d.newThread(r, &body)
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	rest.WriteJSON(w, t)
}

func (d *dialect) newThread(r *http.Request, body *ThreadBody) (Thread, error) {
	if body.GraphID != "" {
		if body.Metadata == nil {
			body.Metadata = map[string]any{}
		}
		body.Metadata["graph_id"] = body.GraphID
	}
	if err := checkMetadata(body.Metadata); err != nil {
		return Thread{}, err
	}
	ttl, err := readTTL(body.TTL)
	if err != nil {
		return Thread{}, err
	}
	req := agents.ThreadRequest{ID: body.ID, Metadata: body.Metadata}
	if ttl != nil {
		req.TTL = *ttl
	}
	if body.IfExists == string(agents.DoNothing) {
		req.IfExists = agents.DoNothing
	}
	steps, err := readSupersteps(body.Supersteps)
	if err != nil {
		return Thread{}, err
	}
	view := d.View(r)
	t, err := view.CreateThread(r.Context(), req)
	if err != nil {
		return Thread{}, err
	}
	for _, s := range steps {
		if _, err := view.UpdateState(r.Context(), t.ID, s); err != nil {
			return Thread{}, err
		}
	}
	return d.withState(r, t)
}

// withState is a thread as it is shown, with its state.
func (d *dialect) withState(r *http.Request, t agents.Thread) (Thread, error) {
	state, err := d.stateOf(r, t, true)
	return shownThread(t, state), err
}

// stateOf is a thread's state; nil when it has none, or none is wanted.
func (d *dialect) stateOf(r *http.Request, t agents.Thread, wanted bool) (*agents.Checkpoint, error) {
	if !wanted || t.Messages == 0 && t.Status == agents.ThreadIdle {
		return nil, nil
	}
	state, err := d.View(r).StateOf(r.Context(), t, "")
	return &state, err
}

func checkMetadata(metadata map[string]any) error {
	if size, err := json.Marshal(metadata); err != nil || len(size) > maxMetadata {
		return rest.Invalid(fmt.Sprintf("metadata: must not be larger than %d bytes", maxMetadata))
	}
	return nil
}

// maxTTL is the longest time that a thread may be kept for by its own wish.
const maxTTL = 10 * 365 * 24 * time.Hour

// readTTL reads minutes, or an object with them; nil: nothing was said.
func readTTL(doc json.RawMessage) (*time.Duration, error) {
	if isNull(doc) {
		return nil, nil
	}
	var in TTL
	if json.Unmarshal(doc, &in.Minutes) != nil && json.Unmarshal(doc, &in) != nil {
		return nil, rest.Invalid("ttl: must be minutes, or an object with the member ttl")
	}
	switch {
	case in.Strategy != "" && in.Strategy != "delete":
		return nil, rest.Invalid("ttl.strategy: must be delete")
	case in.Minutes < 0 || in.Minutes > maxTTL.Minutes():
		return nil, rest.Invalid(fmt.Sprintf("ttl.ttl: must be a number of minutes from 0 to %.0f", maxTTL.Minutes()))
	}
	ttl := time.Duration(in.Minutes * float64(time.Minute))
	return &ttl, nil
}

func (d *dialect) getThread(w http.ResponseWriter, r *http.Request) {
	id, ok := rest.PathID(w, r, "thread_id")
	if !ok {
		return
	}
	t, err := d.View(r).Thread(r.Context(), id)
	d.writeThread(w, r, t, err)
}

// writeThread answers with a thread and its state, or with what went wrong.
func (d *dialect) writeThread(w http.ResponseWriter, r *http.Request, t agents.Thread, err error) {
	var shown Thread
	if err == nil {
		shown, err = d.withState(r, t)
	}
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	rest.WriteJSON(w, shown)
}
