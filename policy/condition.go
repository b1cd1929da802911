package policy

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Condition is a boolean expression (expr-lang) about a principal and the request that it
// sends, such as principal.role == "admin" or may("mutate"). Get one with [ParseCondition]; it
// is safe for concurrent use.
type Condition struct{ expression *expression }

// Request is what a [Condition] knows of an HTTP request, by the names in the tags.
type Request struct {
	Method string `expr:"method"`
	Scheme string `expr:"scheme"` // http or https
	Host   string `expr:"host"`   // as sent, with the port if there is one
	Path   string `expr:"path"`   // decoded, without empty, . and .. segments
	Query  string `expr:"query"`  // as sent, without the question mark

	// Time is when it came, in the zone that expressions see. Without it one that reads the time
	// cannot be evaluated.
	Time time.Time `expr:"-"`
}

// conditionEnv is what an expression sees.
type conditionEnv struct {
	Principal principalEnv      `expr:"principal"`
	Request   Request           `expr:"request"`
	Time      timeEnv           `expr:"time"`
	May       func(string) bool `expr:"may"` // asks the permission table about the principal's role
}

// ParseCondition compiles an expression. A misspelt name, an unknown action and an expression
// that is not boolean are errors.
func ParseCondition(text string) (*Condition, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New(`the expression is empty: want one such as principal.role == "admin"`)
	}
	e, err := compile(requestLanguage, text)
	if err != nil {
		return nil, fmt.Errorf("compiling the expression: %w", err)
	}
	return &Condition{e}, nil
}

// Holds evaluates the condition. An error means that it could not be: treat it as no.
func (c *Condition) Holds(p Principal, r Request) (bool, error) {
	holds, err := c.expression.holds(newConditionEnv(&p, &r), r.Time)
	if err != nil {
		return false, fmt.Errorf("evaluating the expression: %w", err)
	}
	return holds, nil
}

func newConditionEnv(p *Principal, r *Request) *conditionEnv {
	return &conditionEnv{
		Principal: newPrincipalEnv(p), Request: *r, Time: newTimeEnv(r.Time),
		May: func(action string) bool { return p.Role.May(Action(action)) },
	}
}
