package langgraph

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/agents/tree"
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

// UpdateBody is the body of POST /threads/{thread_id}/state.
type UpdateBody struct {
	ThreadPath
	Values       json.RawMessage `json:"values,omitempty" description:"what is written, or a list of such"`
	CheckpointID string          `json:"checkpoint_id,omitempty" format:"uuid" description:"where it is written; default: the thread's end"`
	Checkpoint   *Checkpoint     `json:"checkpoint,omitempty" nullable:"false" description:"the same"`
	AsNode       string          `json:"as_node,omitempty" description:"the node that it counts as"`
}

// MetadataBody is the body of PATCH requests.
type MetadataBody struct {
	ThreadPath
	Metadata map[string]any `json:"metadata,omitempty" nullable:"false" description:"merged into what is there; null takes a name away"`
}

// HistoryBody is the body of POST /threads/{thread_id}/history.
type HistoryBody struct {
	ThreadPath
	Limit      *int            `json:"limit,omitempty" nullable:"false" default:"10" description:"from 1 to 1000"`
	Before     json.RawMessage `json:"before,omitempty" description:"a checkpoint: its id, or an object with it"`
	Metadata   map[string]any  `json:"metadata,omitempty" nullable:"false"`
	Checkpoint *Checkpoint     `json:"checkpoint,omitempty" nullable:"false" description:"only of the graph: checkpoint_ns must be empty"`
}

// HistoryQuery is GET /threads/{thread_id}/history.
type HistoryQuery struct {
	ThreadPath
	Limit  int    `query:"limit" json:"-" minimum:"1" maximum:"1000" default:"10"`
	Before string `query:"before" json:"-" format:"uuid"`
}

