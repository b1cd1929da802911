package media

import "testing"

func TestLines(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		is, ok     bool
	}{
		{"nothing", "", false, false},
		{"white space", "\n ", false, false},
		{"a document", `{"a":1}`, false, false},
		{"a document and the end of its line", "{\"a\":1}\r\n", false, false},
		{"two lines", "{\"a\":1}\n{\"b", true, true},
		{"lines of arrays", "[1]\r\n[2]\r\n", true, true},
		{"an empty line between them", "{}\n\n{", true, true},
		{"a document over several lines", "{\n  \"a\": 1\n}\n", false, true},
		{"an array of objects, one a line", "[\n{},\n{}\n]", false, true},
		{"a document and something else", "{}\nhello", false, true},
		{"text", "hello\n{}", false, true},
		{"a string", "\"a\"\n{}", false, true},
		{"JavaScript", "{ let a; }\n{ let b; }", false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if is, ok := Lines([]byte(tt.body)); is != tt.is || ok != tt.ok {
				t.Errorf("got %v, %v; want %v, %v", is, ok, tt.is, tt.ok)
			}
		})
	}
}
