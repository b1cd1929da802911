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
	switch {
	case r.expression == nil:
		return true, nil
	case r.expression.time && in.Time.IsZero():
		return false, errNoTime
	}
	vars.rule = r.Name
	return r.expression.run(vars)
}

// tighten applies the rules to a decision that the table allowed.
func (e *Engine) tighten(d *Decision, in *Input, q *question) {
	var (
		room              [16]int
		vars              *env
		reasons, observed []string
	)
	builtin := true
	for _, n := range e.index.candidates(room[:0], in, q) {
		r := &e.rules[n]
		if !r.Match.selects(in, q) {
			continue
		}
		if vars == nil && r.expression != nil {
			vars = newEnv(in, q)
		}
		applies, err := r.evaluate(vars, in)
		effect, reason := r.Effect, ""
		switch {
		case err != nil:
			effect, reason = Deny, "rule "+r.Name+": when cannot be evaluated: "+cause(err)
		case !applies:
			continue
		default:
			reason = "rule " + r.Name + ": " + r.criterion(in, q)
		}
		if r.Mode == Observe {
			d.Observed = append(d.Observed, Verdict{r.Name, effect})
			observed = append(observed, "observed, would "+string(effect)+": "+reason)
			continue
		}
		reasons = append(reasons, reason)
		if effect == Approve {
			d.Approvers = max(d.Approvers, r.Approvers)
			d.OtherPerson = d.OtherPerson || !r.Requester
			builtin = builtin && r.builtin
		}
		if effect.rank() > d.Effect.rank() {
			d.Effect, d.Rule, d.Message, d.Severity, d.Code = effect, r.Name, r.Message, r.Severity, code(effect, err)
		}
	}
	if d.Effect == Approve {
		d.Builtin = builtin
	} else {
		d.Approvers, d.OtherPerson = 0, false
	}
	if reasons != nil || observed != nil {
		all := make([]string, 0, len(reasons)+len(d.Reasons)+len(observed))
		d.Reasons = append(append(append(all, reasons...), d.Reasons...), observed...)
	}
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
