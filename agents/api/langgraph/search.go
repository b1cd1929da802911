package langgraph

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/api/rest"
	kept "github.com/svc-gateway/svc/agents/assistant"
	"github.com/svc-gateway/svc/policy"
)

// SearchBody is the body of POST /threads/search.
type SearchBody struct {
	Metadata  map[string]any `json:"metadata,omitempty" nullable:"false" description:"contained in the thread's"`
	IDs       []string       `json:"ids,omitempty" nullable:"false"`
	Status    string         `json:"status,omitempty" enum:"idle,busy,interrupted,error"`
	Values    map[string]any `json:"values,omitempty" nullable:"false" description:"contained in the state's, beside messages"`
	Limit     *int           `json:"limit,omitempty" nullable:"false" default:"10" description:"from 1 to 1000"`
	Offset    int            `json:"offset,omitempty"`
	SortBy    string         `json:"sort_by,omitempty" enum:"thread_id,status,created_at,updated_at,state_updated_at" default:"created_at"`
	SortOrder string         `json:"sort_order,omitempty" enum:"asc,desc" default:"desc"`
	Select    []string       `json:"select,omitempty" nullable:"false" description:"members of the answer; without values, states are not read"`

	Extract json.RawMessage `json:"extract,omitempty" description:"not used"`
}

// PatchBody is the body of PATCH /threads/{thread_id}.
type PatchBody struct {
	ThreadPath
	Metadata map[string]any  `json:"metadata,omitempty" nullable:"false" description:"merged into what is there; null takes a name away"`
	TTL      json.RawMessage `json:"ttl,omitempty" description:"minutes, or {\"ttl\": minutes, \"strategy\": \"delete\"}"`
}

// PruneBody is the body of POST /threads/prune.
type PruneBody struct {
	IDs      []string `json:"thread_ids" required:"true" nullable:"false"`
	Strategy string   `json:"strategy,omitempty" enum:"delete,keep_latest" default:"delete"`
}

// Pruned is the answer of POST /threads/prune.
type Pruned struct {
	Count int `json:"pruned_count" required:"true"`
}

// searchRoutes are the endpoints that find and change threads.
func (d *dialect) searchRoutes() []rest.Route {
	body := []int{400, 413, 415, 422, 503}
	return []rest.Route{
		{
			Method: http.MethodPost, Path: "/threads/search", Action: policy.Use, Summary: "Search threads",
			Request: new(SearchBody), Success: rest.JSON(new([]Thread)), Faults: body, Serve: d.searchThreads,
		},
		{
			Method: http.MethodPost, Path: "/threads/count", Action: policy.Use, Summary: "Count threads",
			Request: new(SearchBody), Success: rest.JSON(new(int)), Faults: body, Serve: d.countThreads,
		},
		{
			Method: http.MethodPost, Path: "/threads/prune", Action: policy.Use, Summary: "Remove threads, or what their states were earlier",
			Request: new(PruneBody), Success: rest.JSON(new(Pruned)), Faults: append(body, 404, 409), Serve: d.pruneThreads,
		},
		{
			Method: http.MethodPatch, Path: "/threads/{thread_id}", Action: policy.Use, Summary: "Change a thread's metadata and how long it is kept",
			Request: new(PatchBody), Success: rest.JSON(new(Thread)), Faults: append(body, 404), Serve: d.patchThread,
		},
		{
			Method: http.MethodPost, Path: "/threads/{thread_id}/copy", Action: policy.Use, Summary: "Copy a thread with its state and history",
			Request: new(ThreadPath), Success: rest.JSON(new(Thread)), Faults: []int{404, 409, 422, 429, 503}, Serve: d.copyThread,
		},
	}
}

// filter is what the body asks for.
func (b *SearchBody) filter() (agents.ThreadFilter, error) {
	f := agents.ThreadFilter{
		Status: agents.ThreadStatus(b.Status), Metadata: b.Metadata, Values: b.Values, Limit: defaultLimit, Offset: b.Offset,
		SortBy: agents.SortCreated, Ascending: b.SortOrder == "asc",
	}
	if b.Limit != nil {
		f.Limit = *b.Limit
	}
	switch {
	case f.Limit < 1 || f.Limit > maxLimit:
		return f, rest.Invalid(fmt.Sprintf("limit: must be a number from 1 to %d", maxLimit))
	case f.Offset < 0 || f.Offset > 1<<31:
		return f, rest.Invalid("offset: must not be negative")
	case len(b.IDs) > maxLimit:
		return f, rest.Invalid(fmt.Sprintf("ids: must not have more than %d", maxLimit))
	}
	f.Metadata = namedGraph(f.Metadata)
	switch b.SortBy {
	case "":
	case "state_updated_at":
		f.SortBy = agents.SortUpdated
	default:
		f.SortBy = agents.SortBy(b.SortBy)
	}
	for i, text := range b.IDs {
		id, ok := rest.UUID(text)
		if !ok {
			return f, rest.Invalid(fmt.Sprintf("ids[%d]: must be a valid uuid", i))
		}
		f.IDs = append(f.IDs, id)
	}
	return f, nil
}

