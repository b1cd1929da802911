package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Counter is a number that a rule asks for with count or sum: how much there was of something in a
// window of time, the call that is decided on included. Decide does not keep it: whoever decides
// adds Amount to the counter Key before the call, puts the total into [Input.Counts], and gives it
// back when the call is not made.
type Counter struct {
	Key    string        `json:"key"`    // of the rule, the window and what is counted, as a hash
	Amount float64       `json:"amount"` // what this call adds
	Window time.Duration `json:"window"` // begins with the first call and ends with all that was counted
}

// counterNames are the functions that ask for a counter.
var counterNames = []string{"count", "sum"}

const maxWindow = 31 * 24 * time.Hour

var (
	errUncounted = errors.New("what it counts could not be counted")
	errAmount    = errors.New("sum: the amount is not a number of at least 0")
)

// parseWindow reads the window of a counter: 90s, 15m, 24h, 7d.
func parseWindow(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n int
		n, err = strconv.Atoi(days)
		d = time.Duration(n) * 24 * time.Hour
		if n > int(maxWindow/(24*time.Hour)) {
			d = maxWindow + 1
		}
	}
	if err != nil || d < time.Second || d > maxWindow {
		return 0, fmt.Errorf("%q is not a window of time from 1s to 31d, such as 15m, 24h or 7d", text)
	}
	return d, nil
}

// count is the function count(by, window) of expressions.
func (e *env) count(by any, window string) (float64, error) {
	return e.counter("count", 1, window, by)
}

// sum is the function sum(amount, window, by…) of expressions.
func (e *env) sum(amount any, window string, by ...any) (float64, error) {
	var n float64
	switch a := amount.(type) {
	case int:
		n = float64(a)
	case float64:
		n = a
	default:
		return 0, errAmount
	}
	if math.IsNaN(n) || n < 0 || n > 1e12 {
		return 0, errAmount
	}
	return e.counter("sum", n, window, by)
}

// counter looks a counter up in the input, or notes that it is wanted.
func (e *env) counter(function string, amount float64, window string, by any) (float64, error) {
	d, err := parseWindow(window)
	if err != nil {
		return 0, err
	}
	what, err := json.Marshal(by)
	if err != nil {
		return 0, fmt.Errorf("%s: this cannot be counted by: %w", function, err)
	}
	hash := sha256.Sum256(what)
	key := strings.Join([]string{e.rule, function, window, hex.EncodeToString(hash[:12])}, "/")
	if total, counted := e.counts[key]; counted {
		return total, nil
	}
	e.wants = append(e.wants, Counter{key, amount, d})
	return 0, errUncounted
}

// Counters returns what the rules ask for that is not in in.Counts yet. With the answers in it there
// may be more to ask for: an expression asks for what it comes to. It is empty in the end.
func (e *Engine) Counters(in Input) []Counter {
	if e == nil || !e.counts {
		return nil
	}
	q := ask(&in)
	if !permitted(e.grants, in.Principal.Role, q.Triple) {
		return nil
	}
	var room [16]int
	vars := newEnv(&in, &q)
	for _, n := range e.index.candidates(room[:0], &in, &q) {
		if r := &e.rules[n]; r.expression != nil && r.expression.counts && r.Match.selects(&in, &q) {
			vars.rule = r.Name
			_, _ = r.expression.run(vars) // one that fails is told of by Decide
		}
	}
	return vars.wants
}
