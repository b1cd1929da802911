package policy

import (
	"fmt"
	"time"

	"github.com/svc-gateway/svc/policy/provenance"
	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/command"
)

// Input is all that a decision depends on.
type Input struct {
	Principal  Principal         `json:"principal"`
	Agent      string            `json:"agent"`
	Skill      string            `json:"skill,omitempty"` // the tool's skill; empty means the tool's name
	Tool       string            `json:"tool"`
	Revision   string            `json:"revision,omitempty"` // of what the tool runs, where that can change
	Action     Action            `json:"action"`             // as the tool declares it or the command analysis classed it
	Arguments  map[string]any    `json:"arguments,omitempty"`
	Command    *command.Command  `json:"command,omitempty"` // nil when the call runs no command
	Categories []string          `json:"categories,omitempty"`
	Labels     []string          `json:"labels,omitempty"`   // sources that the call's message had seen
	Findings   []scanner.Finding `json:"findings,omitempty"` // of the arguments

	// Paths are the files and folders that the call names, relative to the project root where they
	// are in it, else absolute; with . and .. resolved and, where one leads over a symbolic link,
	// as it is written and where it leads.
	Paths []string `json:"paths,omitempty"`

	// Targets are what the call reaches for, with where each comes from: see [provenance.Trail].
	Targets []provenance.Target `json:"targets,omitempty"`

	// Time is when the decision is made, in the zone that rules see. Without it a rule that reads
	// the time cannot be evaluated.
	Time time.Time `json:"time,omitzero"`

	// Counts are the totals of the counters that rules ask for: see [Engine.Counters].
	Counts map[string]float64 `json:"counts,omitempty"`
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
	Message  string   `json:"message,omitempty"`  // for people: what is the matter; to approve, what every rule says
	Severity Severity `json:"severity,omitempty"` // of Rule
	// Code is a stable word for programs, one of the Code constants. Empty for allow and log.
	Code string `json:"code,omitempty"`
	// Reasons names every criterion that counted, such as
	// "rule hitl-erase: category erase" or "permission: role user may mutate". Callers must
	// not change it: decisions share it.
	Reasons []string `json:"reasons"`
	// PolicyHash is the SHA-256 (hex) of the table and the rules that decided.
	PolicyHash string `json:"policy_hash"`

	// Approvers is how many different people must approve, the most that a rule asks for; 0 unless
	// Effect is Approve.
	Approvers int `json:"approvers,omitempty"`
	// OtherPerson says that the requester may not be one of them.
	OtherPerson bool `json:"other_person,omitempty"`
	// Builtin says that every rule that asks for approval is part of the program.
	Builtin bool `json:"builtin,omitempty"`

	// Observed is what the rules with the mode observe would have done. It changes nothing.
	Observed []Verdict `json:"observed,omitempty"`
}

// Verdict is what one rule makes of a call.
type Verdict struct {
	Rule   string `json:"rule,omitempty"`
	Effect Effect `json:"effect"`
}

// The codes of a Decision.
const (
	CodePermission  = "permission_denied" // the role does not permit it; no approval helps
	CodeDenied      = "policy_denied"     // a rule forbids it; no approval helps
	CodeUnevaluated = "policy_error"      // a rule could not be evaluated; an admin must correct it
	CodeUnavailable = "no_policy"         // there is no policy to decide with
	CodeApproval    = "approval_required" // it waits for a person's approval
)

// Remedy says to people whether, and how, what was not allowed could still happen. Empty when
// nothing stands in its way.
func (d Decision) Remedy() string {
	switch d.Code {
	case CodePermission:
		return "Somebody with another role may do it; an approval does not help."
	case CodeDenied:
		return "An approval does not help."
	case CodeUnevaluated, CodeUnavailable:
		return "An approval does not help: an admin has to correct the policy."
	case CodeApproval:
		return "It needs the approval of " + d.approvers() + "."
	}
	return ""
}

func (d Decision) approvers() string {
	who := "an admin"
	if d.Approvers > 1 {
		who = fmt.Sprintf("%d different admins", d.Approvers)
	}
	if d.OtherPerson {
		who += " other than the requester"
	}
	return who
}

// Names in Decision.Rule of what is not a rule.
const (
	RulePermission = "permission"
	RulePolicy     = "policy"
)
