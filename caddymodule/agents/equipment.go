package agents

import (
	"sync"

	"github.com/svc-gateway/svc/agents"
)

// equipment is what the agents of a runtime work with: their own tools, and what skills and servers lend them.
// What is lent changes while the runtime works.
type equipment struct {
	agents []agents.Agent
	tools  []agents.Tool

	mu   sync.Mutex
	rt   *agents.Runtime
	lent [lenders]lending
}

// lending adds to agents and tools what a lender has at a time. It does not change those that it gets.
type lending func([]agents.Agent, []agents.Tool) ([]agents.Agent, []agents.Tool)

// The lenders, in the order in which they add: a server's tools may be offered on, with those of skills.
const (
	lentBySkills = iota
	lenders
)

// lend has the runtime work with what a lender has now. With an error everything stays as it was.
func (e *equipment) lend(lender int, l lending) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	lent := e.lent
	lent[lender] = l
	all, tools := e.agents, e.tools
	for _, l := range lent {
		if l != nil {
			all, tools = l(all, tools)
		}
	}
	if err := e.rt.SetTools(all, tools); err != nil {
		return err
	}
	e.lent = lent
	return nil
}
