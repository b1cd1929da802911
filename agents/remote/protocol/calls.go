package protocol

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/google/uuid"
)

// The states of a run.
const (
	Pending     = "pending"
	Running     = "running"
	Success     = "success"
	Failed      = "error"
	Timeout     = "timeout"
	Interrupted = "interrupted" // it was cancelled or, at some servers, it waits
)

// Run is a run of a thread.
type Run struct {
	ID     string `json:"run_id"`
	Thread string `json:"thread_id"`
	Status string `json:"status"`
}

// State is where a thread stands.
type State struct {
	Values     json.RawMessage
	Interrupts []Interrupt // that it waits for, in the order of the server
}

// Interrupt is what somebody has to answer before a run goes on.
type Interrupt struct {
	ID    string          `json:"id"` // empty at old servers
	Value json.RawMessage `json:"value"`
}

// Start asks for a run.
type Start struct {
	Assistant string
	Text      string          // what the user says
	Resume    json.RawMessage // answers what the thread waits for, instead of Text
	Request   string          // the same for the same request
}

// Assistant reports whether the server has an assistant, by its name or id.
func (c *Client) Assistant(ctx context.Context, name string) error {
	var a struct {
		ID string `json:"assistant_id"`
	}
	if err := c.call(ctx, http.MethodGet, "/assistants/"+url.PathEscape(name), nil, &a, nil); err != nil {
		return err
	}
	if a.ID == "" {
		return &Error{http.StatusOK, "the server does not answer as an agent server: the assistant has no id"}
	}
	return nil
}

// CreateThread creates a thread under an id of ours.
func (c *Client) CreateThread(ctx context.Context, thread string) error {
	var t struct {
		ID string `json:"thread_id"`
	}
	err := c.call(ctx, http.MethodPost, "/threads", map[string]any{"thread_id": thread, "if_exists": "do_nothing"}, &t, nil)
	if err == nil && t.ID != thread {
		return &Error{http.StatusOK, "the server made a thread with another id than it was asked for"}
	}
	return err
}

// Start starts a run in the background. What the thread is at ends before.
func (c *Client) Start(ctx context.Context, thread string, s Start) (Run, error) {
	body := map[string]any{
		"assistant_id": s.Assistant, "stream_mode": []string{"updates"}, "stream_resumable": true,
		"multitask_strategy": "interrupt", "on_disconnect": "continue",
	}
	if s.Resume != nil {
		body["command"] = map[string]any{"resume": s.Resume}
		delete(body, "multitask_strategy") // it is the thread's own work that goes on
	} else {
		body["input"] = map[string]any{"messages": []map[string]string{{"role": "user", "content": s.Text}}}
	}
	var run Run
	err := c.call(ctx, http.MethodPost, path(thread)+"/runs", body, &run, http.Header{"Idempotency-Key": {s.Request}})
	if err == nil {
		err = run.check(thread)
	}
	return run, err
}

// Run is how a run stands.
func (c *Client) Run(ctx context.Context, thread, id string) (Run, error) {
	var run Run
	err := c.call(ctx, http.MethodGet, path(thread, "runs", id), nil, &run, nil)
	if err == nil {
		err = run.check(thread)
	}
	if err == nil && run.ID != id {
		err = &Error{http.StatusOK, "the server answers with another run than it was asked for"}
	}
	return run, err
}

// Latest is the run of a thread that began last; ok is false when there is none.
func (c *Client) Latest(ctx context.Context, thread string) (run Run, ok bool, err error) {
	var all []Run
	err = c.call(ctx, http.MethodGet, path(thread)+"/runs?limit=1", nil, &all, nil)
	if Gone(err) || err == nil && len(all) == 0 {
		return run, false, nil
	}
	if err == nil {
		err = all[0].check(thread)
	}
	if err != nil {
		return run, false, err
	}
	return all[0], true, nil
}

// State is where a thread stands.
func (c *Client) State(ctx context.Context, thread string) (State, error) {
	var doc struct {
		Values json.RawMessage `json:"values"`
		Tasks  []struct {
			Interrupts []Interrupt `json:"interrupts"`
		} `json:"tasks"`
	}
	if err := c.call(ctx, http.MethodGet, path(thread)+"/state", nil, &doc, nil); err != nil {
		return State{}, err
	}
	s := State{Values: doc.Values}
	for _, t := range doc.Tasks {
		s.Interrupts = append(s.Interrupts, t.Interrupts...)
	}
	return s, nil
}

// Cancel ends a run. What it did stays.
func (c *Client) Cancel(ctx context.Context, thread, run string) error {
	return c.call(ctx, http.MethodPost, path(thread, "runs", run)+"/cancel?wait=0&action=interrupt", struct{}{}, nil, nil)
}

// check refuses a run that is not one of the thread.
func (r Run) check(thread string) error {
	if _, err := uuid.Parse(r.ID); err != nil || r.Thread != thread {
		return &Error{http.StatusOK, "the server answers with a run that is not the thread's"}
	}
	switch r.Status {
	case Pending, Running, Success, Failed, Timeout, Interrupted:
		return nil
	}
	return &Error{http.StatusOK, "the server answers with a run in a state that is not known"}
}

// path is the path of a thread, and of what is below it.
func path(thread string, below ...string) string {
	p := "/threads/" + url.PathEscape(thread)
	for _, b := range below {
		p += "/" + url.PathEscape(b)
	}
	return p
}
