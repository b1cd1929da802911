package langgraph

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/api/rest"
	kept "github.com/svc-gateway/svc/agents/assistant"
	"github.com/svc-gateway/svc/policy"
)

// Assistant is an assistant as it is shown.
type Assistant struct {
	AssistantID string         `json:"assistant_id" required:"true" format:"uuid"`
	GraphID     string         `json:"graph_id" required:"true"`
	Name        string         `json:"name" required:"true"`
	Description *string        `json:"description" required:"true"`
	Config      map[string]any `json:"config" required:"true" nullable:"false"`
	Context     map[string]any `json:"context" required:"true" nullable:"false"`
	Metadata    map[string]any `json:"metadata" required:"true" nullable:"false"`
	Version     int            `json:"version" required:"true"`
	CreatedAt   string         `json:"created_at" required:"true" format:"date-time"`
	UpdatedAt   string         `json:"updated_at" required:"true" format:"date-time"`
	UserID      string         `json:"user_id,omitempty" description:"whose it is; absent: the service's"`
}

// shownAssistant is an assistant as it may be shown, without credentials in what configures its runs.
func (d *dialect) shownAssistant(a kept.Assistant) Assistant {
	shown := Assistant{
		AssistantID: a.ID, GraphID: a.Graph, Name: a.Name, Config: a.Config, Context: a.Context, Metadata: a.Metadata,
		Version: a.Version, CreatedAt: stamp(a.Created), UpdatedAt: stamp(a.Updated), UserID: a.Owner,
	}
	if a.Description != "" {
		shown.Description = &a.Description
	}
	for _, doc := range []*map[string]any{&shown.Config, &shown.Context, &shown.Metadata} {
		*doc = d.redacted(*doc)
	}
	return shown
}

// redacted is an object without the secrets and whatever looks like a credential.
func (d *dialect) redacted(doc map[string]any) map[string]any {
	if len(doc) == 0 {
		return none
	}
	text, err := json.Marshal(doc)
	var shown map[string]any
	if err != nil || json.Unmarshal(d.Options.Secrets.RedactJSON(text), &shown) != nil {
		return none // what cannot be looked at is not shown
	}
	return shown
}

func (d *dialect) shownAssistants(list []kept.Assistant) []Assistant {
	shown := make([]Assistant, len(list))
	for i, a := range list {
		shown[i] = d.shownAssistant(a)
	}
	return shown
}

// AssistantPath is the path of an assistant.
type AssistantPath struct {
	Assistant string `path:"assistant_id" json:"-" required:"true" description:"its id, or the name of a graph"`
}

// AssistantBody is the body of POST /assistants.
type AssistantBody struct {
	ID          string         `json:"assistant_id,omitempty" format:"uuid" description:"default: a new one"`
	GraphID     string         `json:"graph_id" required:"true" minLength:"1" description:"the name of an agent"`
	Name        string         `json:"name,omitempty" description:"default: that of the graph"`
	Description string         `json:"description,omitempty"`
	Config      map[string]any `json:"config,omitempty" nullable:"false" description:"of its runs, where they say nothing themselves: tags, recursion_limit, configurable"`
	Context     map[string]any `json:"context,omitempty" nullable:"false" description:"the same for the context"`
	Metadata    map[string]any `json:"metadata,omitempty" nullable:"false" description:"kept with it and with its runs"`
	IfExists    string         `json:"if_exists,omitempty" enum:"raise,do_nothing" default:"raise"`
}

// AssistantPatch is the body of PATCH /assistants/{assistant_id}. What is absent stays.
type AssistantPatch struct {
	AssistantPath
	GraphID     *string        `json:"graph_id,omitempty" nullable:"false"`
	Name        *string        `json:"name,omitempty" nullable:"false"`
	Description *string        `json:"description,omitempty" nullable:"false"`
	Config      map[string]any `json:"config,omitempty" nullable:"false"`
	Context     map[string]any `json:"context,omitempty" nullable:"false"`
	Metadata    map[string]any `json:"metadata,omitempty" nullable:"false" description:"put beside what there is"`
}

// AssistantDeletion is a request to delete an assistant.
type AssistantDeletion struct {
	AssistantPath
	DeleteThreads string `query:"delete_threads" json:"-" enum:"true,false,1,0" description:"delete the threads too whose runs it had"`
}

// AssistantSearch is the body of POST /assistants/search and /assistants/count.
type AssistantSearch struct {
	SearchPage
	GraphID  string         `json:"graph_id,omitempty"`
	Name     string         `json:"name,omitempty" description:"a part of the name, whatever its case"`
	Metadata map[string]any `json:"metadata,omitempty" nullable:"false" description:"what its metadata contains"`
}

