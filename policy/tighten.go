package policy

import (
	"errors"
	"strings"

	"github.com/expr-lang/expr/file"
)

// errNoTime is why a rule cannot be evaluated that reads a time which nobody gave.
var errNoTime = errors.New("the time of the decision is not known")

// evaluate reports whether a rule that selects the call applies to it.
func (r *rule) evaluate(vars *env, in *Input) (bool, error) {
	if r.expression == nil {
		return true, nil
	}
	vars.rule = r.Name
	return r.expression.holds(vars, in.Time)
}

// tighten applies the rules on calls to a decision that the table allowed.
func (e *Engine) tighten(d *Decision, in *Input, q *question) {
	var (
		room [16]int
		vars *env
		v    verdicts
	)
	for _, n := range e.index.candidates(room[:0], in, q) {
		r := &e.rules[n]
		if !r.Match.selects(in, q) {
			continue
		}
		if vars == nil && r.expression != nil {
			vars = newEnv(in, q)
		}
		if applies, err := r.evaluate(vars, in); applies || err != nil {
			v.add(d, r, err, func() string { return r.criterion(in, q) })
		}
	}
	v.close(d)
}

// verdicts gathers what the rules that apply say. Its zero value is ready.
type verdicts struct {
	reasons, observed []string
	foreign           bool // a rule asks for approval that is not part of the program
}

// add has a rule count that applies, or that could not be evaluated.
func (v *verdicts) add(d *Decision, r *rule, err error, criterion func() string) {
	effect, reason := r.Effect, "rule "+r.Name+": "
	if err != nil {
		effect, reason = Deny, reason+"when cannot be evaluated: "+cause(err)
	} else {
		reason += criterion()
	}
	if r.Mode == Observe {
		d.Observed = append(d.Observed, Verdict{r.Name, effect})
		v.observed = append(v.observed, "observed, would "+string(effect)+": "+reason)
		return
	}
	v.reasons = append(v.reasons, reason)
	if effect == Approve {
		d.Approvers = max(d.Approvers, r.Approvers)
		d.OtherPerson = d.OtherPerson || !r.Requester
		v.foreign = v.foreign || !r.builtin
	}
	switch {
	case effect.rank() > d.Effect.rank():
		d.Effect, d.Rule, d.Message, d.Severity, d.Code = effect, r.Name, r.Message, r.Severity, code(effect, err)
	case effect == Approve && d.Effect == Approve && !r.catchesAll() && !strings.Contains(d.Message, r.Message):
		d.Message += " " + r.Message // who approves has to know all that it does
	}
}

// close completes the decision when all rules have been asked.
func (v *verdicts) close(d *Decision) {
	if d.Effect == Approve {
		d.Builtin = !v.foreign
	} else {
		d.Approvers, d.OtherPerson = 0, false
	}
	if v.reasons == nil && v.observed == nil {
		return
	}
	all := make([]string, 0, len(v.reasons)+len(d.Reasons)+len(v.observed))
	d.Reasons = append(append(append(all, v.reasons...), d.Reasons...), v.observed...)
}

// code is the stable word for what a rule did.
func code(effect Effect, err error) string {
	switch {
	case err != nil:
		return CodeUnevaluated
	case effect == Deny:
		return CodeDenied
	case effect == Approve:
		return CodeApproval
	}
	return ""
}

// maxCause bounds what of an error goes into a reason; it may quote an argument.
const maxCause = 120

// cause returns what went wrong, without the excerpt of the expression.
func cause(err error) string {
	text := err.Error()
	if e, ok := errors.AsType[*file.Error](err); ok {
		text = e.Message
	}
	text, _, _ = strings.Cut(text, "\n")
	if len(text) > maxCause {
		text = text[:maxCause] + "…"
	}
	return strings.ToValidUTF8(text, "")
}
