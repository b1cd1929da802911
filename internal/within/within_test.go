package within

import (
	"encoding/json"
	"testing"
)

func TestJSON(t *testing.T) {
	for _, tt := range []struct {
		doc, part string
		want      bool
	}{
		{`{"a":1,"b":2}`, `{"a":1}`, true},
		{`{"a":1}`, `{"a":2}`, false},
		{`{"a":1}`, `{"b":1}`, false},
		{`{"a":1}`, `{}`, true},
		{`{"a":1}`, `null`, true},
		{`{"a":null}`, `{"a":null}`, true},
		{`{"a":1}`, `{"a":null}`, false},
		{`{}`, `{"a":null}`, false},
		{`{"a":{"b":1,"c":2}}`, `{"a":{"c":2}}`, true},
		{`{"a":"b"}`, `{"a":{"b":1}}`, false},
		{`{"a":[1,{"b":2,"c":3}]}`, `{"a":[{"b":2}]}`, true},
		{`{"a":[1]}`, `{"a":[1,2]}`, false},
		{`{"a":"x"}`, `{"a":["x"]}`, false},
	} {
		var doc, part any
		if err := json.Unmarshal([]byte(tt.doc), &doc); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(tt.part), &part); err != nil {
			t.Fatal(err)
		}
		if got := JSON(doc, part); got != tt.want {
			t.Errorf("%s in %s: got %t", tt.part, tt.doc, got)
		}
	}
}
