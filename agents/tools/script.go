package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/agents/skill"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/provenance"
)

// projectVariable has the path of the project root, for scripts that are shown it.
const projectVariable = "SVC_PROJECT"

// ScriptConfig is what tools of skills work with.
type ScriptConfig struct {
	Box     Sandbox       // nil: none
	Root    string        // the project root
	Denied  []string      // folders that no call reaches
	Timeout time.Duration // how long a script runs at most
}

// SkillTools are the tools of skills, if there are any: first read_skill, then their own.
func SkillTools(c ScriptConfig, active []skill.Skill, bound skill.Bound) []agents.Tool {
	if len(active) == 0 {
		return nil
	}
	all := []agents.Tool{ReadSkill(bound)}
	for _, s := range active {
		for _, t := range s.Tools {
			all = append(all, Script(c, s, t))
		}
	}
	return all
}

// Script returns a tool of a skill: a script, run in a sandbox. Its workspace is new and has the files of the
// skill as they were approved. The script gets its arguments as a JSON object on its standard input, has no
// network, and sees the project root only if an argument names a path: read-only when its action is use.
func Script(c ScriptConfig, s skill.Skill, t skill.Tool) agents.Tool {
	p := newScript(c, s, t)
	return agents.NewTool(agents.ToolDef{
		Name: t.Name, Description: t.Description, Skill: s.Name, Revision: s.Hash, Parameters: t.Parameters, Action: t.Action,
		Classify: p.classify, Timeout: p.Timeout + endTime,
	}, p.run)
}

// script is a tool of a skill.
type script struct {
	ScriptConfig

	skill   skill.Skill
	tool    skill.Tool
	w       workspace
	project bool // the project root is shown
}

func newScript(c ScriptConfig, s skill.Skill, t skill.Tool) script {
	p := script{
		ScriptConfig: c, skill: s, tool: t, w: workspace{root: c.Root, denied: c.Denied},
		project: slices.Contains(slices.Collect(maps.Values(t.Targets)), provenance.Path),
	}
	if t.Timeout > 0 && (c.Timeout <= 0 || t.Timeout < c.Timeout) {
		p.Timeout = t.Timeout
	}
	return p
}

// writable reports whether a call may change files in the project root.
func (p script) writable() bool { return p.project && p.tool.Action != policy.Use }

// classify says what a call reaches for. The policy sees paths as those of other tools.
func (p script) classify(args map[string]any) agents.Classification {
	declared := agents.ToolDef{Targets: p.tool.Targets}
	c := agents.Classification{Action: p.tool.Action, Where: p.where()}
	for _, t := range declared.Class(args).Targets {
		if t.Kind != provenance.Path {
			c.Targets = append(c.Targets, t)
			continue
		}
		paths := p.w.paths(t.Value)
		c.Paths = append(c.Paths, paths...)
		c.Targets = append(c.Targets, p.w.pathTargets(t.Argument, paths)...)
	}
	return c
}

func (p script) where() string {
	switch {
	case p.writable():
		return "in a sandbox that can change the project root"
	case p.project:
		return "in a sandbox that sees the project root"
	}
	return "in a sandbox with a workspace of its own"
}

func (p script) run(ctx context.Context, _ agents.ToolContext, args map[string]any) (agents.Result, error) {
	if p.Box == nil {
		return agents.Result{}, errNoSandbox
	}
	input, err := json.Marshal(args)
	if err != nil {
		return agents.Result{}, fmt.Errorf("writing the arguments: %w", err)
	}
	spec := sandbox.Spec{
		Args: []string{"./" + p.tool.Script}, Stdin: bytes.NewReader(input), Network: sandbox.NoNetwork, Timeout: p.Timeout,
		Limits: sandbox.Limits{Output: codeOutput},
	}
	for _, f := range p.skill.Files {
		spec.Files = append(spec.Files, sandbox.File{Path: f.Path, Exec: f.Exec, Content: f.Content})
	}
	if p.project {
		t, err := p.w.open()
		if err != nil {
			return agents.Result{}, err
		}
		defer func() { _ = t.Close() }()
		if err := t.outOfReach(); err != nil {
			return agents.Result{}, err
		}
		spec.Binds = []sandbox.Bind{{Source: t.real, Writable: p.writable()}}
		spec.Env = []string{projectVariable + "=" + t.real}
	}
	r, err := p.Box.Run(ctx, spec)
	res := agents.Result{Text: r.Stdout, Truncated: r.Truncated, Sources: []string{skill.Label(p.skill.Name)}}
	if err != nil {
		return res, err
	}
	return p.result(res, r)
}

// result makes text of how a script went. One that ends with another exit code than 0 has failed.
func (p script) result(res agents.Result, r sandbox.Result) (agents.Result, error) {
	if r.Truncated {
		res.Text = noted(res.Text, "cut: the first %d bytes are shown", len(r.Stdout))
	}
	said := strings.TrimSpace(r.Stderr)
	switch {
	case r.TimedOut:
		return res, fmt.Errorf("the script was stopped when its time was over: %w", context.DeadlineExceeded)
	case r.OOM:
		return res, errors.New("the script was ended because its memory was used up")
	case r.Signal != "":
		return res, fmt.Errorf("the script was ended by the signal %s: %s", r.Signal, said)
	case r.Exit != 0:
		return res, fmt.Errorf("the script ended with the exit code %d: %s", r.Exit, said)
	case said != "":
		res.Text = noted(res.Text, "printed as errors: %s", said)
	}
	if strings.TrimSpace(res.Text) == "" {
		res.Text = noted("", "no output")
	}
	return res, nil
}
