package schema_test

import (
	"encoding/json"
	"fmt"
	"strconv"
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

// A schema and a value that are both allowed can still be too much together.
func TestCheck(t *testing.T) {
	choice := `{"items":{"anyOf":[` + strings.TrimSuffix(strings.Repeat(`{"const":1},`, 3900), ",") + `]}}`
	s, err := schema.Compile("it", []byte(choice))
	if err != nil {
		t.Fatal(err)
	}
	many := make([]any, 2000)
	for i := range many {
		many[i] = 0.0
	}
	if err := s.Check(many); err == nil || !strings.Contains(err.Error(), "too many") {
		t.Errorf("got %v, want that it is too much", err)
	}
	if err := s.Check(many[:50]); err == nil || len(err.Error()) > 1000 {
		t.Errorf("got an error of %d bytes, want a short one", len(fmt.Sprint(err)))
	}
	values := make([]string, 5000)
	for i := range values {
		values[i] = strconv.Itoa(i)
	}
	if _, err := schema.Compile("it", []byte(`{"items":{"enum":[`+strings.Join(values, ",")+`]}}`)); err == nil {
		t.Error("a list of 5,000 values to choose from is taken")
	}
	people, err := schema.Compile("it", []byte(`{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},"required":["name"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	list := make([]any, 5000)
	for i := range list {
		list[i] = map[string]any{"name": "ada", "age": 36.0}
	}
	if err := people.Check(list); err != nil {
		t.Errorf("an ordinary list: %v", err)
	}
	list[3] = map[string]any{"age": "36"}
	if err := people.Check(list); err == nil || !strings.Contains(err.Error(), "/3") {
		t.Errorf("got %v, want the place of the fault", err)
	}
}

// Whatever text is taken as a schema can be checked with.
func FuzzCompile(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"pattern":"^a+$"}}}`, `{"a":"aa"}`)
	f.Add(`{"anyOf":[{"type":"array","uniqueItems":true},{"multipleOf":0.1}]}`, `[1,1]`)
	f.Add(`{"enum":[1,2,3],"required":["a"]}`, `{"b":[1,{"c":2}]}`)
	f.Fuzz(func(t *testing.T, text, value string) {
		s, err := schema.Compile("it", []byte(text))
		if err != nil {
			return
		}
		var v any
		if json.Unmarshal([]byte(value), &v) == nil {
			if err := s.Check(v); err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("the error has several lines: %q", err)
			}
		}
	})
}
