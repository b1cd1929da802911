package policy

import "time"

// DecideRequest answers what becomes of a request to the service, before anything is done: the rules
// with the phase request may deny it, or want it to be seen. What a role may do is not asked here.
func (e *Engine) DecideRequest(p Principal, r Request) Decision {
	if e == nil {
		return none()
	}
	return e.apply(e.requests, "every request", r.Time, func() any { return newConditionEnv(&p, &r) })
}

// apply asks rules of one phase about what vars describes.
func (e *Engine) apply(rules []int, every string, at time.Time, vars func() any) Decision {
	d := Decision{Effect: Allow, PolicyHash: e.hash}
	if len(rules) == 0 {
		return d
	}
	env := vars()
	var v verdicts
	for _, n := range rules {
		r := &e.rules[n]
		if r.expression == nil {
			v.add(&d, r, nil, func() string { return every })
		} else if applies, err := r.expression.holds(env, at); applies || err != nil {
			v.add(&d, r, err, func() string { return "when " + r.When })
		}
	}
	v.close(&d)
	return d
}