func (b *AssistantSearch) filter() kept.Filter {
	return kept.Filter{
		Owner: b.UserID, Graph: b.GraphID, Name: b.Name, Metadata: b.Metadata,
		SortBy: b.SortBy, Ascending: b.SortOrder == "asc", Limit: b.limit(), Offset: b.Offset,
	}
}

// VersionsBody is the body of POST /assistants/{assistant_id}/versions.
type VersionsBody struct {
	AssistantPath
	Metadata map[string]any `json:"metadata,omitempty" nullable:"false"`
	Limit    *int           `json:"limit,omitempty" default:"10" nullable:"false" description:"from 1 to 1000"`
	Offset   int            `json:"offset,omitempty" default:"0"`
}

// LatestBody is the body of POST /assistants/{assistant_id}/latest.
type LatestBody struct {
	AssistantPath
	Version int `json:"version" required:"true"`
}

// assistantRoutes are the endpoints of assistants; graphRoutes has those of their graphs.
func (d *dialect) assistantRoutes() []rest.Route {
	one, list := rest.JSON(new(Assistant)), rest.JSON(new([]Assistant))
	body, path := []int{400, 404, 409, 413, 415, 422, 503}, []int{404, 503}
	return append([]rest.Route{
		{
			Method: http.MethodPost, Path: "/assistants", Action: policy.Use, Summary: "Create an assistant over a graph",
			Request: new(AssistantBody), Success: one, Faults: body, Serve: d.createAssistant,
		},
		{
			Method: http.MethodPost, Path: "/assistants/search", Action: policy.Use, Summary: "Search assistants, the newest first",
			Request: new(AssistantSearch), Success: list, Faults: body, Serve: d.searchAssistants,
		},
		{
			Method: http.MethodPost, Path: "/assistants/count", Action: policy.Use, Summary: "Count assistants",
			Request: new(AssistantSearch), Success: rest.JSON(new(int)), Faults: body, Serve: d.countAssistants,
		},
		{
			Method: http.MethodGet, Path: "/assistants/{assistant_id}", Action: policy.Use, Summary: "Look at an assistant",
			Request: new(AssistantPath), Success: one, Faults: path, Serve: d.getAssistant,
		},
		{
			Method: http.MethodPatch, Path: "/assistants/{assistant_id}", Action: policy.Use, Summary: "Make a new version of an assistant",
			Request: new(AssistantPatch), Success: one, Faults: body, Serve: d.patchAssistant,
		},
		{
			Method: http.MethodDelete, Path: "/assistants/{assistant_id}", Action: policy.Use, Summary: "Delete an assistant with its versions",
			Request: new(AssistantDeletion), Success: rest.Nothing(http.StatusNoContent), Faults: []int{404, 409, 422, 503}, Serve: d.deleteAssistant,
		},
		{
			Method: http.MethodPost, Path: "/assistants/{assistant_id}/versions", Action: policy.Use, Summary: "List the versions of an assistant, the newest first",
			Request: new(VersionsBody), Success: list, Faults: body, Serve: d.assistantVersions,
		},
		{
			Method: http.MethodPost, Path: "/assistants/{assistant_id}/latest", Action: policy.Use, Summary: "Make a version of an assistant the present one",
			Request: new(LatestBody), Success: one, Faults: body, Serve: d.setLatest,
		},
	}, d.graphRoutes()...)
}

// maxAssistant bounds the body of a request for an assistant, in bytes.
const maxAssistant = 256 << 10

// asked is the assistant of the path.
func asked(r *http.Request) string { return graphNamed(r.PathValue("assistant_id")) }

// answer writes an assistant, or why there is none.
func (d *dialect) answer(w http.ResponseWriter, r *http.Request, a kept.Assistant, err error) {
	if err != nil {
		d.failKept(w, r, err)
		return
	}
	rest.WriteJSON(w, d.shownAssistant(a))
}

func (d *dialect) createAssistant(w http.ResponseWriter, r *http.Request) {
	var b AssistantBody
	if !d.DecodeOpen(w, r, &b, min(maxAssistant, d.Options.BodyBytes), membersOf[AssistantBody]()) {
		return
	}
	a, err := d.Options.Assistants.Create(r.Context(), rest.Caller(r), kept.Assistant{
		ID: b.ID, Graph: graphNamed(b.GraphID), Name: b.Name, Description: b.Description, Config: b.Config, Context: b.Context, Metadata: b.Metadata,
	}, b.IfExists == "do_nothing")
	d.answer(w, r, a, err)
}

