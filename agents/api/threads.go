package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
)

const (
	defaultLimit = 10
	maxLimit     = 1000
	maxMetadata  = 16 << 10 // bytes of a thread's metadata as JSON
)

func (h *Handler) createThread(w http.ResponseWriter, r *http.Request) {
	var body ThreadRequest
	if !h.decode(w, r, &body) {
		return
	}
	if size, err := json.Marshal(body.Metadata); err != nil || len(size) > maxMetadata {
		h.fail(w, r, invalid(fmt.Sprintf("metadata: must not be larger than %d bytes", maxMetadata)))
		return
	}
	p, _ := policy.PrincipalFrom(r.Context())
	t, err := h.rt.CreateThread(r.Context(), p, body.Metadata)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	writeJSON(w, ThreadCreated{ThreadID: t.ID})
}

func (h *Handler) searchThreads(w http.ResponseWriter, r *http.Request) {
	filter, err := searchFilter(r)
	if err != nil {
		h.fail(w, r, err)
		return
	}
	views := []ThreadView{}
	total := 0
	p, _ := policy.PrincipalFrom(r.Context())
	// Somebody else's threads are no error to ask for, and not shown.
	if filter.Owner == "" && p.Role != policy.Admin {
		filter.Owner = p.User
	}
	if filter.Owner == p.User || p.Role == policy.Admin {
		var threads []agents.Thread
		if threads, total, err = h.rt.Store().Threads(r.Context(), filter); err != nil {
			h.fail(w, r, err)
			return
		}
		for _, t := range threads {
			views = append(views, ThreadView{t.ID, t.Owner, string(t.Status), t.Created, t.Updated, t.Metadata})
		}
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

// thread reads a thread that the caller may see; another's is not found.
func (h *Handler) thread(r *http.Request, id string) (agents.Thread, error) {
	t, err := h.rt.Store().Thread(r.Context(), id)
	p, _ := policy.PrincipalFrom(r.Context())
	if err == nil && t.Owner != p.User && p.Role != policy.Admin {
		err = agents.ErrNotFound
	}
	if err != nil {
		return t, missing(err, "thread_not_found", "there is no thread "+id)
	}
	return t, nil
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
