package langgraph

import (
	"net/http"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/policy"
)

// ThreadState is the state of a thread at a checkpoint.
type ThreadState struct {
	Values           any            `json:"values"`
	Next             []string       `json:"next" required:"true" nullable:"false" description:"nodes that come next; none: it is over"`
	Tasks            []Task         `json:"tasks" required:"true" nullable:"false"`
	Metadata         map[string]any `json:"metadata" required:"true" nullable:"false"`
	CreatedAt        *string        `json:"created_at"`
	Checkpoint       Checkpoint     `json:"checkpoint" required:"true"`
	ParentCheckpoint *Checkpoint    `json:"parent_checkpoint"`
	Interrupts       []Interrupt    `json:"interrupts" required:"true" nullable:"false"`
}

// Task is a node that comes next.
type Task struct {
	ID         string      `json:"id"`
	Name       string      `json:"name"`
	Error      *string     `json:"error"`
	Interrupts []Interrupt `json:"interrupts"`
	Path       []string    `json:"path"`
	Checkpoint *Checkpoint `json:"checkpoint"`
	State      any         `json:"state"`
	Result     any         `json:"result"`
}

// shownState is a checkpoint as it is shown.
func shownState(c agents.Checkpoint) ThreadState {
	s := ThreadState{
		Values: values(wireAll(c.Messages), c.Values), Next: c.Next, Tasks: []Task{}, Interrupts: []Interrupt{},
		Checkpoint: Checkpoint{ThreadID: c.Thread, ID: c.ID}, Metadata: map[string]any{},
	}
	if s.Next == nil {
		s.Next = []string{}
	}
	for name, v := range c.Metadata {
		s.Metadata[name] = v
	}
	s.Metadata["source"], s.Metadata["step"], s.Metadata["parents"] = c.Source, c.Step, map[string]string{}
	s.Metadata["thread_id"] = c.Thread
	if c.Run != "" {
		s.Metadata["run_id"] = c.Run
	}
	if c.ID == "" {
		s.Metadata = map[string]any{}
		return s
	}
	at := stamp(c.Created)
	s.CreatedAt = &at
	if c.Parent != "" {
		s.ParentCheckpoint = &Checkpoint{ThreadID: c.Thread, ID: c.Parent}
	}
	for _, node := range s.Next {
		t := Task{ID: taskID(c.ID, node), Name: node, Interrupts: []Interrupt{}, Path: path(node)}
		if c.Failure != nil {
			text := string(encode(map[string]string{"name": c.Failure.Code, "message": c.Failure.Message}))
			t.Error = &text
		}
		for _, i := range c.Interrupts {
			if len(i.Calls) == 0 { // a stop asks nothing
				continue
			}
			t.Interrupts = append(t.Interrupts, shownInterrupt(i))
		}
		s.Tasks = append(s.Tasks, t)
		s.Interrupts = append(s.Interrupts, t.Interrupts...)
	}
	return s
}

// StatePath is the path of a state, with what the query says of it.
type StatePath struct {
	ThreadPath
	Subgraphs string `query:"subgraphs" json:"-" description:"not used: sub-agents keep no state of their own"`
}

// StateAtPath is the path of a checkpoint's state.
type StateAtPath struct {
	StatePath
	CheckpointID string `path:"checkpoint_id" json:"-" required:"true" format:"uuid"`
}

// StateBody is the body of POST /threads/{thread_id}/state/checkpoint.
type StateBody struct {
	ThreadPath
	Checkpoint Checkpoint `json:"checkpoint" required:"true"`
	Subgraphs  bool       `json:"subgraphs,omitempty"`
}

// MetadataBody is the body of PATCH requests.
type MetadataBody struct {
	ThreadPath
	Metadata map[string]any `json:"metadata,omitempty" nullable:"false" description:"merged into what is there; null takes a name away"`
}

