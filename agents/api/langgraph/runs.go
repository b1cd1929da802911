package langgraph

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/policy"
)

// StreamEvent is the data of one server-sent event: what its stream mode says.
type StreamEvent map[string]any

// faultsOfRuns are the statuses of problems of requests for runs.
var faultsOfRuns = []int{400, 404, 409, 413, 415, 422, 429, 503}

// runRoutes are the endpoints that start runs.
func (d *dialect) runRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodPost, Path: "/threads/{thread_id}/runs/stream", Action: policy.Use,
			Summary: "Start a run on a thread, or go on with one that waits, and stream it",
			Request: new(ThreadRunBody), Success: rest.Events(new(StreamEvent)), Faults: faultsOfRuns, Serve: d.streamRun,
		},
		{
			Method: http.MethodPost, Path: "/runs/stream", Action: policy.Use,
			Summary: "Start a run on a thread of its own and stream it",
			Request: new(RunBody), Success: rest.Events(new(StreamEvent)), Faults: faultsOfRuns, Serve: d.streamRun,
		},
		{
			Method: http.MethodPost, Path: "/threads/{thread_id}/runs/wait", Action: policy.Use, Lasting: true,
			Summary: "Start a run on a thread, or go on with one that waits, and wait for its values",
			Request: new(ThreadRunBody), Success: rest.JSON(new(map[string]any)), Faults: faultsOfRuns, Serve: d.waitRun,
		},
		{
			Method: http.MethodPost, Path: "/runs/wait", Action: policy.Use, Lasting: true,
			Summary: "Start a run on a thread of its own and wait for its values",
			Request: new(RunBody), Success: rest.JSON(new(map[string]any)), Faults: faultsOfRuns, Serve: d.waitRun,
		},
		{
			Method: http.MethodPost, Path: "/threads/{thread_id}/runs", Action: policy.Use,
			Summary: "Start a run on a thread in the background",
			Request: new(ThreadRunBody), Success: rest.JSON(new(Run)), Faults: faultsOfRuns, Serve: d.createRun,
		},
		{
			Method: http.MethodPost, Path: "/runs", Action: policy.Use,
			Summary: "Start a run on a thread of its own in the background",
			Request: new(RunBody), Success: rest.JSON(new(Run)), Faults: faultsOfRuns, Serve: d.createRun,
		},
	}
}

// begun is a run that a request has started, or gone on with.
type begun struct {
	reading
	cancel bool // it ends when its client leaves
}

// begin reads a request for a run and starts the run, or answers why not.
func (d *dialect) begin(w http.ResponseWriter, r *http.Request) (begun, bool) {
	thread := ""
	if r.PathValue("thread_id") != "" {
		var ok bool
		if thread, ok = rest.PathID(w, r, "thread_id"); !ok {
			return begun{}, false
		}
	}
	var body RunBody
	if !d.read(w, r, &body, thread) {
		return begun{}, false
	}
	b, err := rest.Aside(func() (begun, error) { return d.start(r.Context(), r, thread, &body) })
	if err != nil {
		d.Fail(w, r, err)
		return begun{}, false
	}
	return b, true
}

// read reads the body of a request for a run, which the path may say the thread of.
func (d *dialect) read(w http.ResponseWriter, r *http.Request, body *RunBody, thread string) bool {
	if thread == "" {
		return d.DecodeOpen(w, r, body, d.Options.BodyBytes, runMembers)
	}
	var on ThreadRunBody
	ok := d.DecodeOpen(w, r, &on, d.Options.BodyBytes, runMembers)
	*body = on.RunBody
	return ok
}

func (d *dialect) streamRun(w http.ResponseWriter, r *http.Request) {
	b, ok := d.begin(w, r)
	if !ok {
		return
	}
	if whole := d.stream(w, r, b.reading); !whole && b.cancel {
		d.abandon(r, b.run)
	}
}

// abandon cancels a run whose client has left.
func (d *dialect) abandon(r *http.Request, run agents.Handle) {
	// The error says that the run is over, which is as well, or is for the log of who has the run.
	_ = run.Cancel(context.WithoutCancel(r.Context()))
}

func (d *dialect) waitRun(w http.ResponseWriter, r *http.Request) {
	b, ok := d.begin(w, r)
	if !ok {
		return
	}
	if whole := d.wait(w, r, b.reading); !whole && b.cancel {
		d.abandon(r, b.run)
	}
}

// wait writes the values that a run ends with, or what it waits for, as soon as it is known. Until then
// the client gets newlines, which stand before the document.
func (d *dialect) wait(w http.ResponseWriter, r *http.Request, rd reading) (whole bool) {
	locate(w, rd.run)
	w.Header().Set("Content-Type", rest.MediaJSON)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	a := startAnswer(w, "\n")
	defer a.end()
	ctx, stop := rest.UntilGone(r.Context())
	defer stop()
	var failure []byte
	rd.t.modes = nil
	err := d.turns(ctx, &rd, func(events []told) bool {
		for _, e := range events {
			if e.name == "error" {
				failure = e.data
			}
		}
		return true
	})
	if err != nil {
		code, message, there := rest.StreamEnd(err)
		if !there {
			return false
		}
		failure = encode(map[string]string{"error": code, "message": message})
	}
	return a.write(bytes.TrimSpace(encode(rd.t.outcome(failure)))) == nil
}

// outcome is what a run that is over has come to, or what one that waits waits for.
func (t *translator) outcome(failure []byte) any {
	f := t.frames[0]
	switch {
	case failure != nil:
		return map[string]json.RawMessage{"__error__": failure}
	case t.paused:
		return map[string]any{channelInterrupt: t.interrupts()}
	case f == nil:
		return nil
	}
	return f.state()
}

func (d *dialect) createRun(w http.ResponseWriter, r *http.Request) {
	b, ok := d.begin(w, r)
	if !ok {
		return
	}
	locate(w, b.run)
	rest.WriteJSON(w, shownRun(b.run.RunInfo))
}
