package skill

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/svc-gateway/svc/agents/schema"
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
	doc, ok := p.Value(n, field).(map[string]any)
	if !ok {
		p.Wrong(n.Line, field, "want a JSON Schema: type, properties and required")
		return nil
	}
	if doc["type"] != "object" {
		p.Wrong(n.Line, field, "the arguments of a tool are an object: write type: object")
		return nil
	}
	properties, ok := doc["properties"].(map[string]any)
	if !ok && doc["properties"] != nil {
		p.Wrong(n.Line, field, "properties: want lines with the name of an argument and its schema")
		return nil
	}
	if _, said := doc["additionalProperties"]; !said {
		doc["additionalProperties"] = false
	}
	text, err := json.Marshal(doc)
	if err == nil {
		_, err = schema.Compile("the parameters of "+t.Name, text)
	}
	if err != nil {
		p.Wrong(n.Line, field, "this is no JSON Schema: %s", strings.Join(strings.Fields(err.Error()), " "))
		return nil
	}
	t.Parameters = text
	return slices.Sorted(maps.Keys(properties))
}