// stateRoutes are the endpoints of states.
func (d *dialect) stateRoutes() []rest.Route {
	return []rest.Route{
		{
			Method: http.MethodGet, Path: "/threads/{thread_id}/state", Action: policy.Use, Summary: "Look at a thread's state",
			Request: new(StatePath), Success: rest.JSON(new(ThreadState)), Faults: []int{404, 422, 503}, Serve: d.getState,
		},
		{
			Method: http.MethodGet, Path: "/threads/{thread_id}/state/{checkpoint_id}", Action: policy.Use, Summary: "Look at a thread's state at a checkpoint",
			Request: new(StateAtPath), Success: rest.JSON(new(ThreadState)), Faults: []int{404, 422, 503}, Serve: d.getState,
		},
		{
			Method: http.MethodPost, Path: "/threads/{thread_id}/state/checkpoint", Action: policy.Use, Summary: "Look at a thread's state at a checkpoint",
			Request: new(StateBody), Success: rest.JSON(new(ThreadState)), Faults: []int{400, 404, 413, 415, 422, 503}, Serve: d.findState,
		},
		{
			Method: http.MethodPost, Path: "/threads/{thread_id}/state", Action: policy.Use, Summary: "Change a thread's state, or begin a branch at a checkpoint",
			Request: new(UpdateBody), Success: rest.JSON(new(Updated)), Faults: []int{400, 404, 409, 413, 415, 422, 503}, Serve: d.updateState,
		},
		{
			Method: http.MethodPatch, Path: "/threads/{thread_id}/state", Action: policy.Use, Summary: "Change a thread's metadata",
			Request: new(MetadataBody), Success: rest.JSON(new(Thread)), Faults: []int{400, 404, 413, 415, 422, 503}, Serve: d.patchState,
		},
		{
			Method: http.MethodPost, Path: "/threads/{thread_id}/history", Action: policy.Use, Summary: "List a thread's checkpoints, the newest first",
			Request: new(HistoryBody), Success: rest.JSON(new([]ThreadState)), Faults: []int{400, 404, 413, 415, 422, 503}, Serve: d.history,
		},
		{
			Method: http.MethodGet, Path: "/threads/{thread_id}/history", Action: policy.Use, Summary: "List a thread's checkpoints, the newest first",
			Request: new(HistoryQuery), Success: rest.JSON(new([]ThreadState)), Faults: []int{404, 422, 503}, Serve: d.queryHistory,
		},
	}
}

func (d *dialect) getState(w http.ResponseWriter, r *http.Request) {
	thread, ok := rest.PathID(w, r, "thread_id")
	if !ok {
		return
	}
	checkpoint := ""
	if r.PathValue("checkpoint_id") != "" {
		if checkpoint, ok = rest.PathID(w, r, "checkpoint_id"); !ok {
			return
		}
	}
	d.writeState(w, r, thread, checkpoint)
}

func (d *dialect) writeState(w http.ResponseWriter, r *http.Request, thread, checkpoint string) {
	c, err := d.View(r).State(r.Context(), thread, checkpoint)
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	rest.WriteJSON(w, shownState(c))
}

func (d *dialect) findState(w http.ResponseWriter, r *http.Request) {
	thread, ok := rest.PathID(w, r, "thread_id")
	if !ok {
		return
	}
	var body StateBody
	if !d.DecodeOpen(w, r, &body, d.Options.BodyBytes, membersOf[StateBody]()) {
		return
	}
	id, err := checkpointID(&body.Checkpoint, "", thread)
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	d.writeState(w, r, thread, id)
}

// checkpointID is the checkpoint of a thread that a body names, in one of two ways.
func checkpointID(c *Checkpoint, id, thread string) (string, error) {
	if c == nil {
		return id, nil
	}
	switch {
	case c.ThreadID != "" && c.ThreadID != thread:
		return "", agents.ErrCheckpointNotFound
	case c.Namespace != "":
		return "", rest.Invalid("checkpoint.checkpoint_ns: must be empty; sub-agents keep no state of their own")
	case id != "" && c.ID != "" && id != c.ID:
		return "", rest.Invalid("checkpoint_id: must be the one of checkpoint, or be left out")
	case c.ID == "":
		return id, nil
	}
	parsed, ok := rest.UUID(c.ID)
	if !ok {
		return "", rest.Invalid("checkpoint.checkpoint_id: must be a valid uuid")
	}
	return parsed, nil
}

func (d *dialect) patchState(w http.ResponseWriter, r *http.Request) {
	thread, ok := rest.PathID(w, r, "thread_id")
	if !ok {
		return
	}
	var body MetadataBody
	if !d.DecodeOpen(w, r, &body, d.Options.BodyBytes, membersOf[MetadataBody]()) {
		return
	}
	d.patch(w, r, thread, agents.ThreadPatch{Metadata: body.Metadata})
}

// patch changes a thread and answers with it.
func (d *dialect) patch(w http.ResponseWriter, r *http.Request, thread string, p agents.ThreadPatch) {
	err := checkMetadata(p.Metadata)
	var t agents.Thread
	if err == nil {
		t, err = d.View(r).UpdateThread(r.Context(), thread, p)
	}
	d.writeThread(w, r, t, err)
}
