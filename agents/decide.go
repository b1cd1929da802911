package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/provenance"
)

// maxAsked bounds how often the rules are asked what else they want counted for one call.
const maxAsked = 16

// counted is what was added to the counters of rules for one call.
type counted []count

type count struct {
	policy.Counter
	until time.Time // end of the window that it was added in
}

// judged is a call as the gate sees it.
type judged struct {
	analysis *analysis
	decision policy.Decision
	counted  counted // for the caller to give back when the call is not made
}

// judge analyses a call and decides on it.
func (g *gate) judge(ctx context.Context, s scope, c Call) judged {
	a := analyse(s, c, g.scan)
	d, all := g.decide(ctx, s.policy, a)
	g.judgeable(a, &d)
	return judged{a, d, all}
}

// decide asks the policy, with what its rules want to be counted. What is counted is for the caller to
// give back when the call is not made. A call that cannot be made is denied without asking.
func (g *gate) decide(ctx context.Context, p *policy.Engine, a *analysis) (policy.Decision, counted) {
	if a.invalid != "" {
		code, _, _ := strings.Cut(a.invalid, ":")
		return policy.Decision{Effect: policy.Deny, Code: code, Reasons: []string{a.invalid}, PolicyHash: p.Hash()}, nil
	}
	a.input.Time = time.Now()
	c := g.count(ctx, p, &a.input)
	d := p.Decide(a.input)
	if because := p.Because(a.input, g.secrets.RedactJSON); len(because) > 0 {
		d.Reasons = slices.Concat(d.Reasons, because)
	}
	snapshot := policy.Snap(a.input, d, g.secrets.RedactJSON, g.key)
	d.Reasons = slices.Concat(d.Reasons, tainted(snapshot, a.input.Labels, d))
	a.snapshot = g.encode(snapshot)
	return d, c
}

// count adds to the counters that the rules ask for and puts the totals into the input. A counter that
// cannot be had is left out: the rule then cannot be evaluated, and denies.
func (g *gate) count(ctx context.Context, p *policy.Engine, in *policy.Input) counted {
	var all counted
	for range maxAsked {
		before := len(in.Counts)
		for _, c := range p.Counters(*in) {
			total, until, err := g.bus.Count(ctx, counterKey(c), units(c.Amount), c.Window)
			if err != nil {
				g.log.Error("counting for a rule failed, the call is denied", zap.String("counter", c.Key), zap.Error(err))
				return all
			}
			if in.Counts == nil {
				in.Counts = map[string]float64{}
			}
			in.Counts[c.Key] = float64(total) / unitsPerOne
			all = append(all, count{c, until})
		}
		if len(in.Counts) == before {
			break
		}
	}
	return all
}

// giveBack undoes count, where the window is still the same.
func (g *gate) giveBack(ctx context.Context, all counted) {
	for _, c := range all {
		if units(c.Amount) == 0 || !time.Now().Before(c.until) {
			continue
		}
		if _, _, err := g.bus.Count(context.WithoutCancel(ctx), counterKey(c.Counter), -units(c.Amount), c.Window); err != nil {
			g.log.Warn("giving back what was counted for a rule failed, it counts on", zap.String("counter", c.Key), zap.Error(err))
		}
	}
}

func counterKey(c policy.Counter) string { return "policy:" + c.Key }

// unitsPerOne is how many units of a counter one is: amounts are counted to a thousandth.
const unitsPerOne = 1000

// units rounds up, so that no amount is too small to count.
func units(amount float64) int64 { return int64(math.Ceil(amount * unitsPerOne)) }

// maxTainted bounds how many targets of a call the reasons name.
const maxTainted = 8

// tainted says which text named what a call reaches for and the user did not, when a rule applied to a call
// after untrusted text. It holds what the snapshot shows.
func tainted(s policy.Snapshot, labels []string, d policy.Decision) []string {
	if !provenance.Untrusted(labels) || d.Rule == "" && len(d.Observed) == 0 {
		return nil
	}
	var all []string
	for _, t := range s.Targets {
		if t.Source == provenance.SourceUser || len(all) == maxTainted {
			continue
		}
		reason := fmt.Sprintf("target %s %s %q: from %s", t.Argument, t.Kind, t.Value, t.Source)
		if t.Fragment != "" {
			reason += fmt.Sprintf(", in %q", t.Fragment)
		}
		all = append(all, reason)
	}
	return all
}

// encode makes of a snapshot what the record has of the decision's input beside its own columns.
func (g *gate) encode(s policy.Snapshot) json.RawMessage {
	doc, err := json.Marshal(s)
	if err != nil {
		g.log.Error("keeping what a decision depended on failed, it cannot be replayed", zap.Error(err))
		return nil
	}
	return doc
}
