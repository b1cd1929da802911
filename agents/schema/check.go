package schema

import (
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxWork bounds the parts of a schema times the values that are checked with it: each part may look at each
// value, and say what is wrong with it.
const maxWork = 300_000

// maxTold bounds how many faults an error tells of.
const maxTold = 5

// Check says in one line what is wrong with a value, as encoding/json or jsonschema.UnmarshalJSON decodes it.
func (s *Schema) Check(v any) error {
	if n := count(v); n*s.parts > maxWork {
		return fmt.Errorf("%d values are too many for a schema with %d parts: together they must not be more than %d", n, s.parts, maxWork)
	}
	err := s.compiled.Validate(v)
	if fault, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		left := maxTold
		shorten(fault, &left)
	}
	if err != nil {
		return errors.New(strings.Join(strings.Fields(err.Error()), " "))
	}
	return nil
}

// count is how many values a value is made of.
func count(v any) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			n += count(e)
		}
	case map[string]any:
		for _, e := range v {
			n += count(e)
		}
	}
	return n
}

// shorten keeps the first faults: of a choice among many, each one says why it is not it.
func shorten(e *jsonschema.ValidationError, left *int) {
	for i, cause := range e.Causes {
		if *left <= 0 {
			e.Causes = e.Causes[:i]
			return
		}
		*left--
		shorten(cause, left)
	}
}
