package spec

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/agents/memory"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
)

// MemoriesQuery are the query parameters of GET /memories.
type MemoriesQuery struct {
	UserID   string `query:"user_id" json:"-" description:"only those of this user; default: the caller's own, for an admin everybody's"`
	Agent    string `query:"agent" json:"-" description:"only those that this agent alone knows"`
	Category string `query:"category" json:"-" enum:"fact,decision,preference,audit"`
	Before   string `query:"before" json:"-" description:"only those that are older than the one with this id"`
	Limit    int    `query:"limit" json:"-" minimum:"1" maximum:"1000" default:"10"`
}

// MemoryPath is the path of a memory.
type MemoryPath struct {
	ID string `path:"memory_id" json:"-" required:"true"`
}

// ClearQuery are the query parameters of DELETE /memories.
type ClearQuery struct {
	UserID string `query:"user_id" json:"-" description:"whose; default: the caller's own"`
}

// MemoryView is a memory as it is shown.
type MemoryView struct {
	ID        string    `json:"memory_id" required:"true"`
	UserID    string    `json:"user_id" required:"true" description:"whose it is"`
	Agent     string    `json:"agent" required:"true" description:"the agent that knows it; empty: all agents of the user"`
	Category  string    `json:"category" required:"true" enum:"fact,decision,preference,audit"`
	Text      string    `json:"text" required:"true" description:"credentials are redacted"`
	Labels    []string  `json:"labels" required:"true" nullable:"false" description:"the sources of the text"`
	CreatedAt time.Time `json:"created_at" required:"true"`
	UpdatedAt time.Time `json:"updated_at" required:"true" description:"when it was learned last"`
	UsedAt    time.Time `json:"used_at" required:"true" description:"when it was learned or recalled last, to the day"`
	Times     int       `json:"times" required:"true" description:"how often it was learned"`
	RunID     string    `json:"run_id,omitempty" description:"in which it was learned last"`
	ThreadID  string    `json:"thread_id,omitempty"`
}

// Forgotten is the answer to DELETE /memories.
type Forgotten struct {
	Memories int `json:"forgotten" required:"true" description:"how many there were"`
}

func (d *dialect) memoryRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/memories", Action: policy.Use,
			Summary: "List what agents know of a user from earlier conversations, the newest first",
			Request: new(MemoriesQuery), Success: rest.JSON(new([]MemoryView)),
			Faults: []int{422, 503},
			Serve:  d.listMemories,
		},
		{
			Method: http.MethodDelete, Path: "/memories", Action: policy.Use,
			Summary: "Forget all that agents know of a user from earlier conversations",
			Request: new(ClearQuery), Success: rest.JSON(new(Forgotten)),
			Faults: []int{422, 503},
			Serve:  d.clearMemories,
		},
		{
			Method: http.MethodDelete, Path: "/memories/{memory_id}", Action: policy.Use,
			Summary: "Forget one thing that agents know from earlier conversations",
			Request: new(MemoryPath), Success: rest.Nothing(http.StatusNoContent),
			Faults: []int{404, 422, 503},
			Serve:  d.forgetMemory,
		},
	}
}

func (d *dialect) listMemories(w http.ResponseWriter, r *http.Request) {
	f, err := memoryFilter(r)
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	list, err := d.Options.Memories.List(r.Context(), rest.Caller(r), f)
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	views := make([]MemoryView, len(list))
	for i, e := range list {
		e = d.Options.Memories.Show(e)
		views[i] = MemoryView{
			ID: e.ID, UserID: e.Owner, Agent: e.Agent, Category: string(e.Category), Text: e.Text, Labels: e.Labels,
			CreatedAt: e.Created, UpdatedAt: e.Updated, UsedAt: e.Used, Times: e.Times, RunID: e.Run, ThreadID: e.Thread,
		}
	}
	rest.WriteJSON(w, views)
}

func memoryFilter(r *http.Request) (memory.Filter, error) {
	q, err := queryOf(r, "user_id", "agent", "category", "before", "limit")
	if err != nil {
		return memory.Filter{}, err
	}
	f := memory.Filter{Owner: q.Get("user_id"), Category: memory.Category(q.Get("category")), Before: q.Get("before"), Limit: defaultLimit}
	if agent := q.Get("agent"); agent != "" {
		f.Agents = []string{agent}
	}
	if f.Category != "" && !slices.Contains(memory.Categories(), f.Category) {
		return f, rest.Invalid("category: must be one of fact, decision, preference, audit")
	}
	err = readNumber(q, "limit", &f.Limit, 1, maxLimit)
	return f, err
}

// queryOf are the query parameters of a request, which has to be understood as a whole: without a
// parameter that is spelled otherwise it would be about more, or about somebody else.
func queryOf(r *http.Request, known ...string) (url.Values, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, rest.Invalid("query: it is no list of name=value pairs that are joined by &")
	}
	for _, name := range slices.Sorted(maps.Keys(q)) {
		switch {
		case !slices.Contains(known, name):
			return nil, rest.Invalid(fmt.Sprintf("%.60q: there is no such query parameter here; there is %s", name, strings.Join(known, ", ")))
		case len(q[name]) > 1:
			return nil, rest.Invalid(name + ": it is given more than once")
		}
	}
	return q, nil
}

func (d *dialect) clearMemories(w http.ResponseWriter, r *http.Request) {
	q, err := queryOf(r, "user_id")
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	n, err := d.Options.Memories.Clear(r.Context(), rest.Caller(r), q.Get("user_id"))
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	rest.WriteJSON(w, Forgotten{n})
}

var memoryForm = regexp.MustCompile(`^mem_[0-9a-f]{32}$`)

func (d *dialect) forgetMemory(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("memory_id")
	if !memoryForm.MatchString(id) {
		problem.Write(w, r, problem.Problem{
			Status: http.StatusUnprocessableEntity, Code: "invalid_memory_id",
			Detail: "memory_id: must be the id of a memory such as mem_0190f5a47c3e7b1a9f6e2d4c8a1b3e5f; GET /memories lists them",
		})
		return
	}
	n, err := d.Options.Memories.Forget(r.Context(), rest.Caller(r), []string{id})
	switch {
	case err != nil:
		d.Fail(w, r, err)
	case n == 0:
		problem.Write(w, r, problem.Problem{
			Status: http.StatusNotFound, Code: "memory_not_found", Detail: "memory_id: there is no such memory; GET /memories lists them",
		})
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}
