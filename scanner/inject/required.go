package inject

import (
	"regexp/syntax"
	"strings"
)

// required is what a text must hold for an expression to match it: a literal, all or one of its
// parts. The zero value is nothing. Looking for it is much cheaper than the expression.
type required struct {
	literal *literal
	all     []required
	one     []required
}

// requiredBy returns what the expression needs, upper and lower case being the same.
func requiredBy(e *syntax.Regexp) required {
	switch e.Op {
	case syntax.OpLiteral:
		return required{literal: newLiteral(strings.ToLower(string(e.Rune)))}
	case syntax.OpCapture, syntax.OpPlus:
		return requiredBy(e.Sub[0])
	case syntax.OpRepeat:
		if e.Min > 0 {
			return requiredBy(e.Sub[0])
		}
	case syntax.OpConcat:
		var r required
		for _, sub := range e.Sub {
			if part := requiredBy(sub); !part.nothing() {
				r.all = append(r.all, part)
			}
		}
		return r
	case syntax.OpAlternate:
		var r required
		for _, sub := range e.Sub {
			part := requiredBy(sub)
			if part.nothing() {
				return required{}
			}
			r.one = append(r.one, part)
		}
		return r
	}
	return required{}
}

func (r required) nothing() bool { return r.literal == nil && r.all == nil && r.one == nil }

// in reports whether what is required stands between from and to, which are prepared.
func (r *required) in(s *surroundings, from, to int) bool {
	if r.literal != nil && !s.has(r.literal, from, to) {
		return false
	}
	for i := range r.all {
		if !r.all[i].in(s, from, to) {
			return false
		}
	}
	for i := range r.one {
		if r.one[i].in(s, from, to) {
			return true
		}
	}
	return r.one == nil
}
