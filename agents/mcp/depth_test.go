package mcp

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/internal/strictjson"
)

// deep is JSON that is nested so deep.
func deep(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

// A server cannot have the decoder work for minutes on brackets, however it writes them.
func TestDepth(t *testing.T) {
	const most = strictjson.MaxDepth
	for name, tt := range map[string]struct {
		events bool
		text   string
		wrong  bool
	}{
		"as deep as may be":           {false, deep(most), false},
		"too deep":                    {false, deep(most + 1), true},
		"objects":                     {false, strings.Repeat(`{"a":`, most+1), true},
		"over lines":                  {false, strings.Repeat("[\n", most+1), true},
		"in a text":                   {false, `{"a":"` + strings.Repeat("[", 500) + `"}`, false},
		"behind a text with a quote":  {false, `["\"",` + strings.Repeat("[", most) + `]`, true},
		"closed in texts only":        {false, strings.Repeat(`["]",`, most+1), true},
		"an event":                    {true, "data: " + deep(most+1) + "\n\n", true},
		"an event over lines":         {true, strings.Repeat("data: [\n", most+1), true},
		"an event over lines of CRLF": {true, strings.Repeat("data: [\r\n", most+1), true},
		"an event over lines of CR":   {true, strings.Repeat("data: [\r", most+1), true},
		"events":                      {true, strings.Repeat("data: "+deep(most/2)+"\n\n", 5), false},
		"a quote in a comment":        {true, ": \"\ndata: " + deep(most+1) + "\n\n", true},
		"brackets in another field":   {true, "id: " + strings.Repeat("[", 500) + "\ndata: {}\n\n", false},
	} {
		b := &boundedBody{ReadCloser: io.NopCloser(strings.NewReader(tt.text)), left: 1 << 20, end: func() {}, broken: func(error) {}, deep: new(depth).take}
		if tt.events {
			b.deep = (&eventDepth{data: true}).take
		}
		if _, err := io.ReadAll(b); errors.Is(err, errTooDeep) != tt.wrong {
			t.Errorf("%s: got %v", name, err)
		}
	}
	q := &quota{left: burst}
	for range 3 {
		if err := q.take([]byte(deep(most)+"\n"), time.Now()); err != nil {
			t.Errorf("messages of a program: %v", err)
		}
	}
	if err := q.take([]byte(deep(most+1)), time.Now()); !errors.Is(err, errTooDeep) {
		t.Errorf("got %v, want that it is too deep", err)
	}
}
