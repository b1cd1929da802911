package agents

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/svc-gateway/svc/agents/todo"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/provenance"
	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/command"
)

// ToolContext says for whom and for which call a tool runs.
type ToolContext struct {
	Principal policy.Principal // as resolved just before this call
	Run       string
	Thread    string
	Agent     string
	Call      string
	Approved  bool   // this very call was approved, by a person or by an admin's leave to go on without one
	Where     string // where the call was seen to run when that was decided: see [Classification]
}

// Result is what a tool gives back. Text goes to the model once the gate has scanned and redacted it.
type Result struct {
	Text      string
	Truncated bool         // Text is not all that the tool had to say
	Todos     *[]todo.Item // the plan of the agent from now on; nil: it stays
	Sources   []string     // labels of Text beside the tool's; those of the user's own words do not count
}

// ToolDef describes a tool to the model and to the gate.
type ToolDef struct {
	Name        string
	Description string
	Skill       string          // skill the tool belongs to; the tool's own name stands in when empty
	Revision    string          // of what runs, where that can change behind the name: leave for a call is leave for this one. Empty: the program's
	Parameters  json.RawMessage // JSON Schema of the arguments, an object
	Action      policy.Action   // what a call needs leave for

	// Targets are the arguments that name what a call reaches for: a string, or a list of strings. A
	// Classification adds to them.
	Targets map[string]provenance.Kind

	// Expand completes the arguments as JSON before anything is decided: people are shown, and leave is bound
	// to, what it returns. When the same arguments come before the gate again it is asked again. An error
	// denies the call. Nil: they stay as the model wrote them.
	Expand func(tc ToolContext, args map[string]any) ([]byte, error)

	// Classify says what a call with these arguments would do, where that depends on them: the
	// command line, the program, the SQL or the request in them. It takes the place of Action.
	// Nil: every call is Action. When it panics the call is denied.
	Classify func(args map[string]any) Classification

	// Timeout bounds one call; zero takes the runtime's (runtime.timeout).
	Timeout time.Duration
}

// Classification is what one call would do, as far as its arguments tell.
type Classification struct {
	Action     policy.Action       // what the call needs leave for; Mutate when empty
	Command    *command.Command    // the command line in the arguments; nil when there is none
	Categories []string            // dangerous kinds of operation that rules ask for, beside Command's own
	Paths      []string            // files and folders that the arguments name: see [policy.Input]
	Targets    []provenance.Target // what the call reaches for; the gate adds where they come from
	Findings   []scanner.Finding   // what else in the arguments is suspicious
	Refused    string              // why the call is never made, whatever the policy says: a stable word, a colon and the details
	Where      string              // where the call would run, for who is asked to approve it, such as "on the host"
}

// Class classes a call by its arguments, or as the tool declares all of its calls.
func (d *ToolDef) Class(args map[string]any) Classification {
	if d.Classify == nil {
		return Classification{Action: d.Action, Targets: d.targets(args)}
	}
	c := d.Classify(args)
	if c.Action == "" {
		c.Action = policy.Mutate
	}
	c.Targets = append(d.targets(args), c.Targets...)
	return c
}

// targets are the values of the arguments that name targets, sorted by argument. What is neither a
// string nor a list of strings is a target that nobody can name.
func (d *ToolDef) targets(args map[string]any) []provenance.Target {
	var all []provenance.Target
	for _, name := range slices.Sorted(maps.Keys(d.Targets)) {
		v, given := args[name]
		if !given {
			continue
		}
		values, isList := v.([]any)
		if !isList {
			values = []any{v}
		}
		for _, v := range values {
			if text, ok := v.(string); ok {
				all = append(all, provenance.Target{Argument: name, Kind: d.Targets[name], Value: text})
			} else {
				all = append(all, provenance.Target{Argument: name, Kind: provenance.Unknown})
			}
		}
	}
	return all
}

// toolFunc is the body of a tool. args are the decoded arguments; the context ends at the call's
// deadline and when the run is cancelled. An error is told to the model in its own words.
type toolFunc = func(ctx context.Context, tc ToolContext, args map[string]any) (Result, error)

// Tool is a definition with its body. The body is unexported: only the gate calls it. A tool
// without one delegates: its call opens a frame for another agent.
type Tool struct {
	ToolDef
	run toolFunc
}

func (t Tool) delegates() bool { return t.run == nil }

// NewTool makes a tool from its definition and body.
func NewTool(d ToolDef, run func(ctx context.Context, tc ToolContext, args map[string]any) (Result, error)) Tool {
	return Tool{ToolDef: d, run: run}
}
