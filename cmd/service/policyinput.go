package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/device"
	"github.com/svc-gateway/svc/agents/fetch"
	"github.com/svc-gateway/svc/agents/remote"
	"github.com/svc-gateway/svc/agents/skill"
	"github.com/svc-gateway/svc/agents/tools"
	agentsmodule "github.com/svc-gateway/svc/caddymodule/agents"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/internal/suggest"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/cases"
	"github.com/svc-gateway/svc/policy/provenance"
)

// toolbox knows what the tools make of arguments. None of them is run.
type toolbox struct {
	tools []agents.Tool
	own   []agents.Tool // those of them that are not of skills
}

func newTools(home settings.Home) (*toolbox, error) {
	s, _, err := app.Resolve(home, nil)
	if err != nil {
		return nil, err
	}
	web, err := fetch.FromSettings(s.Fetch)
	if err != nil {
		return nil, err
	}
	own := agentsmodule.Tools(s, home, agentsmodule.Means{Web: fetch.New(web), Devices: device.New(device.Config{})})
	store, err := agentsmodule.SkillStore(home, own)
	if err != nil {
		return nil, err
	}
	set, err := store.Read()
	if err != nil {
		return nil, err
	}
	c := tools.ScriptConfig{Root: s.Runtime.ProjectRoot, Denied: []string{home.Dir()}, Timeout: s.Runtime.Timeout}
	return &toolbox{slices.Concat(own, remote.Describe(), tools.SkillTools(c, set.Active(), skill.Bind(set.Active(), nil))), own}, nil
}

func (t *toolbox) names() []string {
	names := []string{agents.Delegate}
	for _, tool := range t.tools {
		names = append(names, tool.Name)
	}
	return names
}

// input completes a call by what its tool says of it.
func (t *toolbox) input(c cases.Call) (policy.Input, error) {
	in, err := c.Input(time.Now())
	if err != nil {
		return in, err
	}
	i := slices.IndexFunc(t.tools, func(tool agents.Tool) bool { return tool.Name == in.Tool })
	switch {
	case i >= 0:
		if err := complete(&in, t.tools[i].ToolDef, c.Trail()); err != nil {
			return in, err
		}
	case in.Tool == agents.Delegate && in.Action == "":
		in.Action = policy.Use
	case in.Action == "":
		return in, fmt.Errorf("there is no tool %s%s: give its action if it is one that is still to come", in.Tool, suggest.DidYouMean(in.Tool, t.names()))
	}
	if in.Skill == "" {
		in.Skill = in.Tool
	}
	return in, nil
}

// complete adds what a tool declares and finds. What the call says itself stays. A call that no policy
// is asked about is an error.
func complete(in *policy.Input, d agents.ToolDef, trail provenance.Trail) error {
	args := in.Arguments
	if args == nil {
		args = map[string]any{}
	}
	c := d.Class(args)
	if c.Refused != "" {
		return fmt.Errorf("the call is refused before any rule is asked: %s", c.Refused)
	}
	if in.Skill == "" {
		in.Skill = d.Skill
	}
	if in.Action == "" {
		in.Action = c.Action
	}
	in.Command, in.Findings = c.Command, c.Findings
	in.Categories = append(in.Categories, c.Categories...)
	if in.Paths == nil {
		in.Paths = c.Paths
	}
	if in.Targets == nil {
		in.Targets = trail.Trace(c.Targets)
	}
	return nil
}
