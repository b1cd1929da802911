package schema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/agents/schema"
)

func TestCompile(t *testing.T) {
	doubling := func(levels int) string {
		defs := make([]string, levels)
		for i := range defs {
			defs[i] = fmt.Sprintf(`"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, i+1, i+1)
		}
		return fmt.Sprintf(`{"$defs":{%s,"d%d":{"type":"object"}},"$ref":"#/$defs/d0"}`, strings.Join(defs, ","), levels)
	}
	for _, tt := range []struct{ name, text, want string }{
		{"plain", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, ""},
		{"definitions", `{"$defs":{"p":{"type":"integer"}},"properties":{"a":{"$ref":"#/$defs/p"},"b":{"items":{"$ref":"#/$defs/p"}}}}`, ""},
		{"of another time", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"array","items":[{"type":"string"}],"additionalItems":false}`, ""},
		{"none", ``, "empty"},
		{"no JSON", `{"type":`, "reading the test's schema"},
		{"twice", `{"type":"string","type":"object"}`, "type"},
		{"no schema", `{"type":"strng"}`, "type"},
		{"huge number", `{"minimum":1e999999999}`, "number"},
		{"a file", `{"$ref":"file:///etc/passwd"}`, "file:///etc/passwd"},
		{"a server", `{"$ref":"http://127.0.0.1:1/x.json"}`, "http://127.0.0.1:1/x.json"},
		{"recursive", `{"properties":{"a":{"$ref":"#"}}}`, "refers to itself"},
		{"dynamic", `{"$dynamicAnchor":"a","properties":{"a":{"$dynamicRef":"#a"}}}`, "refers to itself"},
		{"doubling", doubling(40), "parts"},
		{"doubling a little", doubling(5), ""},
		{"large", `{"description":"` + strings.Repeat("x", schema.MaxBytes) + `"}`, "KiB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := schema.Compile("the test's schema", []byte(tt.text))
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("got %v", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

// Whatever text is taken as a schema can be checked with.
func FuzzCompile(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"pattern":"^a+$"}}}`, `{"a":"aa"}`)
	f.Add(`{"anyOf":[{"type":"array","uniqueItems":true},{"multipleOf":0.1}]}`, `[1,1]`)
	f.Fuzz(func(t *testing.T, text, value string) {
		s, err := schema.Compile("it", []byte(text))
		if err != nil {
			return
		}
		var v any
		if json.Unmarshal([]byte(value), &v) == nil {
			_ = s.Validate(v) // returns
		}
	})
}
