package redact

import (
	"strings"
	"testing"
)

// The lines of data of one event may make the secret together.
func TestLinesOfDataTogether(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"a key of JSON", "data: {\"pa\ndata: ssword\": \"hunter2\"}\n\n", "data: {\"pa\ndata: ssword\": \"REDACTED\"}\n\n"},
		{"a value of JSON", "data: {\"password\": \"hun\ndata: ter2\"}\n\n", "data: {\"password\": \"\ndata: REDACTED\"}\n\n"},
		{"an escape", "data: {\"p\\u00\ndata: 61ssword\": \"hunter2\"}\n\n", "data: {\"\ndata: p\\u0061ssword\": \"REDACTED\"}\n\n"},
		{"a word", "data: the pass\ndata: word=hunter2 x\n\n", "data: the pass\ndata: word=REDACTED x\n\n"},
		{"a token", "data: use ghp_Zx81Qm0aVb72Lc93\ndata: NdKe64PfRg05ShTi1Uj2 now\n\n", "data: use \ndata: REDACTED now\n\n"},
		{"a prefix", "data: use gh\ndata: p_Zx81Qm0aVb72Lc93NdKe64PfRg05ShTi1Uj2\n\n", "data: use \ndata: REDACTED\n\n"},
		{"three lines", "data: {\"secr\r\ndata: et\":\r\ndata: \"x1\"}\r\n\r\n", "data: {\"secr\r\ndata: et\":\r\ndata: \"REDACTED\"}\r\n\r\n"},
		{"text", "data: Enter the password:\ndata: Thanks\n\n", ""},
		{"lines that end a word", "data: a token\ndata: is needed\n\n", ""},
		{"a document", "data: {\"a\":\ndata: [\"b\"]}\n\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want == "" {
				tt.want = tt.in
			}
			for n := range byte(17) {
				if got := split(NewEventStream(), tt.in, []byte{n}); got != tt.want {
					t.Fatalf("in pieces of %d: got %q, want %q", n+1, got, tt.want)
				}
			}
		})
	}
	in := "data: {\"a\":\"the pass\"}\n\ndata: {\"pa\ndata: ssword\": \"hunter2\"}\n\n"
	if got := split(NewEventStream(), in, []byte{99}); strings.Contains(got, "hunter2") {
		t.Errorf("after the beginning of a word: got %q", got)
	}
	known := knowing(t, "correct-horse-battery")
	in = "data: it is correct-hor\ndata: se-battery now\n\n"
	if got := split(known.EventStream(), in, []byte{99}); strings.Contains(got, "correct") || strings.Contains(got, "battery") {
		t.Errorf("known secret: got %q", got)
	}
}
