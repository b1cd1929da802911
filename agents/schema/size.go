package schema

import "github.com/santhosh-tekuri/jsonschema/v6"

// meter counts the parts of a schema, each as often as it is referred to: how many are looked at for one
// value. A schema can be short and yet double at each of its levels. The values of a list to choose from, and
// the names of what is required, are parts.
type meter struct {
	sizes map[*jsonschema.Schema]int // 0: is being counted
}

func (m *meter) size(s *jsonschema.Schema) (int, error) {
	if s == nil {
		return 0, nil
	}
	if n, seen := m.sizes[s]; seen {
		if n == 0 {
			return 0, errRecursive
		}
		return n, nil
	}
	if s.DynamicRef != nil || s.RecursiveRef != nil {
		return 0, errRecursive
	}
	m.sizes[s] = 0
	n := 1 + len(s.Required)
	if s.Enum != nil {
		n += len(s.Enum.Values)
	}
	for _, part := range parts(s) {
		k, err := m.size(part)
		if err != nil {
			return 0, err
		}
		if n += k; n > maxParts {
			return 0, errTooCostly
		}
	}
	m.sizes[s] = n
	return n, nil
}

// parts are the schemas that a schema is made of.
func parts(s *jsonschema.Schema) []*jsonschema.Schema {
	all := []*jsonschema.Schema{
		s.Ref, s.Not, s.If, s.Then, s.Else, s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems, s.ContentSchema,
	}
	for _, list := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf, s.PrefixItems} {
		all = append(all, list...)
	}
	for _, part := range s.Properties {
		all = append(all, part)
	}
	for _, part := range s.PatternProperties {
		all = append(all, part)
	}
	for _, part := range s.DependentSchemas {
		all = append(all, part)
	}
	for _, part := range s.Dependencies {
		all = append(all, either(part)...)
	}
	for _, part := range []any{s.AdditionalProperties, s.Items, s.AdditionalItems} {
		all = append(all, either(part)...)
	}
	return all
}

// either is what stands where a schema, several or something else can be.
func either(part any) []*jsonschema.Schema {
	switch part := part.(type) {
	case *jsonschema.Schema:
		return []*jsonschema.Schema{part}
	case []*jsonschema.Schema:
		return part
	}
	return nil
}
