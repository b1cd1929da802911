package spec

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/internal/problem"
)

func (d *dialect) runStateless(w http.ResponseWriter, r *http.Request) {
	var body RunRequest
	if !d.Decode(w, r, &body, d.Options.BodyBytes) {
		return
	}
	d.run(w, r, body)
}

func (d *dialect) runInThread(w http.ResponseWriter, r *http.Request) {
	thread, ok := rest.PathID(w, r, "thread_id")
	if !ok {
		return
	}
	var body ThreadRunRequest
	if !d.Decode(w, r, &body, d.Options.BodyBytes) {
		return
	}
	d.run(w, r, RunRequest{Input: body.Input, AssistantID: body.AssistantID, ThreadID: thread, UserID: body.UserID, AutoApprove: body.AutoApprove, Schema: body.Schema})
}

// run starts a run and streams it. It goes on when the client leaves.
func (d *dialect) run(w http.ResponseWriter, r *http.Request, body RunRequest) {
	if string(body.Schema) == "null" {
		body.Schema = nil
	}
	run, err := rest.Aside(func() (agents.Handle, error) {
		return d.View(r).Start(r.Context(), agents.Request{
			User: body.UserID, Assistant: body.AssistantID, Thread: strings.ToLower(body.ThreadID), Input: messages(body.Input),
			AutoApprove: body.AutoApprove, Form: body.Schema,
		})
	})
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	stream(w, r, run, 0, resumable(r))
}

// resumable reports whether the client wants an id with every event.
func resumable(r *http.Request) bool {
	yes, err := strconv.ParseBool(r.URL.Query().Get("resumable"))
	return err == nil && yes
}

func messages(in Input) []model.Message {
	out := make([]model.Message, len(in.Messages))
	for i, m := range in.Messages {
		out[i] = model.Message{Role: m.Role, Content: m.Content}
	}
	return out
}

// join streams a thread's latest run to one more reader.
func (d *dialect) join(w http.ResponseWriter, r *http.Request) {
	thread, ok := rest.PathID(w, r, "thread_id")
	if !ok {
		return
	}
	from, ids := 0, resumable(r)
	if last := r.Header.Get("Last-Event-ID"); last != "" {
		n, err := strconv.Atoi(last)
		if err != nil || n < -1 {
			problem.Write(w, r, problem.Problem{
				Status: http.StatusUnprocessableEntity, Code: "invalid_last_event_id",
				Detail: "Last-Event-ID: must be the id of an event of this run, or -1 for all of them",
			})
			return
		}
		from, ids = n+1, true
	}
	run, err := rest.Aside(func() (agents.Handle, error) { return d.View(r).LatestRun(r.Context(), thread) })
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	stream(w, r, run, from, ids)
}
