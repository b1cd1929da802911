// Package within tells whether a JSON document contains another one, as filters by metadata mean it.
package within

import (
	"reflect"
	"slices"
)

// JSON reports whether a value of JSON contains another one: an object each name of the other with a
// value that contains the value there, an array for each element of the other one that contains it.
// null as a whole asks for nothing. The values are as encoding/json decodes them into an any.
func JSON(v, part any) bool {
	switch part := part.(type) {
	case nil:
		return true
	case map[string]any:
		object, ok := v.(map[string]any)
		for name, p := range part {
			has, there := object[name]
			ok = ok && there && (p != nil && JSON(has, p) || p == nil && has == nil)
		}
		return ok
	case []any:
		array, ok := v.([]any)
		for _, p := range part {
			ok = ok && slices.ContainsFunc(array, func(has any) bool { return JSON(has, p) })
		}
		return ok
	}
	return reflect.DeepEqual(v, part)
}
