package redact

import (
	"fmt"
	"strings"
	"testing"
)

// A value that waits for its name in a streamed string is given up when too much waits: what was held back
// comes, and nothing is lost.
func TestLateIsGivenUp(t *testing.T) {
	args := func(piece string) string {
		return fmt.Sprintf(argumentStreams["OpenAI"][0]+"\n\n", quote(piece))
	}
	for _, tt := range []struct {
		name, between string
		pieces        []string
	}{
		{"events of another text", "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"}}]}\n\n", []string{`{"value":"hunter2`, `x","na`, `me":"colour"}`}},
		{"keepalives", ": ping\n\n", []string{`{"value":"hunter2`, `x","na`, `me":"colour"}`}},
		{"a long value", "", []string{`{"value":"`, strings.Repeat("word ", 60_000), `","name":"colour"}`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := NewEventStream()
			var in, out string
			add := func(s string) {
				in += s
				out += string(r.Append(nil, []byte(s)))
			}
			for _, p := range tt.pieces {
				add(args(p))
				for range 300 {
					if tt.between != "" {
						add(tt.between)
					}
				}
				if waiting := len(in) - len(out); waiting > 600<<10 {
					t.Fatalf("%d bytes wait", waiting)
				}
			}
			out += string(r.Close(nil))
			var got strings.Builder
			for _, event := range strings.Split(out, "\n\n") {
				if strings.Contains(event, "arguments") {
					got.WriteString(longestString(t, event))
				}
			}
			if want := strings.Join(tt.pieces, ""); got.String() != want {
				t.Errorf("got %.300s, want %.300s", got.String(), want)
			}
			if n, want := strings.Count(out, "\n\n"), strings.Count(in, "\n\n"); n != want {
				t.Errorf("got %d events, want %d", n, want)
			}
		})
	}
}

// A snapshot of a text that waits for a name is one. After a single byte it may go on with the text instead.
func TestLateInSnapshots(t *testing.T) {
	form := argumentStreams["Ollama"][0] + "\n\n"
	whole := `{"value":"hunter2secret","name":"password","n":1}`
	for n := 2; n < len(whole); n++ {
		events := fmt.Sprintf(form, quote(whole[:n])) + fmt.Sprintf(form, quote(whole))
		if out := redactEvents(events + "data: {\"done\":true}\n\n"); strings.Contains(out, "hunter2secret") {
			t.Errorf("after %d bytes: got %s", n, out)
		}
	}
}
