package langgraph

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
)

// ThreadStreamQuery are the parameters of a request to follow a thread.
type ThreadStreamQuery struct {
	ThreadPath
	LastEventID string `header:"Last-Event-ID" json:"-" description:"go on after this event; -1: from the start of the latest run"`
	StreamMode  string `query:"stream_mode" json:"-" description:"run_modes (the default), lifecycle or state_update, repeated or as an array"`
}

// threadStreamRoutes is the endpoint that follows a thread from run to run.
func (d *dialect) threadStreamRoutes() []rest.Route {
	return []rest.Route{{
		Method: http.MethodGet, Path: "/threads/{thread_id}/stream", Action: policy.Use, Summary: "Follow a thread's runs, one after the other",
		Request: new(ThreadStreamQuery), Success: rest.Events(new(StreamEvent)), Faults: []int{404, 422, 503}, Serve: d.streamThread,
	}}
}

// threadModes are what a stream of a thread tells: of each run what it was asked with, or less.
var threadModes = map[string][]mode{"run_modes": nil, "lifecycle": {}, "state_update": {modeValues}}

// following is one reader of a thread.
type following struct {
	d      *dialect
	view   agents.View
	thread string
	modes  []mode // nil: of each run, those that it was asked with
	run    string // the one that is told of, or was last
	after  int    // its last event that the reader has
	rd     *reading
	stirs  func(ctx context.Context) error // waits for news of the thread
}

func (d *dialect) streamThread(w http.ResponseWriter, r *http.Request) {
	thread, ok := rest.PathID(w, r, "thread_id")
	if !ok {
		return
	}
	f := following{d: d, view: d.View(r), thread: thread, after: -1}
	var deaf func()
	f.stirs, deaf = f.view.Stirs(thread)
	defer deaf()
	if err := f.begin(r); err != nil {
		d.Fail(w, r, err)
		return
	}
	rest.StreamHead(w.Header())
	w.Header().Set("Content-Location", "/threads/"+thread)
	w.Header().Set("Location", "/threads/"+thread+"/stream")
	a := startAnswer(w, heartbeat)
	defer a.end()
	ctx, stop := rest.UntilGone(r.Context())
	defer stop()
	for {
		err := f.turn(ctx, a)
		if err == nil {
			err = f.pause(ctx)
		}
		if err == nil {
			continue
		}
		if code, message, there := rest.StreamEnd(err); there {
			var buf bytes.Buffer
			writeTold(&buf, f.run+":", []told{{f.after + 1, "error", encode(map[string]string{"error": code, "message": message})}}, -1)
			_ = a.write(buf.Bytes()) // a client that has gone is told nothing
		}
		return
	}
}

// begin reads what the request says, and finds where the reader begins: after an event, or at the latest
// run if that is not over.
func (f *following) begin(r *http.Request) error {
	for i, name := range selectedNames(r.URL.Query()["stream_mode"]) {
		modes, ok := threadModes[name]
		if !ok {
			return rest.Invalid("stream_mode[" + strconv.Itoa(i) + "]: must be one of run_modes, lifecycle, state_update")
		}
		if name != "run_modes" {
			f.modes = slices.Concat([]mode{}, f.modes, modes)
		}
	}
	latest, err := f.view.LatestRun(r.Context(), f.thread)
	if err != nil && !errors.Is(err, agents.ErrRunNotFound) {
		return err
	}
	last := r.Header.Get("Last-Event-ID")
	switch run, number, ok := strings.Cut(last, ":"); {
	case last == "" && latest.Status.Final():
		f.run = latest.ID // only those that come
		return nil
	case last == "" || last == "-1":
		return f.open(latest)
	case ok:
		id, isID := rest.UUID(run)
		n, err := strconv.Atoi(number)
		if isID && err == nil && n >= -1 {
			h, err := f.view.Run(r.Context(), f.thread, id)
			f.after = n
			if err != nil {
				return err
			}
			return f.open(h)
		}
	}
	return problem.Problem{
		Status: http.StatusUnprocessableEntity, Code: "invalid_last_event_id", Detail: "Last-Event-ID: must be the id of an event of this thread, or -1",
	}
}

// open begins to tell of a run; of none, when there is none.
func (f *following) open(run agents.Handle) error {
	if run.ID == "" {
		return nil
	}
	var k Kwargs
	_ = json.Unmarshal(run.Kwargs, &k) // of the other dialect, there are none
	modes := f.modes
	if modes == nil {
		if modes = k.StreamMode; len(modes) == 0 {
			modes = []mode{modeValues}
		}
	}
	f.run, f.rd = run.ID, &reading{run: run, t: newTranslator(f.d.about(run.RunInfo), modes, k.Subgraphs)}
	return nil
}

// turn tells of the run as far as it goes.
func (f *following) turn(ctx context.Context, a *writer) error {
	if f.rd == nil {
		return nil
	}
	var gone error
	err := f.d.turns(ctx, f.rd, func(events []told) bool {
		var buf bytes.Buffer // kept by no stream that waits
		writeTold(&buf, f.run+":", events, f.after)
		if n := len(events); n > 0 {
			f.after = max(f.after, events[n-1].id)
		}
		if buf.Len() > 0 && a.write(buf.Bytes()) != nil {
			gone = context.Canceled
		}
		return gone == nil
	})
	if err == nil {
		err = gone
	}
	return err
}

// pause finds the run that comes next, once the present one is over, or waits for news.
func (f *following) pause(ctx context.Context) error {
	if f.rd == nil || f.rd.t.over {
		runs, err := f.view.Runs(ctx, agents.RunFilter{Thread: f.thread, Limit: maxLimit})
		if err != nil {
			return err
		}
		for _, info := range slices.Backward(runs) { // their ids grow
			if info.ID <= f.run {
				continue
			}
			h, err := f.view.Run(ctx, f.thread, info.ID)
			if err != nil {
				return err
			}
			f.after = -1
			return f.open(h)
		}
	}
	return f.stirs(ctx)
}
