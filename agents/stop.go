package agents

import (
	"slices"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/tree"
)

// stops are the nodes of the top-level agent's graph before and after which a run stops.
type stops struct {
	Before []string `json:"before,omitempty"`
	After  []string `json:"after,omitempty"`
	// Passed is the number of messages at the stop that somebody went on from, and one: nobody has.
	Passed int `json:"passed,omitempty"`
}

// everyNode stands for each node.
const everyNode = "*"

func among(nodes []string, node string) bool {
	return slices.Contains(nodes, node) || slices.Contains(nodes, everyNode)
}

// stop is where a run stands at a stop.
type stop struct {
	node          string
	before, after bool
}

// stopped is the stop that the run stands at; none: it may go on.
func (r *Run) stopped() (s stop, ok bool) {
	if r.Stops == nil || len(r.Frames) == 0 {
		return s, false
	}
	f := &r.Frames[0]
	if r.Stops.Passed == len(f.Messages)+1 || f.Thinking || f.answered() {
		return s, false
	}
	next, past := tree.NodeAgent, tree.NodeStart
	switch {
	case slices.ContainsFunc(f.Calls, func(c Call) bool { return c.Status != CallProposed }):
		return s, false // the round is under way
	case len(f.Calls) > 0:
		next, past = tree.NodeTools, tree.NodeAgent
	case len(f.Messages) > r.Input && f.Messages[len(f.Messages)-1].Role == model.RoleTool:
		past = tree.NodeTools
	}
	switch {
	case among(r.Stops.After, past) && past != tree.NodeStart:
		return stop{past, false, true}, true
	case among(r.Stops.Before, next):
		return stop{next, true, false}, true
	}
	return s, false
}

// pass has the run go on from the stop that it stands at.
func (r *Run) pass() { r.Stops.Passed = len(r.Frames[0].Messages) + 1 }
