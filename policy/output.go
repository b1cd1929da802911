package policy

import (
	"slices"
	"time"
)

// Output is what an agent answered, by the names that rules use.
type Output struct {
	Agent    string   `expr:"agent"`
	Text     string   `expr:"text"`
	Length   int      `expr:"length"`   // of the text, in bytes
	Final    bool     `expr:"final"`    // it is the run's answer, and not a sub-agent's
	Findings []string `expr:"findings"` // what is wrong with it: empty, cut, refused, looping, form, long, claim, credentials
	Tools    []string `expr:"tools"`    // that were called for it
	Labels   []string `expr:"labels"`   // sources that the agent had seen

	// Time is when it was given, in the zone that expressions see. Without it one that reads the time
	// cannot be evaluated.
	Time time.Time `expr:"-"`
}

// outputEnv is what the expression of a rule on answers sees.
type outputEnv struct {
	Principal principalEnv `expr:"principal"`
	Output    Output       `expr:"output"`
	Time      timeEnv      `expr:"time"`
}

// DecideOutput answers what becomes of an answer: the rules with the phase output may deny it, or want it
// to be seen.
func (e *Engine) DecideOutput(p Principal, o Output) Decision {
	if e == nil {
		return none()
	}
	return e.apply(e.outputs, "every answer", o.Time, func() any {
		return &outputEnv{newPrincipalEnv(&p), o, newTimeEnv(o.Time)}
	})
}

// Withholds reports whether a rule may deny an answer. Nobody should see a piece of one before it is
// decided on.
func (e *Engine) Withholds() bool {
	return e == nil || slices.ContainsFunc(e.outputs, func(n int) bool {
		r := &e.rules[n]
		return r.Mode == Enforce && r.Effect == Deny
	})
}
