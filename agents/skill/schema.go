package skill

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// noParameters is the schema of a tool without arguments.
const noParameters = `{"type":"object","properties":{},"additionalProperties":false}`

// parameters reads the schema of a tool's arguments and returns their names. Arguments that it does not name
// are refused, unless it says otherwise.
func (p *parser) parameters(t *Tool, n *yaml.Node) (names []string) {
	t.Parameters = json.RawMessage(noParameters)
	if n == nil {
		return nil
	}
	const field = "tools.parameters"
	schema, ok := p.Value(n, field).(map[string]any)
	if !ok {
		p.Wrong(n.Line, field, "want a JSON Schema: type, properties and required")
		return nil
	}
	if schema["type"] != "object" {
		p.Wrong(n.Line, field, "the arguments of a tool are an object: write type: object")
		return nil
	}
	if key := foreign(schema); key != "" {
		p.Wrong(n.Line, field, "%s leads out of the schema, or changes what it means: write out what it stands for", key)
		return nil
	}
	properties, ok := schema["properties"].(map[string]any)
	if !ok && schema["properties"] != nil {
		p.Wrong(n.Line, field, "properties: want lines with the name of an argument and its schema")
		return nil
	}
	if _, said := schema["additionalProperties"]; !said {
		schema["additionalProperties"] = false
	}
	text, err := json.Marshal(schema)
	if err == nil {
		err = compile(t.Name, text)
	}
	if err != nil {
		p.Wrong(n.Line, field, "this is no JSON Schema: %s", strings.Join(strings.Fields(err.Error()), " "))
		return nil
	}
	t.Parameters = text
	return slices.Sorted(maps.Keys(properties))
}

// foreign finds a keyword of JSON Schema that refers to something else than a definition of the same schema:
// a validator may get that from a file.
func foreign(v any) string {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if key := foreign(e); key != "" {
				return key
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			ref, _ := v[key].(string)
			local := key == "$ref" && strings.HasPrefix(ref, "#/")
			if strings.HasPrefix(key, "$") && key != "$defs" && !local {
				return fmt.Sprintf("%s: %v", key, v[key])
			}
			if found := foreign(v[key]); found != "" {
				return found
			}
		}
	}
	return ""
}
