package spec

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/internal/problem"
)

const (
	defaultLimit = 10
	maxLimit     = 1000
)

func (d *dialect) deleteThread(w http.ResponseWriter, r *http.Request) {
	id, ok := rest.PathID(w, r, "thread_id")
	if !ok {
		return
	}
	err := d.View(r).DeleteThread(r.Context(), id)
	if errors.Is(err, agents.ErrBusy) {
		err = problem.Problem{
			Status: http.StatusConflict, Code: "thread_busy",
			Detail: "a run is active on this thread; cancel it or wait for its end, then delete the thread",
		}
	}
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (d *dialect) searchThreads(w http.ResponseWriter, r *http.Request) {
	filter, err := searchFilter(r)
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	threads, total, err := d.View(r).Threads(r.Context(), filter)
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	views := make([]ThreadView, len(threads))
	for i, t := range threads {
		views[i] = ThreadView{t.ID, t.Owner, string(t.Status), t.Created, t.Updated, t.Metadata}
	}
	w.Header().Set("X-Pagination-Total", strconv.Itoa(total))
	rest.WriteJSON(w, views)
}

func searchFilter(r *http.Request) (agents.ThreadFilter, error) {
	q := r.URL.Query()
	f := agents.ThreadFilter{Owner: q.Get("user_id"), Status: agents.ThreadStatus(q.Get("status")), Limit: defaultLimit}
	switch f.Status {
	case "", agents.ThreadIdle, agents.ThreadBusy, agents.ThreadInterrupted, agents.ThreadError:
	default:
		return f, rest.Invalid("status: must be one of idle, busy, interrupted, error")
	}
	err := readNumber(q, "limit", &f.Limit, 1, maxLimit)
	if err == nil {
		err = readNumber(q, "offset", &f.Offset, 0, 1<<31)
	}
	return f, err
}

// readNumber reads a number of a query, if it is there.
func readNumber(q url.Values, name string, to *int, least, most int) error {
	text := q.Get(name)
	if text == "" {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return rest.Invalid(fmt.Sprintf("%s: must be a number from %d to %d", name, least, most))
	}
	*to = n
	return nil
}
