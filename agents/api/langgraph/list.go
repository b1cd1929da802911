package langgraph

import (
	"net/http"
	"slices"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/policy"
)

// RunsQuery are the query parameters of GET /threads/{thread_id}/runs.
type RunsQuery struct {
	ThreadPath
	Limit  int    `query:"limit" json:"-" minimum:"1" maximum:"1000" default:"10"`
	Offset int    `query:"offset" json:"-" minimum:"0" maximum:"10000" default:"0"`
	Status string `query:"status" json:"-" enum:"pending,running,error,success,timeout,interrupted"`
	Select string `query:"select" json:"-" description:"members of the answer, repeated or as an array"`
}

// listRoutes are the endpoints that look at runs, and remove them.
func (d *dialect) listRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/threads/{thread_id}/runs", Action: policy.Use, Summary: "List a thread's runs, the newest first",
			Request: new(RunsQuery), Success: rest.JSON(new([]Run)), Faults: []int{404, 422, 503}, Serve: d.listRuns,
		},
		{
			Method: http.MethodGet, Path: "/threads/{thread_id}/runs/{run_id}", Action: policy.Use, Summary: "Look at a run",
			Request: new(RunPath), Success: rest.JSON(new(Run)), Faults: []int{404, 422, 503}, Serve: d.getRun,
		},
		{
			Method: http.MethodDelete, Path: "/threads/{thread_id}/runs/{run_id}", Action: policy.Use, Summary: "Remove a run that is over from the list; what it said stays",
			Request: new(RunPath), Success: rest.Nothing(http.StatusNoContent), Faults: []int{404, 409, 422, 503}, Serve: d.deleteRun,
		},
	}
}

// run is the run of the path, or the answer that there is none.
func (d *dialect) run(w http.ResponseWriter, r *http.Request) (agents.Handle, bool) {
	thread := ""
	if r.PathValue("thread_id") != "" {
		var ok bool
		if thread, ok = rest.PathID(w, r, "thread_id"); !ok {
			return agents.Handle{}, false
		}
	}
	id, ok := rest.PathID(w, r, "run_id")
	if !ok {
		return agents.Handle{}, false
	}
	run, err := rest.Aside(func() (agents.Handle, error) { return d.View(r).Run(r.Context(), thread, id) })
	if err != nil {
		d.Fail(w, r, err)
	}
	return run, err == nil
}

func (d *dialect) getRun(w http.ResponseWriter, r *http.Request) {
	if run, ok := d.run(w, r); ok {
		rest.WriteJSON(w, shownRun(run.RunInfo))
	}
}

func (d *dialect) deleteRun(w http.ResponseWriter, r *http.Request) {
	run, ok := d.run(w, r)
	if !ok {
		return
	}
	if err := d.View(r).DeleteRun(r.Context(), run.Thread, run.ID); err != nil {
		d.Fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// runStates are the runtime's words for the protocol's.
var runStates = map[string][]agents.Status{
	"pending": {agents.Pending}, "running": {agents.Running}, "error": {agents.Error}, "success": {agents.Success},
	"timeout": {agents.Timeout}, "interrupted": {agents.Interrupted, agents.Cancelled},
}

// maxOffset is how far a list can be looked into.
const maxOffset = 10_000

func (d *dialect) listRuns(w http.ResponseWriter, r *http.Request) {
	thread, ok := rest.PathID(w, r, "thread_id")
	if !ok {
		return
	}
	runs, err := d.runsOf(r, thread)
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	shown := make([]Run, len(runs))
	for i, run := range runs {
		shown[i] = shownRun(run)
	}
	writeSelected(w, shown, r.URL.Query()["select"])
}

func (d *dialect) runsOf(r *http.Request, thread string) ([]agents.RunInfo, error) {
	q := r.URL.Query()
	limit, err := queryNumber(q.Get("limit"), "limit", defaultLimit, 1, maxLimit)
	if err != nil {
		return nil, err
	}
	offset, err := queryNumber(q.Get("offset"), "offset", 0, 0, maxOffset)
	if err != nil {
		return nil, err
	}
	f := agents.RunFilter{Thread: thread, Limit: offset + limit}
	if status := q.Get("status"); status != "" {
		var ok bool
		if f.Status, ok = runStates[status]; !ok {
			return nil, rest.Invalid("status: must be one of pending, running, error, success, timeout, interrupted")
		}
	}
	if _, err := d.View(r).Thread(r.Context(), thread); err != nil {
		return nil, err
	}
	runs, err := d.View(r).Runs(r.Context(), f)
	return slices.Clip(runs[min(offset, len(runs)):]), err
}
