package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/internal/problem"
)

const (
	defaultLimit = 10
	maxLimit     = 1000
	maxMetadata  = 16 << 10 // bytes of a thread's metadata as JSON
	maxThread    = 64 << 10 // bytes of the body that creates a thread
)

func (h *Handler) createThread(w http.ResponseWriter, r *http.Request) {
	var body ThreadRequest
	if !h.decode(w, r, &body, min(maxThread, h.opts.BodyBytes)) {
		return
	}
	if size, err := json.Marshal(body.Metadata); err != nil || len(size) > maxMetadata {
		h.fail(w, r, invalid(fmt.Sprintf("metadata: must not be larger than %d bytes", maxMetadata)))
		return
	}
	t, err := h.view(r).CreateThread(r.Context(), agents.ThreadRequest{Metadata: body.Metadata})
	if err != nil {
		h.fail(w, r, err)
		return
	}
	writeJSON(w, ThreadCreated{ThreadID: t.ID})
}

func (h *Handler) deleteThread(w http.ResponseWriter, r *http.Request) {
	id, ok := pathID(w, r, "thread_id")
	if !ok {
		return
	}
	err := h.view(r).DeleteThread(r.Context(), id)
	if errors.Is(err, agents.ErrBusy) {
		err = problem.Problem{
			Status: http.StatusConflict, Code: "thread_busy",
			Detail: "a run is active on this thread; cancel it or wait for its end, then delete the thread",
		}
	}
	if err != nil {
		h.fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (h *Handler) searchThreads(w http.ResponseWriter, r *http.Request) {
	filter, err := searchFilter(r)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	threads, total, err := h.view(r).Threads(r.Context(), filter)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	views := make([]ThreadView, len(threads))
	for i, t := range threads {
		views[i] = ThreadView{t.ID, t.Owner, string(t.Status), t.Created, t.Updated, t.Metadata}
	}
	w.Header().Set("X-Pagination-Total", strconv.Itoa(total))
	writeJSON(w, views)
}

func searchFilter(r *http.Request) (agents.ThreadFilter, error) {
	q := r.URL.Query()
	f := agents.ThreadFilter{Owner: q.Get("user_id"), Status: agents.ThreadStatus(q.Get("status")), Limit: defaultLimit}
	switch f.Status {
	case "", agents.ThreadIdle, agents.ThreadBusy, agents.ThreadInterrupted, agents.ThreadError:
	default:
		return f, invalid("status: must be one of idle, busy, interrupted, error")
	}
	for _, p := range []struct {
		name     string
		to       *int
		min, max int
	}{{"limit", &f.Limit, 1, maxLimit}, {"offset", &f.Offset, 0, 1 << 31}} {
		text := q.Get(p.name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < p.min || n > p.max {
			return f, invalid(p.name + ": must be a number from " + strconv.Itoa(p.min) + " to " + strconv.Itoa(p.max))
		}
		*p.to = n
	}
	return f, nil
}

// pathID is an id of the path, or the answer that it is none.
func pathID(w http.ResponseWriter, r *http.Request, name string) (string, bool) {
	id := r.PathValue(name)
	parsed, err := uuid.Parse(id)
	if err != nil || len(id) != 36 {
		problem.Write(w, r, problem.Problem{
			Status: http.StatusUnprocessableEntity, Code: "invalid_" + name,
			Detail: name + ": must be a UUID such as 0190f5a4-7c3e-7b1a-9f6e-2d4c8a1b3e5f",
		})
		return "", false
	}
	return parsed.String(), true
}
