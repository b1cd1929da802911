package policy

// RuleInfo is a rule as it is listed.
type RuleInfo struct {
	Name     string   `json:"name"`
	Phase    Phase    `json:"phase"`
	File     string   `json:"file"` // [BuiltinName] for a rule that is part of the program
	Line     int      `json:"line"`
	Effect   Effect   `json:"effect"`
	Mode     Mode     `json:"mode"`
	Severity Severity `json:"severity"`
	Message  string   `json:"message"`
	Builtin  bool     `json:"builtin"`

	Agents     []string `json:"agents,omitempty"`
	Tools      []string `json:"tools,omitempty"`
	Actions    []string `json:"actions,omitempty"`
	Categories []string `json:"categories,omitempty"`
	When       string   `json:"when,omitempty"`
	Approvers  int      `json:"approvers,omitempty"`
	Requester  bool     `json:"requester,omitempty"` // may approve too
}

// Rules lists the rules in the order in which they are looked at.
func (e *Engine) Rules() []RuleInfo {
	if e == nil {
		return nil
	}
	all := make([]RuleInfo, len(e.rules))
	for i, r := range e.rules {
		m := r.Match
		all[i] = RuleInfo{
			r.Name, r.Phase, r.file, r.line, r.Effect, r.Mode, r.Severity, r.Message, r.builtin,
			m.Agents, m.Tools, m.Actions, m.Categories, r.When, r.Approvers, r.Requester && r.Effect == Approve,
		}
	}
	return all
}
