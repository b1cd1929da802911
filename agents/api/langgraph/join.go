package langgraph

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
)

// JoinQuery are the parameters of a request to join a run.
type JoinQuery struct {
	RunPath
	JoinOptions
}

// JoinAnyQuery is JoinQuery for a run whose thread the path does not name.
type JoinAnyQuery struct {
	Run string `path:"run_id" json:"-" required:"true" format:"uuid"`
	JoinOptions
}

// JoinOptions say how a run is joined.
type JoinOptions struct {
	LastEventID string `header:"Last-Event-ID" json:"-" description:"go on after this event; -1 and none: from the start"`
	StreamMode  string `query:"stream_mode" json:"-" description:"repeated or as an array; default: those that the run was asked with"`
	Cancel      string `query:"cancel_on_disconnect" json:"-" enum:"0,1,true,false" description:"cancel the run when this client leaves"`
}

// joinRoutes are the endpoints that follow runs which others have started.
func (d *dialect) joinRoutes() []rest.Route {
	faults := []int{404, 422, 429, 503}
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/threads/{thread_id}/runs/{run_id}/stream", Action: policy.Use, Summary: "Join the stream of a run",
			Request: new(JoinQuery), Success: rest.Events(new(StreamEvent)), Faults: faults, Serve: d.joinStream,
		},
		{
			Method: http.MethodGet, Path: "/runs/{run_id}/stream", Action: policy.Use, Summary: "Join the stream of a run",
			Request: new(JoinAnyQuery), Success: rest.Events(new(StreamEvent)), Faults: faults, Serve: d.joinStream,
		},
		{
			Method: http.MethodGet, Path: "/threads/{thread_id}/runs/{run_id}/join", Action: policy.Use, Lasting: true, Summary: "Wait for the values of a run",
			Request: new(JoinQuery), Success: rest.JSON(new(map[string]any)), Faults: faults, Serve: d.join,
		},
		{
			Method: http.MethodGet, Path: "/runs/{run_id}/join", Action: policy.Use, Lasting: true, Summary: "Wait for the values of a run",
			Request: new(JoinAnyQuery), Success: rest.JSON(new(map[string]any)), Faults: faults, Serve: d.join,
		},
	}
}

// joined is the reading of a run by one more reader, or the answer that it cannot be read.
func (d *dialect) joined(w http.ResponseWriter, r *http.Request) (b begun, ok bool) {
	run, ok := d.run(w, r)
	if !ok {
		return b, false
	}
	q := r.URL.Query()
	modes, err := queryModes(q["stream_mode"], "stream_mode")
	if err == nil {
		b.after, err = lastEventID(r)
	}
	if err != nil {
		d.Fail(w, r, err)
		return b, false
	}
	var k Kwargs
	_ = json.Unmarshal(run.Kwargs, &k) // of the other dialect, there are none
	if modes == nil {
		modes = k.StreamMode
	}
	if len(modes) == 0 {
		modes = []mode{modeValues}
	}
	b.run, b.t = run, newTranslator(d.about(run.RunInfo), modes, k.Subgraphs)
	b.cancel, _ = strconv.ParseBool(q.Get("cancel_on_disconnect"))
	return b, true
}

// lastEventID is the event after which a client goes on.
func lastEventID(r *http.Request) (int, error) {
	last := r.Header.Get("Last-Event-ID")
	if last == "" {
		return -1, nil
	}
	n, err := strconv.Atoi(last)
	if err != nil || n < -1 {
		return 0, problem.Problem{
			Status: http.StatusUnprocessableEntity, Code: "invalid_last_event_id",
			Detail: "Last-Event-ID: must be the id of an event of this run, or -1 for all of them",
		}
	}
	return n, nil
}

func (d *dialect) joinStream(w http.ResponseWriter, r *http.Request) {
	b, ok := d.joined(w, r)
	if !ok {
		return
	}
	if whole := d.stream(w, r, b.reading); !whole && b.cancel {
		d.abandon(r, b.run)
	}
}

func (d *dialect) join(w http.ResponseWriter, r *http.Request) {
	b, ok := d.joined(w, r)
	if !ok {
		return
	}
	if whole := d.wait(w, r, b.reading); !whole && b.cancel {
		d.abandon(r, b.run)
	}
}

// follow reads a run to where it is over or waits.
func (d *dialect) follow(r *http.Request, run agents.Handle) error {
	ctx, stop := rest.UntilGone(r.Context())
	defer stop()
	for _, err := range run.FollowTurn(ctx, 0) {
		if err != nil {
			return err
		}
	}
	return nil
}
