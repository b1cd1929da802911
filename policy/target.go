package policy

import "github.com/svc-gateway/svc/policy/provenance"

// targetNames are the functions of expressions that read the targets of a call.
var targetNames = []string{"from_user", "targets"}

// targetEnv is a target of the call as expressions see it.
type targetEnv struct {
	Argument string `expr:"argument" json:"argument"`
	Kind     string `expr:"kind" json:"kind"`
	Value    string `expr:"value" json:"value"`
	Source   string `expr:"source" json:"source"`
}

// fromUser is the function from_user(argument) of expressions: whether the argument names targets, and
// the user named every one of them.
func (e *env) fromUser(argument string) bool {
	found := false
	for i := range e.traced {
		if t := &e.traced[i]; t.Argument == argument {
			if t.Source != provenance.SourceUser {
				return false
			}
			found = true
		}
	}
	return found
}

// untrusted is the function untrusted() of expressions: whether something else than the user's words was
// read before the call.
func (e *env) untrusted() bool { return provenance.Untrusted(e.Labels) }

// targets is the function targets() of expressions.
func (e *env) targets() []targetEnv {
	list := make([]targetEnv, len(e.traced))
	for i, t := range e.traced {
		list[i] = targetEnv{t.Argument, string(t.Kind), t.Value, t.Source}
	}
	return list
}
