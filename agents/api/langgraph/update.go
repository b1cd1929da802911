package langgraph

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/agents/tree"
)

// UpdateBody is the body of POST /threads/{thread_id}/state.
type UpdateBody struct {
	ThreadPath
	Values       json.RawMessage `json:"values,omitempty" description:"what is written, or a list of such"`
	CheckpointID string          `json:"checkpoint_id,omitempty" format:"uuid" description:"where it is written; default: the thread's end"`
	Checkpoint   *Checkpoint     `json:"checkpoint,omitempty" nullable:"false" description:"the same"`
	AsNode       string          `json:"as_node,omitempty" description:"the node that it counts as"`
}

// Updated is the answer of an update of the state.
type Updated struct {
	Checkpoint Checkpoint `json:"checkpoint" required:"true"`
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