// namedGraph is metadata in which the graph has the name that it has in the metadata of threads.
func namedGraph(metadata map[string]any) map[string]any {
	if metadata["graph_id"] != chatUI && metadata["assistant_id"] != kept.ID(chatUI) {
		return metadata
	}
	named := maps.Clone(metadata)
	if named["graph_id"] == chatUI {
		named["graph_id"] = agents.Default
	}
	if named["assistant_id"] == kept.ID(chatUI) {
		named["assistant_id"] = kept.ID(agents.Default)
	}
	return named
}

func (d *dialect) searchThreads(w http.ResponseWriter, r *http.Request) {
	var body SearchBody
	if !d.DecodeOpen(w, r, &body, d.Options.BodyBytes, membersOf[SearchBody]()) {
		return
	}
	f, err := body.filter()
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	threads, total, err := d.View(r).Threads(r.Context(), f)
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	shown, err := d.found(r, threads, len(body.Select) == 0 || slices.Contains(body.Select, "values") || slices.Contains(body.Select, "interrupts"))
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	w.Header().Set("X-Pagination-Total", strconv.Itoa(total))
	if next := f.Offset + len(shown); next < total && len(shown) > 0 {
		w.Header().Set("X-Pagination-Next", strconv.Itoa(next))
	}
	writeSelected(w, shown, body.Select)
}

// found are threads as they are shown, with their states when they are whole: then of large ones only the
// first, at least one.
func (d *dialect) found(r *http.Request, threads []agents.Thread, whole bool) ([]Thread, error) {
	shown, held, most := make([]Thread, 0, len(threads)), 0, d.View(r).MaxStates()
	for _, t := range threads {
		state, err := d.stateOf(r, t, whole)
		if err != nil {
			return nil, err
		}
		if state != nil {
			held += state.Size()
		}
		if held > most && len(shown) > 0 {
			break
		}
		shown = append(shown, shownThread(t, state))
	}
	return shown, nil
}

func (d *dialect) countThreads(w http.ResponseWriter, r *http.Request) {
	var body SearchBody
	if !d.DecodeOpen(w, r, &body, d.Options.BodyBytes, membersOf[SearchBody]()) {
		return
	}
	f, err := body.filter()
	var total int
	if err == nil {
		f.Limit, f.Offset = 1, 0
		_, total, err = d.View(r).Threads(r.Context(), f)
	}
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	rest.WriteJSON(w, total)
}

func (d *dialect) pruneThreads(w http.ResponseWriter, r *http.Request) {
	var body PruneBody
	if !d.DecodeOpen(w, r, &body, d.Options.BodyBytes, membersOf[PruneBody]()) {
		return
	}
	strategy := agents.PruneDelete
	if body.Strategy != "" {
		strategy = body.Strategy
	}
	err := error(nil)
	if len(body.IDs) > maxLimit {
		err = rest.Invalid(fmt.Sprintf("thread_ids: must not have more than %d", maxLimit))
	}
	ids := make([]string, len(body.IDs))
	for i, text := range body.IDs {
		var ok bool
		if ids[i], ok = rest.UUID(text); !ok && err == nil {
			err = rest.Invalid(fmt.Sprintf("thread_ids[%d]: must be a valid uuid", i))
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids) // one that is named twice is there once
	if err == nil {
		err = d.View(r).PruneThreads(r.Context(), ids, strategy)
	}
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	rest.WriteJSON(w, Pruned{len(ids)})
}

func (d *dialect) patchThread(w http.ResponseWriter, r *http.Request) {
	thread, ok := rest.PathID(w, r, "thread_id")
	if !ok {
		return
	}
	var body PatchBody
	if !d.DecodeOpen(w, r, &body, min(maxThread, d.Options.BodyBytes), membersOf[PatchBody]()) {
		return
	}
	ttl, err := readTTL(body.TTL)
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	d.patch(w, r, thread, agents.ThreadPatch{Metadata: body.Metadata, TTL: ttl})
}

func (d *dialect) copyThread(w http.ResponseWriter, r *http.Request) {
	thread, ok := rest.PathID(w, r, "thread_id")
	if !ok {
		return
	}
	t, err := d.View(r).CopyThread(r.Context(), thread)
	d.writeThread(w, r, t, err)
}
