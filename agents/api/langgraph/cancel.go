package langgraph

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/policy"
)

// CancelQuery are the parameters of a request to cancel a run.
type CancelQuery struct {
	RunPath
	CancelOptions
}

// CancelOptions say how runs are cancelled.
type CancelOptions struct {
	Wait   string `query:"wait" json:"-" enum:"0,1,true,false" description:"answer when the run is over"`
	Action string `query:"action" json:"-" enum:"interrupt,rollback" default:"interrupt" description:"rollback takes back what the run did, and the run itself"`
}

// CancelBody is the body of POST /runs/cancel.
type CancelBody struct {
	CancelOptions
	Thread string   `json:"thread_id,omitempty" format:"uuid" description:"the thread of the runs"`
	Runs   []string `json:"run_ids,omitempty" nullable:"false" description:"default: all of the thread, or of the status"`
	Status string   `json:"status,omitempty" enum:"pending,running,all" description:"only those"`
}

// cancelRoutes are the endpoints that cancel runs.
func (d *dialect) cancelRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodPost, Path: "/threads/{thread_id}/runs/{run_id}/cancel", Action: policy.Use, Summary: "Cancel a run",
			Request: new(CancelQuery), Success: rest.Nothing(http.StatusAccepted), Faults: []int{404, 409, 422, 503}, Serve: d.cancelOne,
		},
		{
			Method: http.MethodPost, Path: "/runs/cancel", Action: policy.Use, Summary: "Cancel several runs",
			Request: new(CancelBody), Success: rest.Nothing(http.StatusNoContent), Faults: []int{400, 404, 413, 415, 422, 503}, Serve: d.cancelMany,
		},
	}
}

// cancelAction reads what is to become of a run; true: it is taken back.
func cancelAction(r *http.Request) (rollback bool, err error) {
	switch r.URL.Query().Get("action") {
	case "", "interrupt":
		return false, nil
	case "rollback":
		return true, nil
	}
	return false, rest.Invalid("action: must be interrupt or rollback")
}

func (d *dialect) cancelOne(w http.ResponseWriter, r *http.Request) {
	run, ok := d.run(w, r)
	if !ok {
		return
	}
	rollback, err := cancelAction(r)
	wait, _ := strconv.ParseBool(r.URL.Query().Get("wait"))
	switch {
	case err != nil:
	case rollback:
		err = run.Rollback(r.Context())
	default:
		if err = run.Cancel(r.Context()); err == nil && wait {
			err = d.follow(r, run)
		}
	}
	switch {
	case err != nil:
		d.Fail(w, r, err)
	case wait:
		w.WriteHeader(http.StatusNoContent)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

// maxCancelled bounds how many runs are cancelled at once.
const maxCancelled = 1000

func (d *dialect) cancelMany(w http.ResponseWriter, r *http.Request) {
	var body CancelBody
	if !d.DecodeOpen(w, r, &body, d.Options.BodyBytes, membersOf[CancelBody]()) {
		return
	}
	rollback, err := cancelAction(r)
	if err == nil {
		err = d.cancelAll(r, &body, rollback)
	}
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (d *dialect) cancelAll(r *http.Request, body *CancelBody, rollback bool) error {
	if len(body.Runs) > maxCancelled {
		return rest.Invalid("run_ids: must not have more than " + strconv.Itoa(maxCancelled))
	}
	view := d.View(r)
	ids := body.Runs
	switch {
	case len(ids) > 0 && body.Thread == "":
		return rest.Invalid("thread_id: is missing; runs are named within a thread")
	case len(ids) == 0 && body.Thread == "" && body.Status == "":
		return rest.Invalid("run_ids: is missing; or give a status")
	case len(ids) == 0:
		f := agents.RunFilter{Thread: body.Thread, Limit: maxCancelled, Status: []agents.Status{agents.Pending, agents.Running, agents.Interrupted}}
		if body.Status == "pending" || body.Status == "running" {
			f.Status = runStates[body.Status]
		}
		if body.Thread != "" {
			if _, err := view.Thread(r.Context(), body.Thread); err != nil {
				return err
			}
		} else {
			f.Owner = rest.Caller(r).User // never everybody's, whatever the role
		}
		runs, err := view.Runs(r.Context(), f)
		if err != nil {
			return err
		}
		for _, run := range runs {
			ids = append(ids, run.ID)
		}
	}
	for _, id := range ids {
		id, ok := rest.UUID(id)
		if !ok {
			return rest.Invalid("run_ids: must be uuids")
		}
		run, err := view.Run(r.Context(), body.Thread, id)
		if err == nil && rollback {
			err = run.Rollback(r.Context())
		} else if err == nil {
			err = run.Cancel(r.Context())
		}
		if err != nil && !errors.Is(err, agents.ErrOver) {
			return err
		}
	}
	return nil
}
