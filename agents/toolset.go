package agents

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/provenance"
)

// toolset is a version of the agents and tools that runs work with. It does not change; a runtime
// gets another one.
type toolset struct {
	version string // of what models and the policy see of it; the first 12 digits of a SHA-256
	agents  map[string]boundAgent
}

// boundAgent is an agent with its tools.
type boundAgent struct {
	Agent
	tools map[string]boundTool
	specs []model.ToolSpec
}

// newToolset gives every agent its tools, and no others.
func newToolset(agents []Agent, tools []Tool) (*toolset, error) {
	known := map[string]boundTool{}
	for _, t := range tools {
		for argument, kind := range t.Targets {
			if !kind.Known() {
				return nil, fmt.Errorf("tool %s: the target %s has the unknown kind %q, want one of %v", t.Name, argument, kind, provenance.Kinds())
			}
		}
		bt, err := compileParameters(t)
		if err != nil {
			return nil, err
		}
		if _, twice := known[t.Name]; twice {
			return nil, fmt.Errorf("there are two tools with the name %s", t.Name)
		}
		known[t.Name] = bt
	}
	described := map[string]string{}
	for _, a := range agents {
		described[a.Name] = a.Description
	}
	set := &toolset{agents: map[string]boundAgent{}}
	for _, a := range agents {
		b := boundAgent{Agent: a, tools: map[string]boundTool{}}
		for _, name := range a.Tools {
			t, ok := known[name]
			if !ok {
				return nil, fmt.Errorf("agent %s names the tool %q, which does not exist", a.Name, name)
			}
			b.add(t)
		}
		if len(a.Delegates) > 0 {
			t, err := delegation(a.Delegates, described)
			if err != nil {
				return nil, fmt.Errorf("agent %s: %w", a.Name, err)
			}
			b.add(t)
		}
		set.agents[a.Name] = b
	}
	var err error
	set.version, err = versionOf(agents, tools)
	return set, err
}

// versionOf is the same for the same agents and tools in every process, in whatever order they are
// given.
func versionOf(agents []Agent, tools []Tool) (string, error) {
	type seen struct {
		Name, Description, Skill string
		Revision                 string `json:",omitempty"`
		Parameters               json.RawMessage
		Action                   policy.Action
		Targets                  map[string]provenance.Kind `json:",omitempty"`
	}
	doc := struct {
		Agents []Agent
		Tools  []seen
	}{Agents: slices.SortedFunc(slices.Values(agents), func(a, b Agent) int { return strings.Compare(a.Name, b.Name) })}
	for _, t := range tools {
		doc.Tools = append(doc.Tools, seen{t.Name, t.Description, t.Skill, t.Revision, t.Parameters, t.Action, t.Targets})
	}
	slices.SortFunc(doc.Tools, func(a, b seen) int { return strings.Compare(a.Name, b.Name) })
	text, err := json.Marshal(doc)
	if err != nil {
		return "", fmt.Errorf("describing agents and tools: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6]), nil
}

func (b *boundAgent) add(t boundTool) {
	b.tools[t.Name] = t
	b.specs = append(b.specs, model.ToolSpec{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
}
