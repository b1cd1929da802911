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

// The lenders, in the order in which they add. What MCP clients are offered has the tools of skills in it.
const (
	lentBySkills = iota
	lentByServers
	lenders
)

// lend has the runtime work with what a lender has now. With an error everything stays as it was.
func (e *equipment) lend(lender int, l lending) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	lent := e.lent
	lent[lender] = l
	if err := e.rt.SetTools(e.now(lent)); err != nil {
		return err
	}
	e.lent = lent
	return nil
}

// now are the agents and the tools with what is lent.
func (e *equipment) now(lent [lenders]lending) ([]agents.Agent, []agents.Tool) {
	all, tools := e.agents, e.tools
	for _, l := range lent {
		if l != nil {
			all, tools = l(all, tools)
		}
	}
	return all, tools
}
