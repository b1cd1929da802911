package agents

import (
	"encoding/json"
	"reflect"
	"slices"
)

// asJSON is v as JSON has it: numbers are float64, objects maps.
func asJSON(v any) any {
	var plain any
	if json.Unmarshal([]byte(jsonText(v)), &plain) != nil {
		return nil
	}
	return plain
}

// contains reports whether a value of JSON contains another one: an object each name of the other with a
// value that contains the value there, an array for each element of the other one that contains it.
// null as a whole asks for nothing.
func contains(v, part any) bool {
	switch part := part.(type) {
	case nil:
		return true
	case map[string]any:
		object, ok := v.(map[string]any)
		for name, p := range part {
			has, there := object[name]
			ok = ok && there && (p != nil && contains(has, p) || p == nil && has == nil)
		}
		return ok
	case []any:
		array, ok := v.([]any)
		for _, p := range part {
			ok = ok && slices.ContainsFunc(array, func(has any) bool { return contains(has, p) })
		}
		return ok
	}
	return reflect.DeepEqual(v, part)
}
