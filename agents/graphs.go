package agents

import (
	"maps"
	"slices"

	"github.com/svc-gateway/svc/policy"
)

// Agents are those that runs may be started with now, by name.
func (rt *Runtime) Agents() []Agent {
	set := rt.set.Load()
	var list []Agent
	for _, name := range slices.Sorted(maps.Keys(set.agents)) {
		list = append(list, set.agents[name].Agent)
	}
	return list
}

// Tools are those of an agent that the principal may have called, by name. What a call may do is decided
// when it is made.
func (v View) Tools(agent string) []ToolDef {
	a := v.rt.set.Load().agents[agent]
	var list []ToolDef
	for _, name := range slices.Sorted(maps.Keys(a.tools)) {
		t := a.tools[name]
		skill, action := t.Skill, t.Action
		if skill == "" {
			skill = name
		}
		if policy.Permitted(v.p.Role, agent, skill, action) {
			list = append(list, t.ToolDef)
		}
	}
	return list
}
