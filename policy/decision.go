package policy

import (
	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/command"
)

// Input is all that a decision depends on.
type Input struct {
	Principal  Principal         `json:"principal"`
	Agent      string            `json:"agent"`
	Skill      string            `json:"skill,omitempty"` // the tool's skill; empty means the tool's name
	Tool       string            `json:"tool"`
	Action     Action            `json:"action"` // as the tool declares it or the command analysis classed it
	Arguments  map[string]any    `json:"arguments,omitempty"`
	Command    *command.Command  `json:"command,omitempty"` // nil when the call runs no command
	Categories []string          `json:"categories,omitempty"`
	Labels     []string          `json:"labels,omitempty"`   // sources that the call's message had seen
	Findings   []scanner.Finding `json:"findings,omitempty"` // of the arguments
}

// Effect is what becomes of a call.
type Effect string

// The effects, weakest first. The strongest of all rules that apply counts.
const (
	Allow   Effect = "allow"   // go ahead
	Log     Effect = "log"     // go ahead, and make it visible
	Approve Effect = "approve" // wait for a person's approval
	Deny    Effect = "deny"    // do not do it
)

func (e Effect) rank() int {
	switch e {
	case Allow:
		return 0
	case Log:
		return 1
	case Approve:
		return 2
	}
	return 3
}

// Severity says how serious it is when a rule applies.
type Severity string

// The severities of a rule.
const (
	Low      Severity = "low"
	Medium   Severity = "medium"
	High     Severity = "high"
	Critical Severity = "critical"
)

// Decision is the answer to an [Input].
type Decision struct {
	Effect Effect `json:"effect"`
	// Rule is the first of the rules with the strongest effect, "permission" when the table
	// denied, "policy" when there was no policy to ask. Empty for allow.
	Rule     string   `json:"rule,omitempty"`
	Message  string   `json:"message,omitempty"`  // for people: what is the matter
	Severity Severity `json:"severity,omitempty"` // of Rule
	// Reasons names every criterion that counted, such as
	// "rule hitl-erase: category erase" or "permission: role user may mutate". Callers must
	// not change it: decisions share it.
	Reasons []string `json:"reasons"`
	// Approvers is how many different people have to approve, when Effect is approve; 0 means one.
	Approvers int `json:"approvers,omitempty"`
	// OtherPerson says that whoever asked for the run is not one of them.
	OtherPerson bool `json:"other_person,omitempty"`
	// Builtin says that only rules of the program ask for approval, and none of the operator's.
	Builtin bool `json:"builtin,omitempty"`
	// PolicyHash is the SHA-256 (hex) of the table and the rules that decided.
	PolicyHash string `json:"policy_hash"`
}

// Names in Decision.Rule of what is not a rule.
const (
	RulePermission = "permission"
	RulePolicy     = "policy"
)
