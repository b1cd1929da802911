// Package replay asks what another policy would have made of decisions that are on record.
//
//	report, err := replay.Run(engine, decisions)
//	for _, c := range report.Changes {
//		fmt.Println(c.ID, c.Was.Effect, "would be", c.Now.Effect)
//	}
//
// The decisions come from whoever reads the records. They are taken one by one, so that there may be
// any number of them. A decision depends on its input alone, the time included: what was decided by
// the same rules is decided the same way again. Where a record no longer holds what a rule reads,
// because it was a secret, or never had it, as the total of a counter that no rule asked for then,
// the answer is marked as inexact.
//
// Run has no state and may be called by many goroutines.
package replay

import (
	"iter"
	"time"

	"github.com/svc-gateway/svc/policy"
)

// Decision is one that is on record.
type Decision struct {
	ID     string // of the call
	Time   time.Time
	Input  policy.Input
	Hidden [][]string     // parts of the input that the record does not hold: {"arguments", "password"}
	Was    policy.Verdict // what was decided
}

// Change is a decision that would be another one.
type Change struct {
	ID      string         `json:"call"`
	Time    time.Time      `json:"time"`
	User    string         `json:"user"`
	Agent   string         `json:"agent"`
	Tool    string         `json:"tool"`
	Was     policy.Verdict `json:"was"`
	Now     policy.Verdict `json:"now"`
	Inexact bool           `json:"inexact,omitempty"` // the record does not hold all that counts
	Reasons []string       `json:"reasons"`
}

// Report is what a replay found.
type Report struct {
	Decisions int      `json:"decisions"` // that were looked at
	Inexact   int      `json:"inexact"`   // of them, changed or not
	Changes   []Change `json:"changes"`
}

// Run asks a policy about decisions. A change of the effect is a change, as is one of the rule that
// denies or asks. It stops at the first error.
func Run(e *policy.Engine, decisions iter.Seq2[Decision, error]) (Report, error) {
	r := Report{Changes: []Change{}}
	for d, err := range decisions {
		if err != nil {
			return r, err
		}
		in, guessed := count(e, d.Input)
		now := e.Decide(in)
		inexact := guessed || e.Reads(in, d.Hidden)
		r.Decisions++
		if inexact {
			r.Inexact++
		}
		if got := (policy.Verdict{Rule: now.Rule, Effect: now.Effect}); got != d.Was {
			r.Changes = append(r.Changes, Change{
				d.ID, d.Time, in.Principal.User, in.Agent, in.Tool, d.Was, got, inexact,
				append(now.Reasons[:len(now.Reasons):len(now.Reasons)], e.Because(in, nil)...),
			})
		}
	}
	return r, nil
}

// maxAsked bounds how often a policy is asked what else it wants counted.
const maxAsked = 16

// count gives counters that are not on record the total that they would have with the first call.
func count(e *policy.Engine, in policy.Input) (_ policy.Input, guessed bool) {
	for range maxAsked {
		wants := e.Counters(in)
		if len(wants) == 0 {
			break
		}
		guessed = true
		counts := make(map[string]float64, len(in.Counts)+len(wants))
		for key, total := range in.Counts {
			counts[key] = total
		}
		for _, c := range wants {
			counts[c.Key] = c.Amount
		}
		in.Counts = counts
	}
	return in, guessed
}
