package langgraph

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/api/rest"
)

// segments are the parts of a namespace.
func segments(ns string) []string {
	if ns == "" {
		return []string{}
	}
	return strings.Split(ns, "|")
}

// Look is what commands are sent with that look at a thread.
type Look struct {
	Namespace []string        `json:"namespace"`
	Keys      []string        `json:"keys"`
	Limit     *int            `json:"limit"`
	Before    json.RawMessage `json:"before"`
	Run       string          `json:"run_id"`
}

// look reads the parameters of such a command.
func (c *command) look() (Look, error) {
	var in Look
	if err := json.Unmarshal(c.params, &in); err != nil {
		return in, rest.Invalid("params: " + wrongType(err))
	}
	if len(in.Namespace) > 0 {
		return in, &commandError{codeNamespace, "namespace: must be empty; sub-agents keep no state of their own"}
	}
	return in, nil
}

// CheckpointRef names a checkpoint of the graph.
type CheckpointRef struct {
	ID        string `json:"id"`
	Namespace string `json:"ns"`
}

// StateResult is the result of state.get.
type StateResult struct {
	Values     map[string]any `json:"values"`
	Checkpoint *CheckpointRef `json:"checkpoint,omitempty"`
}

func (d *dialect) stateGet(c *command) (any, error) {
	in, err := c.look()
	if err != nil {
		return nil, err
	}
	now, err := d.View(c.r).State(c.r.Context(), c.thread, "")
	if err != nil {
		return nil, err
	}
	result := StateResult{Values: values(wireAll(now.Messages), now.Values)}
	if in.Keys != nil {
		maps.DeleteFunc(result.Values, func(name string, _ any) bool { return !slices.Contains(in.Keys, name) })
	}
	if now.ID != "" {
		result.Checkpoint = &CheckpointRef{ID: now.ID}
	}
	return result, nil
}

// CheckpointSummary is one checkpoint of state.listCheckpoints.
type CheckpointSummary struct {
	ID        string         `json:"id"`
	Timestamp string         `json:"timestamp"`
	Step      int            `json:"step"`
	Metadata  map[string]any `json:"metadata"`
}

func (d *dialect) listCheckpoints(c *command) (any, error) {
	in, err := c.look()
	if err != nil {
		return nil, err
	}
	f := agents.HistoryFilter{Limit: defaultLimit}
	if in.Limit != nil {
		f.Limit = *in.Limit
	}
	if f.Limit < 1 || f.Limit > maxLimit {
		return nil, rest.Invalid(fmt.Sprintf("limit: must be a number from 1 to %d", maxLimit))
	}
	if !isNull(in.Before) {
		if f.Before, err = readBefore(in.Before, c.thread); err != nil {
			return nil, err
		}
	}
	list, err := d.View(c.r).History(c.r.Context(), c.thread, f)
	if err != nil {
		return nil, err
	}
	all := make([]CheckpointSummary, len(list))
	for i, at := range list {
		all[i] = CheckpointSummary{at.ID, stamp(at.Created), at.Step, shownState(at).Metadata}
	}
	return map[string]any{"checkpoints": all}, nil
}

// TreeNode is a graph of agent.getTree, with the subgraphs below it.
type TreeNode struct {
	Namespace []string    `json:"namespace"`
	Status    string      `json:"status"`
	Graph     string      `json:"graph_name"`
	Children  []*TreeNode `json:"children,omitempty"`
}

func (d *dialect) agentTree(c *command) (any, error) {
	in, err := c.look()
	if err != nil {
		return nil, err
	}
	ctx := c.r.Context()
	var run agents.Handle
	if in.Run == "" {
		latest, ok, err := d.View(c.r).LatestBegun(ctx, c.thread)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, agents.ErrRunNotFound
		}
		run = latest.Handle
	} else if run, err = d.View(c.r).Run(ctx, c.thread, in.Run); err != nil {
		return nil, err
	}
	told, err := d.replayed(ctx, run, 0, func(channel, string, []string) bool { return false }, 1<<62)
	if err != nil {
		return nil, err
	}
	return map[string]any{"tree": told.tree()}, nil
}

// tree is how the graphs of the run stand.
func (c *chronicle) tree() *TreeNode {
	nodes := map[string]*TreeNode{}
	for _, no := range slices.Sorted(maps.Keys(c.graphs)) { // a graph comes before those below it
		g := c.graphs[no]
		n := &TreeNode{Namespace: g.ns, Status: g.status, Graph: g.agent}
		nodes[strings.Join(g.ns, "|")] = n
		if len(g.ns) == 0 {
			continue
		}
		if above := nodes[strings.Join(g.ns[:len(g.ns)-1], "|")]; above != nil {
			above.Children = append(above.Children, n)
		}
	}
	return nodes[""]
}
