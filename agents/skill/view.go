package skill

import (
	"slices"
	"strings"
	"time"

	"github.com/svc-gateway/svc/policy"
)

// View is a skill as people and programs are shown it.
type View struct {
	Name        string     `json:"name"`
	State       State      `json:"state"`
	Description string     `json:"description,omitempty"`
	Hash        string     `json:"sha256,omitempty"` // of what is there
	Agents      []string   `json:"agents"`           // that have it, while it is active
	Tools       []ToolView `json:"tools"`
	Files       int        `json:"files"`
	Bytes       int        `json:"bytes"`
	Changes     []Change   `json:"changes,omitempty"` // from what was approved
	Mistakes    []string   `json:"mistakes,omitempty"`
	Approved    string     `json:"approved_sha256,omitempty"`
	By          string     `json:"approved_by,omitempty"`
	At          *time.Time `json:"approved_at,omitempty"`
	// InUse is the hash of what the running service uses, which it keeps in memory.
	InUse string `json:"in_use_sha256,omitempty"`
}

// ToolView is a tool of a skill as people are shown it.
type ToolView struct {
	Name        string        `json:"name"`
	Description string        `json:"description"`
	Script      string        `json:"script"`
	Action      policy.Action `json:"action"`
}

// View shows an entry. named has the names of skills that agents name, by agent.
func (e Entry) View(named map[string][]string) View {
	v := View{
		Name: e.Name, State: e.State, Description: e.Skill.Description, Agents: []string{}, Tools: []ToolView{}, Files: len(e.Skill.Files),
		Changes: e.Changes, Approved: e.Pin.Hash, By: e.Pin.By,
	}
	if e.Pin.Hash != "" {
		v.At = &e.Pin.At
	}
	if len(e.Skill.Files) > 0 {
		v.Hash = e.Skill.Hash
	}
	if e.State == Active {
		v.Agents = slices.Concat(v.Agents, Bind([]Skill{e.Skill}, named).Agents(e.Name))
	}
	for _, t := range e.Skill.Tools {
		v.Tools = append(v.Tools, ToolView{t.Name, t.Description, t.Script, t.Action})
	}
	for _, f := range e.Skill.Files {
		v.Bytes += len(f.Content)
	}
	if e.Err != nil {
		v.Mistakes = strings.Split(e.Err.Error(), "\n")
	}
	return v
}
