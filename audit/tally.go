package audit

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// What a tally tells apart.
const (
	maxValues = 8   // different paths, reasons and so on
	maxShared = 100 // users and addresses that share a tally
	maxValue  = 256 // bytes of one
)

// tally counts what one sender did in a minute, or what all did who share it.
type tally struct {
	user, address string // the sender; of a user no address
	shared        bool   // by senders that are not told apart

	singles   int // events with a record of their own
	count     int
	denied    bool // some were refused
	role      string
	first     time.Time
	last      time.Time
	types     values
	codes     values
	reasons   values
	methods   values
	paths     values
	users     values // who share it, and names as they were typed at a login
	addresses values
	tokens    values // their public ids
	rules     values // of injections
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

// add counts a text, as one of the others if there are limit texts.
func (v *values) add(s string, n, limit int) {
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
	if len(v.List) >= limit {
		v.Other += n
		return
	}
	v.List = append(v.List, value{strings.Clone(key), redacted(s, maxValue), n})
}

func (v *values) merge(w values, limit int) {
	for _, x := range w.List {
		v.add(x.key, x.Count, limit)
	}
	v.Other += w.Other
}

// only is the text, if there is just one.
func (v *values) only() string {
	if len(v.List) != 1 || v.Other > 0 {
		return ""
	}
	return v.List[0].key
}

// or is nil for no values, which JSON leaves out.
func (v *values) or() *values {
	if len(v.List) == 0 {
		return nil
	}
	return v
}

// who is how many users and addresses are told apart.
func (t *tally) who() int {
	if t.shared {
		return maxShared
	}
	return maxValues
}

func (t *tally) add(e *Event, now time.Time) {
	if t.count == 0 {
		t.first = now
	}
	t.count++
	t.last = now
	t.types.add(e.Type, 1, maxValues)
	t.methods.add(e.Method, 1, maxValues)
	t.paths.add(e.Path, 1, maxValues)
	if e.Code != 0 {
		t.codes.add(strconv.Itoa(e.Code), 1, maxValues)
	}
	for _, r := range e.Reasons {
		t.reasons.add(r, 1, maxValues)
	}
	t.addresses.add(e.Address, 1, t.who())
	t.tokens.add(e.TokenID, 1, maxValues)
	if t.user == "" {
		t.users.add(e.User, 1, t.who())
	} else {
		t.role = e.Role
	}
	if e.Type == Injection {
		for _, rule := range rulesOf(e.Findings) {
			t.rules.add(rule, 1, maxValues)
		}
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
	t.role = cmp.Or(o.role, t.role)
	t.types.merge(o.types, maxValues)
	t.codes.merge(o.codes, maxValues)
	t.reasons.merge(o.reasons, maxValues)
	t.methods.merge(o.methods, maxValues)
	t.paths.merge(o.paths, maxValues)
	t.users.merge(o.users, t.who())
	t.addresses.merge(o.addresses, t.who())
	t.tokens.merge(o.tokens, maxValues)
	t.rules.merge(o.rules, maxValues)
}

// event is the record of the tally, without its type. Its address is the sender's, or the only one
// that there was.
func (t *tally) event() Event {
	input, err := json.Marshal(struct {
		Count     int     `json:"count"`
		First     string  `json:"first"`
		Last      string  `json:"last"`
		Types     *values `json:"types,omitempty"`
		Codes     *values `json:"codes,omitempty"`
		Reasons   *values `json:"reasons,omitempty"`
		Methods   *values `json:"methods,omitempty"`
		Paths     *values `json:"paths,omitempty"`
		Users     *values `json:"users,omitempty"`
		Addresses *values `json:"addresses,omitempty"`
		Tokens    *values `json:"tokens,omitempty"`
		Rules     *values `json:"rules,omitempty"`
	}{
		t.count, t.first.UTC().Format(TimeFormat), t.last.UTC().Format(TimeFormat),
		t.types.or(), t.codes.or(), t.reasons.or(), t.methods.or(), t.paths.or(), t.users.or(), t.addresses.or(), t.tokens.or(), t.rules.or(),
	})
	if err != nil {
		input = nil // strings and numbers can always be written
	}
	e := Event{
		Time: t.last, User: t.user, Role: t.role, TokenID: t.tokens.only(),
		Address: cmp.Or(t.address, t.addresses.only()), Input: string(input),
	}
	if t.denied {
		e.Decision, e.Status = "deny", "denied"
	}
	return e
}
