package agents

import "time"

// Agent is one actor: what it is told and which tools it has.
type Agent struct {
	Name        string
	Description string // tells people and the orchestrator what it is good for
	System      string // the system prompt
	Model       string `json:",omitempty"` // name of the model that it thinks with; empty: the default one
	Window      int    `json:",omitempty"` // tokens of that model's window; 0: [Limits.Context]
	Tools       []string
	Delegates   []string // agents it may hand a task to, through the tool delegate
	Limits      AgentLimits
}

// AgentLimits bound what one agent may use for one task: a run, or what another agent hands to it. They
// only tighten the [Limits] of the runtime. Zero is no limit of its own.
type AgentLimits struct {
	Steps  int           // model turns of its own
	Depth  int           // agents below each other that its task may be handed down to
	Tokens int64         // model tokens, those of its sub-agents included
	Time   time.Duration // at work, its sub-agents included; waiting does not count
}

// Default is the agent that answers when a request names none.
const Default = "svc-orchestrator"

// Delegate is the tool with which an agent hands a task to another.
const Delegate = "delegate"
