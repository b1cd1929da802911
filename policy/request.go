package policy

// DecideRequest answers what becomes of a request to the service, before anything is done: the rules
// with the phase request may deny it, or want it to be seen. What a role may do is not asked here.
func (e *Engine) DecideRequest(p Principal, r Request) Decision {
	if e == nil {
		return none()
	}
	d := Decision{Effect: Allow, PolicyHash: e.hash}
	if len(e.requests) == 0 {
		return d
	}
	vars := newConditionEnv(&p, &r)
	var v verdicts
	for _, n := range e.requests {
		r := &e.rules[n]
		if r.expression == nil {
			v.add(&d, r, nil, func() string { return "every request" })
		} else if applies, err := r.expression.holds(vars, vars.Request.Time); applies || err != nil {
			v.add(&d, r, err, func() string { return "when " + r.When })
		}
	}
	v.close(&d)
	return d
}
