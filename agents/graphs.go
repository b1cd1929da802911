package agents

import (
	"maps"
	"slices"
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
