package agents

import (
	"context"
	"encoding/json"
	"time"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner/command"
)

// ToolContext says for whom and for which call a tool runs.
type ToolContext struct {
	Principal policy.Principal // as resolved just before this call
	Run       string
	Thread    string
	Agent     string
	Call      string
}

// Result is what a tool gives back. Text goes to the model once the gate has scanned and redacted it.
type Result struct {
	Text      string
	Truncated bool // Text is not all that the tool had to say
}

// ToolDef describes a tool to the model and to the gate.
type ToolDef struct {
	Name        string
	Description string
	Skill       string          // skill the tool belongs to; the tool's own name stands in when empty
	Parameters  json.RawMessage // JSON Schema of the arguments, an object
	Action      policy.Action   // what a call needs leave for

	// Classify analyses the command line in the arguments of a tool that runs one. The gate
	// takes the call's action from its class instead of Action. It may be nil, and may return
	// nil for arguments that hold no command line: such a call is a mutation.
	Classify func(args map[string]any) *command.Command

	// Timeout bounds one call; zero takes the runtime's (runtime.timeout).
	Timeout time.Duration
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
