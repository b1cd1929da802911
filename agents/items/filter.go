package items

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/agents"
)

// Operators of a filter, beside plain values, which mean equality.
var operators = map[string]func(value, operand any) bool{
	"$eq":  func(v, o any) bool { return reflect.DeepEqual(v, o) },
	"$ne":  func(v, o any) bool { return !reflect.DeepEqual(v, o) },
	"$gt":  func(v, o any) bool { return compares(v, o, func(c int) bool { return c > 0 }) },
	"$gte": func(v, o any) bool { return compares(v, o, func(c int) bool { return c >= 0 }) },
	"$lt":  func(v, o any) bool { return compares(v, o, func(c int) bool { return c < 0 }) },
	"$lte": func(v, o any) bool { return compares(v, o, func(c int) bool { return c <= 0 }) },
}

// CheckFilter says what is wrong with a filter. Operators stand for themselves: a condition is either
// made of them or of names of fields.
func CheckFilter(filter map[string]any) error { return checkConditions("filter", filter) }

func checkConditions(field string, conditions map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(conditions)) {
		at := field + "." + name
		if strings.HasPrefix(name, "$") {
			return &agents.FieldError{Field: at, Message: "an operator belongs to a field, as in {\"age\": {\"$gt\": 30}}"}
		}
		c, nested := conditions[name].(map[string]any)
		switch {
		case !nested:
		case ordered(c):
			if err := checkOperators(at, c); err != nil {
				return err
			}
		default:
			if err := checkConditions(at, c); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkOperators(field string, c map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if operators[name] == nil {
			return &agents.FieldError{Field: field + "." + name, Message: "is no operator; there are " + strings.Join(slices.Sorted(maps.Keys(operators)), ", ")}
		}
		switch c[name].(type) {
		case string, float64:
		default:
			if name != "$eq" && name != "$ne" {
				return &agents.FieldError{Field: field + "." + name, Message: fmt.Sprintf("must be a number or a text, not %T", c[name])}
			}
		}
	}
	return nil
}

// ordered reports whether a condition is made of operators.
func ordered(c map[string]any) bool {
	for name := range c {
		if strings.HasPrefix(name, "$") {
			return true
		}
	}
	return false
}

// Matches reports whether a value has what a filter asks for: each field that it names, with the value or
// in the range that it says, also within objects. The values are as encoding/json decodes them.
func Matches(value, filter map[string]any) bool {
	for name, want := range filter {
		got, ok := value[name]
		if !satisfies(got, ok, want) {
			return false
		}
	}
	return true
}

// satisfies reports whether a field, which may be missing, is as a condition wants it.
func satisfies(got any, there bool, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		if ordered(want) {
			for name, operand := range want {
				if !operators[name](got, operand) {
					return false
				}
			}
			return true
		}
		object, ok := got.(map[string]any)
		return ok && Matches(object, want)
	default:
		return there && reflect.DeepEqual(got, want)
	}
}

// compares reports whether two numbers or two texts are in an order. Other pairs have none.
func compares(a, b any, in func(int) bool) bool {
	switch a := a.(type) {
	case float64:
		b, ok := b.(float64)
		return ok && in(cmp.Compare(a, b))
	case string:
		b, ok := b.(string)
		return ok && in(strings.Compare(a, b))
	}
	return false
}