// Updated is the answer of an update of the state.
type Updated struct {
	Checkpoint Checkpoint `json:"checkpoint" required:"true"`
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

func (d *dialect) updateState(w http.ResponseWriter, r *http.Request) {
	thread, ok := rest.PathID(w, r, "thread_id")
	if !ok {
		return
	}
	var body UpdateBody
	if !d.DecodeOpen(w, r, &body, d.Options.BodyBytes, membersOf[UpdateBody]()) {
		return
	}
	c, err := d.update(r, thread, &body)
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	rest.WriteJSON(w, Updated{Checkpoint{ThreadID: thread, ID: c.ID}})
}

func (d *dialect) update(r *http.Request, thread string, body *UpdateBody) (agents.Checkpoint, error) {
	id, err := checkpointID(body.Checkpoint, body.CheckpointID, thread)
	if err != nil {
		return agents.Checkpoint{}, err
	}
	u, err := readUpdate(body.Values, body.AsNode, "values", "as_node")
	if err != nil {
		return agents.Checkpoint{}, err
	}
	u.Checkpoint = id
	return d.View(r).UpdateState(r.Context(), thread, u)
}

// asNodes are the nodes that an update may count as.
var asNodes = []string{"", tree.NodeStart, tree.NodeAgent, tree.NodeTools, tree.NodeEnd}

// readUpdate reads a change of the state.
func readUpdate(doc json.RawMessage, node, where, nodeWhere string) (agents.StateUpdate, error) {
	if !slices.Contains(asNodes, node) {
		return agents.StateUpdate{}, rest.Invalid(fmt.Sprintf("%s: must be one of agent, tools, got %q", nodeWhere, node))
	}
	docs := []json.RawMessage{doc}
	if kindOf(doc) == "array" {
		if err := json.Unmarshal(doc, &docs); err != nil {
			return agents.StateUpdate{}, rest.Invalid(where + ": is no JSON")
		}
	}
	u := agents.StateUpdate{AsNode: node}
	for i, doc := range docs {
		at := where
		if len(docs) > 1 {
			at = fmt.Sprintf("%s[%d]", where, i)
		}
		c, err := readChange(doc, at)
		if err != nil {
			return u, err
		}
		if c.RemoveAll {
			u.RemoveAll, u.Remove, u.Messages = true, nil, nil
		}
		u.Remove, u.Messages = append(u.Remove, c.Remove...), append(u.Messages, c.Messages...)
		for name, v := range c.Values {
			if u.Values == nil {
				u.Values = map[string]any{}
			}
			u.Values[name] = v
		}
	}
	return u, nil
}

// maxSupersteps bounds what a thread begins with.
const maxSupersteps = 1000

// readSupersteps reads updates of the state that a thread begins with.
func readSupersteps(doc json.RawMessage) ([]agents.StateUpdate, error) {
	if isNull(doc) {
		return nil, nil
	}
	var steps []struct {
		Updates []struct {
			Values  json.RawMessage `json:"values"`
			Command *Command        `json:"command"`
			AsNode  string          `json:"as_node"`
		} `json:"updates"`
	}
	if err := json.Unmarshal(doc, &steps); err != nil {
		return nil, rest.Invalid("supersteps: must be an array of {\"updates\": [{\"values\": …, \"as_node\": …}]}")
	}
	var all []agents.StateUpdate
	for i, s := range steps {
		for j, u := range s.Updates {
			where := fmt.Sprintf("supersteps[%d].updates[%d]", i, j)
			values, at := u.Values, where+".values"
			if isNull(values) && u.Command != nil {
				values, at = u.Command.Update, where+".command.update"
			}
			one, err := readUpdate(values, u.AsNode, at, where+".as_node")
			if err != nil {
				return nil, err
			}
			all = append(all, one)
		}
	}
	if len(all) > maxSupersteps {
		return nil, rest.Invalid(fmt.Sprintf("supersteps: must not have more than %d updates", maxSupersteps))
	}
	return all, nil
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

const (
	defaultLimit = 10
	maxLimit     = 1000
)

func (d *dialect) history(w http.ResponseWriter, r *http.Request) {
	thread, ok := rest.PathID(w, r, "thread_id")
	if !ok {
		return
	}
	var body HistoryBody
	if !d.DecodeOpen(w, r, &body, d.Options.BodyBytes, membersOf[HistoryBody]()) {
		return
	}
	f, err := body.filter(thread)
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	d.writeHistory(w, r, thread, f)
}

func (b *HistoryBody) filter(thread string) (agents.HistoryFilter, error) {
	f := agents.HistoryFilter{Limit: defaultLimit, Metadata: b.Metadata}
	if b.Limit != nil {
		f.Limit = *b.Limit
	}
	if f.Limit < 1 || f.Limit > maxLimit {
		return f, rest.Invalid(fmt.Sprintf("limit: must be a number from 1 to %d", maxLimit))
	}
	if _, err := checkpointID(b.Checkpoint, "", thread); err != nil {
		return f, err
	}
	var err error
	f.Before, err = readBefore(b.Before, thread)
	return f, err
}

// readBefore reads the checkpoint that a list is to begin after: an id, a checkpoint, or a configuration
// with one.
func readBefore(doc json.RawMessage, thread string) (string, error) {
	var c Checkpoint
	switch kindOf(doc) {
	case "null":
		return "", nil
	case "string":
		_ = json.Unmarshal(doc, &c.ID) // it is one
	case "object":
		if inner := object(doc)["configurable"]; inner != nil {
			doc = inner
		}
		if err := json.Unmarshal(doc, &c); err != nil {
			return "", rest.Invalid("before: " + wrongType(err))
		}
	}
	id, ok := rest.UUID(c.ID)
	if !ok {
		return "", rest.Invalid("before: must be the id of a checkpoint, or an object with its checkpoint_id")
	}
	if c.ThreadID != "" && c.ThreadID != thread {
		return "", agents.ErrCheckpointNotFound
	}
	return id, nil
}

func (d *dialect) queryHistory(w http.ResponseWriter, r *http.Request) {
	thread, ok := rest.PathID(w, r, "thread_id")
	if !ok {
		return
	}
	q := r.URL.Query()
	f := agents.HistoryFilter{Limit: defaultLimit}
	var err error
	if f.Limit, err = queryNumber(q.Get("limit"), "limit", defaultLimit, 1, maxLimit); err == nil && q.Get("before") != "" {
		f.Before, err = readBefore(encode(q.Get("before")), thread)
	}
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	d.writeHistory(w, r, thread, f)
}

// queryNumber is a number of a query.
func queryNumber(text, name string, otherwise, least, most int) (int, error) {
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, rest.Invalid(fmt.Sprintf("%s: must be a number from %d to %d", name, least, most))
	}
	return n, nil
}

func (d *dialect) writeHistory(w http.ResponseWriter, r *http.Request, thread string, f agents.HistoryFilter) {
	list, err := d.View(r).History(r.Context(), thread, f)
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	states := make([]ThreadState, len(list))
	for i, c := range list {
		states[i] = shownState(c)
	}
	rest.WriteJSON(w, states)
}

// patch changes a thread and answers with it.
func (d *dialect) patch(w http.ResponseWriter, r *http.Request, thread string, p agents.ThreadPatch) {
	err := checkMetadata(p.Metadata)
	var shown Thread
	if err == nil {
		var t agents.Thread
		if t, err = d.View(r).UpdateThread(r.Context(), thread, p); err == nil {
			shown, err = d.withState(r, t)
		}
	}
	if err != nil {
		d.Fail(w, r, err)
		return
	}
	rest.WriteJSON(w, shown)
}
