package langgraph

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
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
		Request: new(ThreadStreamQuery), Success: rest.Events(new(StreamEvent)), Faults: []int{404, 422, 429, 503}, Serve: d.streamThread,
	}}
}

// threadModes are what a stream of a thread tells: of each run what it was asked with, or less.
var threadModes = map[string][]mode{"run_modes": nil, "lifecycle": nil, "state_update": {modeValues}}

// following is one reader of a thread.
type following struct {
	d      *dialect
	view   agents.View
	thread string
	own    bool   // tell of each run what it was asked with
	modes  []mode // and this
	lull   lull

	run   string // where it begins: at this run, empty: at the first one that comes,
	first int    // whose first write this is,
	after int    // and after this event of it
}

func (d *dialect) streamThread(w http.ResponseWriter, r *http.Request) {
	thread, ok := rest.PathID(w, r, "thread_id")
	if !ok {
		return
	}
	f := following{d: d, view: d.View(r), thread: thread}
	_, err := rest.Aside(func() (any, error) { return nil, f.begin(r) })
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	rest.StreamHead(w.Header())
	w.Header().Set("Content-Location", "/threads/"+thread)
	w.Header().Set("Location", "/threads/"+thread+"/stream")
	a := startAnswer(w, heartbeat)
	defer a.end()
	_ = a.write(nil) // the client learns that the stream is there before anything happens
	if err := f.follow(r.Context(), a); !errors.Is(err, policy.ErrStopping) {
		a.fail(err)
	}
}

// begin reads what the request says, and finds where the reader begins: after an event, or at the latest
// run if that is not over.
func (f *following) begin(r *http.Request) error {
	names := selectedNames(r.URL.Query()["stream_mode"])
	for i, name := range names {
		modes, ok := threadModes[name]
		if !ok {
			return rest.Invalid("stream_mode[" + strconv.Itoa(i) + "]: must be one of run_modes, lifecycle, state_update")
		}
		f.modes = append(f.modes, modes...)
	}
	f.own = len(names) == 0 || slices.Contains(names, "run_modes")
	latest, begun, err := f.view.LatestBegun(r.Context(), f.thread)
	if err != nil {
		return err
	}
	last := r.Header.Get("Last-Event-ID")
	if last == "" || last == "-1" {
		f.run, f.first, f.after = latest.ID, latest.First, -1
		if last == "" && begun && latest.Status.Final() {
			f.after = math.MaxInt // only those that come
		}
		return nil
	}
	run, number, _ := strings.Cut(last, ":")
	id, isID := rest.UUID(run)
	n, err := strconv.Atoi(number)
	if !isID || err != nil || n < -1 {
		return problem.Problem{
			Status: http.StatusUnprocessableEntity, Code: "invalid_last_event_id", Detail: "Last-Event-ID: must be the id of an event of this thread, or -1",
		}
	}
	f.run, f.after = id, n
	f.first, err = f.view.BeganAt(r.Context(), f.thread, id)
	return err
}

// follow tells of the thread's runs until the client has gone, its credential ends or the service stops.
func (f *following) follow(ctx context.Context, a *writer) error {
	ctx, done := f.lull.watch(ctx)
	defer done()
	for run, err := range f.view.Begun(ctx, f.thread, f.first) {
		if err != nil {
			return err
		}
		after := -1
		switch {
		case run.ID == f.run:
			after = f.after
		case run.First < f.first, run.First == f.first && run.ID < f.run:
			continue // it was before
		}
		if after == math.MaxInt {
			continue
		}
		if err := f.tell(ctx, a, run, after); err != nil {
			return err
		}
	}
	return nil
}

// tell tells of a run to its end, without what came up to an event.
func (f *following) tell(ctx context.Context, a *writer, run agents.Begun, after int) error {
	var k Kwargs
	_ = json.Unmarshal(run.Kwargs, &k) // of the other dialect, there are none
	modes := slices.Clone(f.modes)
	if f.own {
		modes = append(modes, k.StreamMode...)
	}
	if f.own && len(k.StreamMode) == 0 {
		modes = append(modes, modeValues)
	}
	opening, err := rest.Aside(func() (agents.Opening, error) { return run.Opening(ctx) })
	if err != nil {
		return err
	}
	t := newTranslator(f.d.about(run.RunInfo), modes, k.Subgraphs)
	t.head()
	t.open(opening)
	step := func() error {
		var buf bytes.Buffer // kept by no stream that waits
		if writeTold(&buf, run.ID+":", t.take(), after); buf.Len() > 0 {
			if err := a.write(buf.Bytes()); err != nil {
				return errGone
			}
		}
		return f.lull.set(!t.paused && !t.over)
	}
	if err := step(); err != nil {
		return err
	}
	for events, err := range run.Follow(ctx, 0) {
		for _, e := range events {
			t.add(e)
		}
		if err == nil {
			err = step()
		}
		if err != nil {
			return err
		}
	}
	return nil
}
