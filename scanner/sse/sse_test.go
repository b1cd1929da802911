package sse

import (
	"bytes"
	"fmt"
	"testing"
)

func TestLine(t *testing.T) {
	for _, tt := range []struct{ in, line, end, rest string }{
		{"a\nb", "a", "\n", "b"},
		{"a\r\nb", "a", "\r\n", "b"},
		{"a\rb\n", "a", "\r", "b\n"},
		{"a\r", "a", "\r", ""},
		{"\n\n", "", "\n", "\n"},
		{"a", "a", "", ""},
		{"", "", "", ""},
	} {
		line, end, rest := Line([]byte(tt.in))
		if string(line) != tt.line || string(end) != tt.end || string(rest) != tt.rest {
			t.Errorf("Line(%q): got %q %q %q, want %q %q %q", tt.in, line, end, rest, tt.line, tt.end, tt.rest)
		}
	}
}

func TestField(t *testing.T) {
	for _, tt := range []struct{ line, name, value string }{
		{"data: x", "data", "x"}, {"data:x", "data", "x"}, {"data:  x", "data", " x"}, {"data", "data", ""}, {": hb", "", "hb"}, {"a:b:c", "a", "b:c"}, {"", "", ""},
	} {
		name, value := Field([]byte(tt.line))
		if string(name) != tt.name || string(value) != tt.value {
			t.Errorf("Field(%q): got %q %q, want %q %q", tt.line, name, value, tt.name, tt.value)
		}
	}
}

func TestData(t *testing.T) {
	for event, want := range map[string]string{
		"event: a\ndata: x\nid: 1\n\n": "x",
		"data: x\r\ndata\r\ndata:y":    "x\n\ny",
		": data: x\n\n":                "",
		"":                             "",
	} {
		if got := string(Data([]byte(event))); got != want {
			t.Errorf("Data(%q): got %q, want %q", event, got, want)
		}
	}
	event := []byte("data: x\nid: 1\n\n")
	_ = append(Data(event), "yz"...)
	if want := "data: x\nid: 1\n\n"; string(event) != want {
		t.Errorf("appending to the data wrote into the event: %q", event)
	}
}

// FuzzLine holds that lines and their ends together are the text.
func FuzzLine(f *testing.F) {
	f.Add([]byte("a\r\n\rb\n\nc"))
	f.Fuzz(func(t *testing.T, p []byte) {
		var all []byte
		for rest := p; len(rest) > 0; {
			var line, end []byte
			line, end, rest = Line(rest)
			if bytes.ContainsAny(line, "\r\n") || len(line)+len(end) == 0 {
				t.Fatalf("%q has the line %q with the end %q", p, line, end)
			}
			all = append(append(all, line...), end...)
		}
		if !bytes.Equal(all, p) {
			t.Fatalf("got %q, want %q", all, p)
		}
	})
}

// An event is complete when an empty line has come.
func ExampleLine() {
	stream := []byte("event: message\r\ndata: hello\r\n\r\ndata: more")
	for rest := stream; len(rest) > 0; {
		var line, end []byte
		line, end, rest = Line(rest)
		fmt.Printf("%q complete %v, event complete %v\n", line, len(end) > 0, len(line) == 0)
	}
	// Output:
	// "event: message" complete true, event complete false
	// "data: hello" complete true, event complete false
	// "" complete true, event complete true
	// "data: more" complete false, event complete false
}
