// Package counting counts for the rules of a policy that ask how often something happened.
//
//	c := counting.Counters{Bus: b, Log: log}
//	all := c.Add(ctx, engine, &input) // then decide
//	c.GiveBack(ctx, all)              // the call was not made
//
// The counters are on the bus, so that all processes share them. A counter that cannot be had is left
// out of the input: the rule then cannot be evaluated, and denies. Safe for concurrent use.
package counting

import (
	"context"
	"math"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/policy"
)

// maxAsked bounds how often the rules are asked what else they want counted for one call.
const maxAsked = 16

// Counters are those of all rules.
type Counters struct {
	Bus bus.Bus
	Log *zap.Logger
}

// Counted is what was added to the counters of rules for one call.
type Counted []count

type count struct {
	policy.Counter
	until time.Time // end of the window that it was added in
}

// Add adds to the counters that the rules ask for and puts the totals into the input.
func (c Counters) Add(ctx context.Context, p *policy.Engine, in *policy.Input) Counted {
	var all Counted
	for range maxAsked {
		before := len(in.Counts)
		for _, asked := range p.Counters(*in) {
			total, until, err := c.Bus.Count(ctx, key(asked), units(asked.Amount), asked.Window)
			if err != nil {
				c.Log.Error("counting for a rule failed, the call is denied", zap.String("counter", asked.Key), zap.Error(err))
				return all
			}
			if in.Counts == nil {
				in.Counts = map[string]float64{}
			}
			in.Counts[asked.Key] = float64(total) / unitsPerOne
			all = append(all, count{asked, until})
		}
		if len(in.Counts) == before {
			break
		}
	}
	return all
}

// GiveBack undoes Add, where the window is still the same.
func (c Counters) GiveBack(ctx context.Context, all Counted) {
	for _, n := range all {
		if units(n.Amount) == 0 || !time.Now().Before(n.until) {
			continue
		}
		if _, _, err := c.Bus.Count(context.WithoutCancel(ctx), key(n.Counter), -units(n.Amount), n.Window); err != nil {
			c.Log.Warn("giving back what was counted for a rule failed, it counts on", zap.String("counter", n.Key), zap.Error(err))
		}
	}
}

func key(c policy.Counter) string { return "policy:" + c.Key }

// unitsPerOne is how many units of a counter one is: amounts are counted to a thousandth.
const unitsPerOne = 1000

// units rounds up, so that no amount is too small to count.
func units(amount float64) int64 { return int64(math.Ceil(amount * unitsPerOne)) }
