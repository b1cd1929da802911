package policy

import (
	"slices"
)

// Mode says whether a rule counts.
type Mode string

// The modes of a rule.
const (
	Enforce Mode = "enforce" // what the rule says counts
	Observe Mode = "observe" // what it would say is recorded, and nothing changes
)

// Phase is what a rule decides on.
type Phase string

// The phases of rules.
const (
	OnCall    Phase = "call"    // a tool call
	OnRequest Phase = "request" // a request to the service, before anything is done
	OnOutput  Phase = "output"  // what an agent answered
)

// rule is one entry of a rule file.
type rule struct {
	Name  string `json:"name"` // unique; lower case, digits and hyphens
	Phase Phase  `json:"phase"`
	// Match selects the calls that the rule looks at. An empty list, like the entry "*",
	// selects all; within a list one entry suffices, all lists must select.
	Match match `json:"match"`
	// When is a boolean expression (expr-lang) over [env], or [conditionEnv]; empty is true. One that cannot be
	// evaluated denies the call.
	When     string   `json:"when"`
	Effect   Effect   `json:"effect"` // deny, approve or log
	Mode     Mode     `json:"mode"`
	Message  string   `json:"message"`  // for people; required
	Severity Severity `json:"severity"` // default medium

	// Approvers is how many different people must approve, and Requester whether who asks may be
	// one of them. They are of rules with the effect approve.
	Approvers int  `json:"approvers,omitempty"`
	Requester bool `json:"requester,omitempty"`

	file       string
	line       int
	builtin    bool
	stricter   bool        // one of the program, with what a file says of it
	expression *expression // of When; nil when it is empty
}

// catchesAll reports whether the rule is the program's own for what none of its others names.
func (r *rule) catchesAll() bool { return r.builtin && len(r.Match.Categories) == 0 }

// match is the part of a rule that can be looked up without evaluating anything.
type match struct {
	Agents     []string `json:"agents"`
	Tools      []string `json:"tools"`
	Actions    []string `json:"actions"`
	Categories []string `json:"categories"`
}

func (m *match) lists() [4][]string {
	return [4][]string{m.Categories, m.Tools, m.Agents, m.Actions}
}

// wild reports whether a list of a match selects everything.
func wild(list []string) bool { return len(list) == 0 || slices.Contains(list, Any) }

// selects reports whether the list selects at least one of the names.
func selects(list, names []string) bool {
	return wild(list) || slices.ContainsFunc(names, func(n string) bool { return slices.Contains(list, n) })
}
