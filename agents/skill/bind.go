package skill

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/agents"
)

// ReadTool is the name of the tool with which agents read their skills.
const ReadTool = "read_skill"

// Bound says which agents have which skills, by the names of the agents.
type Bound map[string][]Skill

// Bind gives skills to the agents that they name, and to those that name them: named has the names of skills
// by agent.
func Bind(active []Skill, named map[string][]string) Bound {
	b := Bound{}
	for _, s := range active {
		if s.Agent != "" {
			b[s.Agent] = append(b[s.Agent], s)
		}
		for _, agent := range slices.Sorted(maps.Keys(named)) {
			if agent != s.Agent && slices.Contains(named[agent], s.Name) {
				b[agent] = append(b[agent], s)
			}
		}
	}
	return b
}

// Agents are the names of those that have a skill.
func (b Bound) Agents(name string) []string {
	var all []string
	for _, agent := range slices.Sorted(maps.Keys(b)) {
		if slices.ContainsFunc(b[agent], func(s Skill) bool { return s.Name == name }) {
			all = append(all, agent)
		}
	}
	return all
}

// Equip gives an agent what its skills bring: their tools, and in its prompt their names and what they are
// for. The instructions themselves are read when they are needed. Agents that may hand it tasks see the
// names, too.
func (b Bound) Equip(a agents.Agent) agents.Agent {
	skills := b[a.Name]
	if len(skills) == 0 {
		return a
	}
	a.Tools = append(slices.Clone(a.Tools), ReadTool)
	var prompt strings.Builder
	fmt.Fprintf(&prompt, "%s\n\n# Skills\n\nYou have these skills. Before you do what one of them is for, read its instruction with %s.\n", a.System, ReadTool)
	var names []string
	for _, s := range skills {
		fmt.Fprintf(&prompt, "\n- %s: %s", s.Name, s.Description)
		names = append(names, s.Name)
		for _, t := range s.Tools {
			a.Tools = append(a.Tools, t.Name)
		}
	}
	a.System = prompt.String()
	a.Description += "; its skills: " + strings.Join(names, ", ")
	return a
}