func (d *dialect) getAssistant(w http.ResponseWriter, r *http.Request) {
	a, err := d.Options.Assistants.Get(r.Context(), rest.Caller(r), asked(r))
	d.answer(w, r, a, err)
}

func (d *dialect) patchAssistant(w http.ResponseWriter, r *http.Request) {
	var b AssistantPatch
	if !d.DecodeOpen(w, r, &b, min(maxAssistant, d.Options.BodyBytes), membersOf[AssistantPatch]()) {
		return
	}
	a, err := d.Options.Assistants.Update(r.Context(), rest.Caller(r), asked(r), kept.Patch{
		Graph: b.GraphID, Name: b.Name, Description: b.Description, Config: b.Config, Context: b.Context, Metadata: b.Metadata,
	})
	d.answer(w, r, a, err)
}

func (d *dialect) deleteAssistant(w http.ResponseWriter, r *http.Request) {
	all := r.URL.Query().Get("delete_threads")
	if !slices.Contains([]string{"", "true", "false", "1", "0"}, all) {
		d.Fail(w, r, rest.Invalid("delete_threads: must be true or false"))
		return
	}
	a, err := d.Options.Assistants.Get(r.Context(), rest.Caller(r), asked(r))
	if err == nil && !a.System() && (all == "true" || all == "1") {
		err = d.deleteThreadsOf(r, a)
	}
	if err == nil {
		err = d.Options.Assistants.Delete(r.Context(), rest.Caller(r), a.ID)
	}
	if err != nil {
		d.failKept(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// deleteThreadsOf removes the threads of an assistant's owner in which the assistant ran first. One that a
// run has is an error.
func (d *dialect) deleteThreadsOf(r *http.Request, a kept.Assistant) error {
	view := d.View(r)
	f := agents.ThreadFilter{Owner: a.Owner, Metadata: map[string]any{"assistant_id": a.ID}, Limit: 100}
	for {
		threads, _, err := view.Threads(r.Context(), f)
		if err != nil || len(threads) == 0 {
			return err
		}
		for _, t := range threads {
			if err := view.DeleteThread(r.Context(), t.ID); err != nil && !errors.Is(err, agents.ErrThreadNotFound) {
				return err
			}
		}
	}
}

func (d *dialect) searchAssistants(w http.ResponseWriter, r *http.Request) {
	var b AssistantSearch
	if !d.DecodeOpen(w, r, &b, min(maxAssistant, d.Options.BodyBytes), membersOf[AssistantSearch]()) {
		return
	}
	page, total, err := d.Options.Assistants.Search(r.Context(), rest.Caller(r), b.filter())
	if err != nil {
		d.failKept(w, r, err)
		return
	}
	writePage(w, d.shownAssistants(page), total, &b.SearchPage)
}

func (d *dialect) countAssistants(w http.ResponseWriter, r *http.Request) {
	var b AssistantSearch
	if !d.DecodeOpen(w, r, &b, min(maxAssistant, d.Options.BodyBytes), membersOf[AssistantSearch]()) {
		return
	}
	n, err := d.Options.Assistants.Count(r.Context(), rest.Caller(r), b.filter())
	if err != nil {
		d.failKept(w, r, err)
		return
	}
	rest.WriteJSON(w, n)
}

func (d *dialect) assistantVersions(w http.ResponseWriter, r *http.Request) {
	var b VersionsBody
	if !d.DecodeOpen(w, r, &b, min(maxAssistant, d.Options.BodyBytes), membersOf[VersionsBody]()) {
		return
	}
	limit := defaultPage
	if b.Limit != nil {
		limit = *b.Limit
	}
	list, err := d.Options.Assistants.Versions(r.Context(), rest.Caller(r), asked(r), b.Metadata, limit, b.Offset)
	if err != nil {
		d.failKept(w, r, err)
		return
	}
	rest.WriteJSON(w, d.shownAssistants(list))
}

func (d *dialect) setLatest(w http.ResponseWriter, r *http.Request) {
	var b LatestBody
	if !d.DecodeOpen(w, r, &b, min(maxAssistant, d.Options.BodyBytes), membersOf[LatestBody]()) {
		return
	}
	a, err := d.Options.Assistants.SetLatest(r.Context(), rest.Caller(r), asked(r), b.Version)
	d.answer(w, r, a, err)
}
