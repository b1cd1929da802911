package agents

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/svc-gateway/svc/agents/arguments"
	"github.com/svc-gateway/svc/agents/schema"
	"github.com/svc-gateway/svc/internal/strictjson"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner"
)

// boundTool is a tool with its compiled parameter schema.
type boundTool struct {
	Tool
	schema *schema.Schema
}

// analysis is what the gate knows of a call before it decides.
type analysis struct {
	tool     boundTool
	raw      string // the arguments as JSON
	args     map[string]any
	action   policy.Action
	findings []scanner.Finding
	digest   string // empty for a call that cannot be made
	input    policy.Input
	snapshot json.RawMessage // of the input, for the record
	where    string          // where the call would run, for people
	changed  string          // how a person changed the arguments, for the model
	invalid  string          // why the call is not made, whatever the policy says: a stable word and the details
}

// analyse looks at a call without doing anything. What it cannot look at is denied.
func analyse(s scope, c Call, scan func(text string) []scanner.Finding) (a *analysis) {
	defer func() {
		if p := recover(); p != nil {
			a.invalid = fmt.Sprintf("analysis_failed: %s: %v", c.Name, p)
		}
	}()
	a = &analysis{input: policy.Input{Principal: s.principal, Agent: s.agent, Tool: c.Name, Labels: c.Labels}}
	tool, ok := s.tools[c.Name]
	if !ok {
		a.invalid = fmt.Sprintf("unknown_tool: agent %s has no tool %q", s.agent, c.Name)
		return a
	}
	a.tool = tool
	raw := c.Arguments
	if strings.TrimSpace(raw) == "" {
		raw = "{}" // what models write for a tool without parameters
	}
	args, err := strictjson.Object([]byte(raw))
	if err == nil {
		err = tool.schema.Check(args)
	}
	if err == nil && tool.Expand != nil {
		var whole []byte
		if whole, err = tool.Expand(ToolContext{Principal: s.principal, Run: s.run, Thread: s.thread, Agent: s.agent, Call: c.ID}, args); err == nil {
			raw = string(whole)
			args, err = strictjson.Object(whole)
		}
	}
	if err != nil {
		a.invalid = fmt.Sprintf("invalid_arguments: %s: %s", c.Name, oneLine(err.Error()))
		return a
	}
	if a.digest, err = arguments.Digest(s.run, s.agent, c.Name, tool.Revision, raw); err != nil {
		a.invalid = fmt.Sprintf("invalid_arguments: %s: %s", c.Name, oneLine(err.Error()))
		return a
	}
	class := tool.Class(args)
	a.raw, a.args, a.action, a.where = raw, args, class.Action, class.Where
	a.findings = append(arguments.Scan(args, scan), class.Findings...)
	a.input.Skill, a.input.Revision, a.input.Arguments, a.input.Findings = tool.Skill, tool.Revision, args, a.findings
	if a.input.Skill == "" {
		a.input.Skill = tool.Name
	}
	a.invalid = class.Refused
	if to, ok := args["agent"].(string); ok && tool.delegates() {
		a.invalid = s.to.refuses(to)
	}
	a.input.Action, a.input.Command, a.input.Categories, a.input.Paths = class.Action, class.Command, class.Categories, class.Paths
	a.input.Targets = s.trail.Trace(class.Targets)
	return a
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// compileParameters makes the validator of a tool's arguments.
func compileParameters(t Tool) (boundTool, error) {
	s, err := schema.Compile("the parameters of tool "+t.Name, t.Parameters)
	return boundTool{t, s}, err
}
