package state

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/svc-gateway/svc/agents"
)

const (
	maxFilterDepth = 8  // objects and arrays within each other that a filter may have
	maxFilterParts = 64 // names and elements that it may have
)

// conditions are what a query asks for, all of it.
type conditions struct {
	all   []string
	args  []any
	parts int
}

func (q *conditions) add(condition string, args ...any) {
	q.all, q.args = append(q.all, condition), append(q.args, args...)
}

// contains asks for rows in which a column of JSON contains an object: each of its names with a value
// that contains the value there. An array contains another one when it has an element for each of the
// other's that contains it. Nothing of v becomes part of the query's text.
func (q *conditions) contains(field, column string, v map[string]any) error {
	doc, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", field, err)
	}
	var plain any // of what JSON has, whatever v is made of
	if err := json.Unmarshal(doc, &plain); err != nil {
		return fmt.Errorf("encoding %s: %w", field, err)
	}
	object, _ := plain.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		match, err := q.match(field, "e0", object[name], 1)
		if err != nil {
			return err
		}
		q.all = append(q.all, fmt.Sprintf("EXISTS (SELECT 1 FROM json_each(%s) e0 WHERE e0.key = ? AND %s)", column, match.text))
		q.args = append(append(q.args, name), match.args...)
	}
	return nil
}

// condition is a part of a query with its arguments, in the order of their places.
type condition struct {
	text string
	args []any
}

// match is the condition that an entry, a row of json_each, contains v.
func (q *conditions) match(field, entry string, v any, depth int) (condition, error) {
	if q.parts++; q.parts > maxFilterParts || depth > maxFilterDepth {
		return condition{}, &agents.FieldError{Field: field, Message: fmt.Sprintf("must have at most %d names and elements, %d within each other", maxFilterParts, maxFilterDepth)}
	}
	inner := fmt.Sprintf("e%d", depth)
	each := func(c *condition, key *string, v any) error {
		m, err := q.match(field, inner, v, depth+1)
		c.text += fmt.Sprintf(" AND EXISTS (SELECT 1 FROM json_each(%s.value) %s WHERE ", entry, inner)
		if key != nil {
			c.text += inner + ".key = ? AND "
			c.args = append(c.args, *key)
		}
		c.text, c.args = c.text+m.text+")", append(c.args, m.args...)
		return err
	}
	switch v := v.(type) {
	case nil:
		return condition{entry + ".type = 'null'", nil}, nil
	case bool:
		return condition{fmt.Sprintf("%s.type = '%t'", entry, v), nil}, nil
	case string:
		return condition{entry + ".type = 'text' AND " + entry + ".atom = ?", []any{v}}, nil
	case float64:
		return condition{entry + ".type IN ('integer', 'real') AND " + entry + ".atom = ?", []any{v}}, nil
	case map[string]any:
		c := condition{text: entry + ".type = 'object'"}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if err := each(&c, &name, v[name]); err != nil {
				return c, err
			}
		}
		return c, nil
	case []any:
		c := condition{text: entry + ".type = 'array'"}
		for _, element := range v {
			if err := each(&c, nil, element); err != nil {
				return c, err
			}
		}
		return c, nil
	}
	return condition{}, fmt.Errorf("a value of type %T in %s", v, field)
}
