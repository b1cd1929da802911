package api

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
)

func (h *Handler) runStateless(w http.ResponseWriter, r *http.Request) {
	var body RunRequest
	if !h.decode(w, r, &body) {
		return
	}
	h.run(w, r, body)
}

func (h *Handler) runInThread(w http.ResponseWriter, r *http.Request) {
	thread, ok := pathID(w, r, "thread_id")
	if !ok {
		return
	}
	var body ThreadRunRequest
	if !h.decode(w, r, &body) {
		return
	}
	h.run(w, r, RunRequest{Input: body.Input, AssistantID: body.AssistantID, ThreadID: thread, UserID: body.UserID})
}

// run starts a run and streams it. It goes on when the client leaves.
func (h *Handler) run(w http.ResponseWriter, r *http.Request, body RunRequest) {
	run, err := aside(func() (*agents.Run, error) { return h.start(r, body) })
	if err != nil {
		h.fail(w, r, err)
		return
	}
	h.stream(w, r, run.Thread, run.ID, 0, resumable(r))
}

func (h *Handler) start(r *http.Request, body RunRequest) (*agents.Run, error) {
	if body.ThreadID != "" {
		body.ThreadID = strings.ToLower(body.ThreadID)
		if _, err := h.thread(r, body.ThreadID); err != nil {
			return nil, err
		}
	}
	p, _ := policy.PrincipalFrom(r.Context())
	return h.rt.Start(r.Context(), agents.Request{
		Principal: p, User: body.UserID, Assistant: body.AssistantID, Thread: body.ThreadID, Input: messages(body.Input),
	})
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
func (h *Handler) join(w http.ResponseWriter, r *http.Request) {
	thread, ok := pathID(w, r, "thread_id")
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
	run, err := aside(func() (*agents.Run, error) { return h.latest(r, thread) })
	if err != nil {
		h.fail(w, r, err)
		return
	}
	h.stream(w, r, thread, run.ID, from, ids)
}

// latest is the last run of a thread that the caller may see.
func (h *Handler) latest(r *http.Request, thread string) (*agents.Run, error) {
	if _, err := h.thread(r, thread); err != nil {
		return nil, err
	}
	run, err := h.rt.Store().LatestRun(r.Context(), thread)
	return run, missing(err, "run_not_found", "the thread has no run")
}

func (h *Handler) cancel(w http.ResponseWriter, r *http.Request) {
	thread, ok := pathID(w, r, "thread_id")
	if !ok {
		return
	}
	id, ok := pathID(w, r, "run_id")
	if !ok {
		return
	}
	_, err := h.thread(r, thread)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	run, err := h.rt.Store().Run(r.Context(), id)
	if err == nil && run.Thread != thread {
		err = agents.ErrNotFound
	}
	if err != nil {
		h.fail(w, r, missing(err, "run_not_found", "the thread has no such run"))
		return
	}
	if !h.rt.Cancel(id) {
		problem.Write(w, r, problem.Problem{
			Status: http.StatusConflict, Code: "run_over", Detail: "the run is already over: " + string(run.Status),
		})
		return
	}
	w.WriteHeader(http.StatusAccepted)
}
