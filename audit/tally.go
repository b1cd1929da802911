package audit

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// What a tally tells apart.
const (
	maxValues = 8   // different paths, reasons and so on
	maxValue  = 256 // bytes of one
)

// tally counts what one sender did in a minute.
type tally struct {
	user, role, address string

	singles alone // events with a record of their own
	count   int
	denied  bool // some were refused
	first   time.Time
	last    time.Time
	types   values
	codes   values
	reasons values
	methods values
	paths   values
	users   values // names as they were typed at a login
	rules   values // of injections
}

// values are different texts with how often each came, and how often others did.
type values struct {
	List  []value `json:"list"`
	Other int     `json:"other,omitempty"`
}

type value struct {
	key   string // as it came, cut
	Value string `json:"value"`
	Count int    `json:"count"`
}

func (v *values) add(s string, n int) {
	if s == "" {
		return
	}
	key := cut(s, maxValue)
	for i := range v.List {
		if v.List[i].key == key {
			v.List[i].Count += n
			return
		}
	}
	if len(v.List) == maxValues {
		v.Other += n
		return
	}
	v.List = append(v.List, value{strings.Clone(key), redacted(s, maxValue), n})
}

func (v *values) merge(w values) {
	for _, x := range w.List {
		v.add(x.key, x.Count)
	}
	v.Other += w.Other
}

// or is nil for no values, which JSON leaves out.
func (v *values) or() *values {
	if len(v.List) == 0 {
		return nil
	}
	return v
}

func (t *tally) add(e *Event, now time.Time) {
	if t.count == 0 {
		t.first = now
	}
	t.count++
	t.last = now
	t.types.add(e.Type, 1)
	t.methods.add(e.Method, 1)
	t.paths.add(e.Path, 1)
	if e.Code != 0 {
		t.codes.add(strconv.Itoa(e.Code), 1)
	}
	for _, r := range e.Reasons {
		t.reasons.add(r, 1)
	}
	switch {
	case e.Type == LoginFailed:
		t.users.add(e.User, 1)
	case e.Type == Injection:
		for _, rule := range rulesOf(e.Findings) {
			t.rules.add(rule, 1)
		}
	case t.user != "":
		t.role = e.Role
	}
	t.denied = t.denied || e.Type == LoginFailed || e.Code >= 400
}

// rulesOf are the rules by which something was found.
func rulesOf(findings json.RawMessage) (rules []string) {
	var all []struct {
		Rule string `json:"rule"`
	}
	if json.Unmarshal(findings, &all) != nil {
		return nil // the type is counted
	}
	for _, f := range all {
		rules = append(rules, f.Rule)
	}
	return rules
}

func (t *tally) merge(o *tally) {
	if t.count == 0 || o.first.Before(t.first) {
		t.first = o.first
	}
	if o.last.After(t.last) {
		t.last = o.last
	}
	t.count += o.count
	t.denied = t.denied || o.denied
	t.role = o.role
	t.types.merge(o.types)
	t.codes.merge(o.codes)
	t.reasons.merge(o.reasons)
	t.methods.merge(o.methods)
	t.paths.merge(o.paths)
	t.users.merge(o.users)
	t.rules.merge(o.rules)
}

// event is the record of the tally.
func (t *tally) event() Event {
	input, err := json.Marshal(struct {
		Count   int     `json:"count"`
		First   string  `json:"first"`
		Last    string  `json:"last"`
		Types   *values `json:"types,omitempty"`
		Codes   *values `json:"codes,omitempty"`
		Reasons *values `json:"reasons,omitempty"`
		Methods *values `json:"methods,omitempty"`
		Paths   *values `json:"paths,omitempty"`
		Users   *values `json:"users,omitempty"`
		Rules   *values `json:"rules,omitempty"`
	}{
		t.count, t.first.UTC().Format(TimeFormat), t.last.UTC().Format(TimeFormat),
		t.types.or(), t.codes.or(), t.reasons.or(), t.methods.or(), t.paths.or(), t.users.or(), t.rules.or(),
	})
	if err != nil {
		input = nil // strings and numbers can always be written
	}
	e := Event{Type: Flood, Time: t.last, User: t.user, Role: t.role, Address: t.address, Input: string(input)}
	if t.denied {
		e.Decision, e.Status = "deny", "denied"
	}
	return e
}
