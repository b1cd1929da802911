package frontmatter

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxDepth bounds how deep a value is nested.
const maxDepth = 20

// Value returns what a node is as JSON: maps, lists, texts, numbers, booleans and nil. Aliases, tags of
// their own and keys that are there twice are mistakes.
func (r *Reader) Value(n *yaml.Node, field string) any { return r.value(n, field, 0) }

func (r *Reader) value(n *yaml.Node, field string, depth int) any {
	switch {
	case depth > maxDepth:
		r.Wrong(n.Line, field, "it is nested more than %d deep", maxDepth)
	case n.Kind == yaml.MappingNode:
		all := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if _, twice := all[key.Value]; twice || key.Kind != yaml.ScalarNode {
				r.Wrong(key.Line, field, "%q is there twice, or is no key: remove one", key.Value)
				continue
			}
			all[key.Value] = r.value(n.Content[i+1], field, depth+1)
		}
		return all
	case n.Kind == yaml.SequenceNode:
		all := make([]any, 0, len(n.Content))
		for _, e := range n.Content {
			all = append(all, r.value(e, field, depth+1))
		}
		return all
	case n.Kind == yaml.ScalarNode && n.Anchor == "":
		return r.scalar(n, field)
	default:
		r.Wrong(n.Line, field, "write the value itself, without an anchor or alias")
	}
	return nil
}

func (r *Reader) scalar(n *yaml.Node, field string) (v any) {
	switch tag := n.ShortTag(); tag {
	case "!!str", "!!timestamp", "!!merge":
		return n.Value
	case "!!int", "!!float", "!!bool", "!!null":
		err := n.Decode(&v)
		if lower := strings.ToLower(n.Value); err == nil && tag == "!!float" && (strings.Contains(lower, "inf") || strings.Contains(lower, "nan")) {
			r.Wrong(n.Line, field, "%s is no number of JSON", n.Value)
			return nil
		}
		if err != nil {
			r.Wrong(n.Line, field, "%q cannot be read: put texts into quotes", n.Value)
		}
		return v
	default:
		r.Wrong(n.Line, field, "it has the tag %s: write the value alone", tag)
		return nil
	}
}
