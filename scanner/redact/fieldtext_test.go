package redact

import (
	"fmt"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/scanner/redact/waiting"
)

// events writes data as a stream.
func events(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		name, rest, named := strings.Cut(d, "|")
		if named {
			fmt.Fprintf(&b, "event: %s\n", name)
			d = rest
		}
		fmt.Fprintf(&b, "data: %s\n\n", d)
	}
	return b.String()
}

func TestFieldTexts(t *testing.T) {
	for _, tt := range []struct {
		name     string
		in, want []string
	}{
		{
			"differently named events",
			[]string{`a|{"content":"password: hun9"}`, `b|{"content":"ter2 x"}`},
			[]string{`a|{"content":"password: REDACTED"}`, `b|{"content":" x"}`},
		},
		{
			"interleaved messages",
			[]string{`{"id":"m1","content":"password: hun9"}`, `{"id":"m2","content":"the weather"}`, `{"id":"m1","content":"ter2 x"}`, `{"id":"m2","content":" is fine"}`},
			[]string{`{"id":"m1","content":"password: REDACTED"}`, `{"id":"m2","content":"the weather"}`, `{"id":"m1","content":" x"}`, `{"id":"m2","content":" is fine"}`},
		},
		{
			"id after the text",
			[]string{`{"content":"password: hun9","id":"m1"}`, `{"content":"the weather","id":"m2"}`, `{"content":"ter2 x","id":"m1"}`},
			[]string{`{"content":"password: REDACTED","id":"m1"}`, `{"content":"the weather","id":"m2"}`, `{"content":" x","id":"m1"}`},
		},
		{
			"index after the text",
			[]string{`{"choices":[{"delta":{"content":"password: hun9"},"index":0}]}`, `{"choices":[{"delta":{"content":"the weather"},"index":1}]}`, `{"choices":[{"delta":{"content":"ter2 x"},"index":0}]}`},
			[]string{`{"choices":[{"delta":{"content":"password: REDACTED"},"index":0}]}`, `{"choices":[{"delta":{"content":"the weather"},"index":1}]}`, `{"choices":[{"delta":{"content":" x"},"index":0}]}`},
		},
		{
			"an id of the event",
			[]string{`{"id":"1","content":"one "}`, `{"id":"2","content":"two "}`, `{"id":"3","content":"three "}`, `{"id":"4","content":"password: hun9"}`, `{"id":"5","content":"ter2 x"}`},
			[]string{`{"id":"1","content":"one "}`, `{"id":"2","content":"two "}`, `{"id":"3","content":"three "}`, `{"id":"4","content":"password: REDACTED"}`, `{"id":"5","content":" x"}`},
		},
		{
			"a number of the event",
			[]string{`{"id":1,"content":"password: hun9"}`, `{"id":2,"content":"ter2 x"}`},
			[]string{`{"id":1,"content":"password: REDACTED"}`, `{"id":2,"content":" x"}`},
		},
		{
			"arguments of a tool call, whose id comes once",
			[]string{`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","function":{"name":"f","arguments":"{\"pass"}}]}}]}`, `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"word\":\"hunter2\",\"a\":1}"}}]}}]}`},
			[]string{`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","function":{"name":"f","arguments":"{\"pass"}}]}}]}`, `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"word\":\"REDACTED\",\"a\":1}"}}]}}]}`},
		},
		{
			"snapshots",
			[]string{`{"content":"the "}`, `{"content":"the password: hun"}`, `{"content":"the password: hunter2"}`, `{"content":"the password: hunter2 is old"}`},
			[]string{`{"content":"the "}`, `{"content":"the password: REDACTED"}`, `{"content":"the password: REDACTED"}`, `{"content":"the password: REDACTED is old"}`},
		},
		{
			"pieces, and the whole at the end",
			[]string{`messages|[{"id":"m","content":"the password: "}]`, `messages|[{"id":"m","content":"hunter2"}]`, `other|[{"id":"m","content":"the password: hunter2"}]`},
			[]string{`messages|[{"id":"m","content":"the password: "}]`, `messages|[{"id":"m","content":"REDACTED"}]`, `other|[{"id":"m","content":"the password: REDACTED"}]`},
		},
		{
			"growing messages of an agent graph",
			[]string{`messages/partial|[{"id":"m","content":"password is hun"}]`, `messages/partial|[{"id":"m","content":"password is hunter2 and"}]`, `messages/complete|[{"id":"m","content":"password is hunter2 and old"}]`},
			[]string{`messages/partial|[{"id":"m","content":"password is "}]`, `messages/partial|[{"id":"m","content":"password is REDACTED and"}]`, `messages/complete|[{"id":"m","content":"password is REDACTED and old"}]`},
		},
		{
			"states of an agent graph",
			[]string{`values|{"messages":[{"id":"a","content":"password: x1"}]}`, `values|{"messages":[{"id":"a","content":"password: x1"},{"id":"b","content":"secret: y2"}]}`},
			[]string{`values|{"messages":[{"id":"a","content":"password: REDACTED"}]}`, `values|{"messages":[{"id":"a","content":"password: REDACTED"},{"id":"b","content":"secret: REDACTED"}]}`},
		},
		{
			"pieces of a subgraph, with states in between",
			[]string{`messages|[{"content":"pass","id":"m"},{"run_id":"r"}]`, `values|{"content":"word: x"}`, `messages|[{"content":"word=hun9ter","id":"m"},{"run_id":"r"}]`},
			[]string{`messages|[{"content":"pass","id":"m"},{"run_id":"r"}]`, `values|{"content":"word: x"}`, `messages|[{"content":"word=REDACTED","id":"m"},{"run_id":"r"}]`},
		},
		{
			"undecided at the end",
			[]string{`{"type":"text","content":"its password is hunter2"}`, `{"type":"tool_use","name":"f","input":{}}`, `{"type":"done"}`},
			[]string{`{"type":"text","content":"its password is REDACTED"}`, `{"type":"tool_use","name":"f","input":{}}`, `{"type":"done"}`},
		},
		{
			"two texts wait",
			[]string{`{"a":"password is hun"}`, `{"b":"secret is tig"}`, `{"b":"er3 b"}`, `{"a":"ter2 a"}`},
			[]string{`{"a":"password is "}`, `{"b":"secret is "}`, `{"b":"REDACTED b"}`, `{"a":"REDACTED a"}`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, want := events(tt.in...), events(tt.want...)
			for n := range byte(17) {
				if got := split(NewEventStream(), in, []byte{n}); got != want {
					t.Fatalf("in pieces of %d:\n got\n%s\nwant\n%s", n+1, got, want)
				}
			}
			lines := NewLineStream()
			in, want = strings.Join(unnamed(tt.in), "\n")+"\n", strings.Join(unnamed(tt.want), "\n")+"\n"
			if strings.Contains(events(tt.in...), "event:") {
				return // lines have no names
			}
			if got := split(lines, in, []byte{2}); got != want {
				t.Errorf("as lines:\n got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// unnamed returns data without the names of the events.
func unnamed(data []string) (all []string) {
	for _, d := range data {
		if _, rest, named := strings.Cut(d, "|"); named {
			d = rest
		}
		all = append(all, d)
	}
	return all
}

// An event waits while its end is undecided, others behind it; a keepalive does not.
func TestEventsWait(t *testing.T) {
	r := NewEventStream()
	for _, step := range []struct{ in, want string }{
		{`data: {"a":"fine"}` + "\n\n", `data: {"a":"fine"}` + "\n\n"},
		{`data: {"a":" the password"}` + "\n\n", `data: {"a":" the password"}` + "\n\n"}, // nothing is held back
		{`data: {"a":" is hun"}` + "\n\n", ""},
		{": hb\n\n", ": hb\n\n"},
		{`data: {"b":"ok"}` + "\r", ""},
		{"\n\r\n", ""},
		{`data: {"a":"ter2"}` + "\n\n", `data: {"a":" is "}` + "\n\n" + `data: {"b":"ok"}` + "\r\n\r\n"},
		{`data: {"a":" ok"}` + "\n\n", `data: {"a":""}` + "\n\n" + `data: {"a":"REDACTED ok"}` + "\n\n"},
	} {
		if got := string(r.Append(nil, []byte(step.in))); got != step.want {
			t.Errorf("after %q: got %q, want %q", step.in, got, step.want)
		}
	}
}

// A question to people does not wait, whatever it ends in and whatever waits in front of it: until it is
// answered, nothing else comes.
func TestQuestionsDoNotWait(t *testing.T) {
	question := `{"type":"approval_required","digest":"7081a3524e35987b1a30f0e2b85c052d3185aa3082c8a685f4ce361535219e6c","reason":"the password is hunter2"}`
	r := NewEventStream()
	out := r.Append(nil, []byte(events(`{"type":"message_chunk","content":"its password is hunter2"}`)))
	out = r.Append(out, []byte(events(question)))
	if got := string(out); strings.Count(got, "approval_required") != 1 || !strings.Contains(got, "7081a3524e35987b1a30f0e2b85c052d3185aa3082c8a685f4ce361535219e6c") || strings.Contains(got, "hunter") {
		t.Errorf("got %q", got)
	}
}

// Nor does the address that a client of MCP's older transport waits for, whatever its random end may begin:
// the c is the first letter of the token in base64.
func TestAddressesDoNotWait(t *testing.T) {
	const event = "event: endpoint\ndata: /message?sessionId=7d8fdecf-0ce9-4230-98dd-7dea2db56f5c\n\n"
	const token = "svc_5IqHeaizbFfXD7U95qV2nzP6mNtFBu2RG0SRyjKq3422YFNvg"
	r := NewSecrets().With(token).EventStream()
	if got := string(r.Append(nil, []byte(event))); got != event {
		t.Errorf("got %q, want the event at once", got)
	}
	if got := string(r.Append(nil, []byte("event: endpoint\ndata: /message?token="+token+"\n\n"))); strings.Contains(got, token) || got == "" {
		t.Errorf("got %q, want it redacted, at once", got)
	}
}

// What waits is bounded: in the end it is taken for a secret.
func TestEventsWaitNotForEver(t *testing.T) {
	for _, other := range []string{`{"b":"x"}`, `{"b":"` + strings.Repeat("x ", 2<<10) + `"}`} {
		r := NewEventStream()
		out := r.Append(nil, []byte(events(`{"a":"password is hun"}`)))
		n := 1
		for ; len(out) == 0 && n < 1000; n++ {
			out = r.Append(out, []byte(events(other)))
		}
		if n > waiting.MaxEvents || !strings.HasPrefix(string(out), events(`{"a":"password is REDACTED"}`, other)) {
			t.Errorf("after %d events: got %.200s", n, out)
		}
		out = r.Append(nil, []byte(events(`{"a":"ter2 y"}`)))
		if got, want := string(r.Close(out)), events(`{"a":" y"}`); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// An event that is cut off goes on with the texts of those before.
func TestEventsCutOff(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{events(`{"a":"password: hun9"}`) + `data: {"a":"ter2 and`, events(`{"a":"password: REDACTED"}`) + `data: {"a":" and`},
		{events(`{"a":"password: hun9"}`) + `data: {"b":1,"a":"ter2`, events(`{"a":"password: REDACTED"}`) + `data: {"b":1,"a":"`},
		{events(`{"a":"password is hun"}`) + `data: {"a":"ter2`, events(`{"a":"password is "}`) + `data: {"a":"REDACTED`},
		{events(`{"a":"password: hun9"}`) + `data: {"a":"te\u00`, events(`{"a":"password: REDACTED"}`) + `data: {"a":"`},
		{events(`{"a":"password: hun9"}`, `{"a":"ter2 x"`), events(`{"a":"password: REDACTED"}`, `{"a":" x"`)},
	} {
		for n := range byte(5) {
			if got := split(NewEventStream(), tt.in, []byte{n}); got != tt.want {
				t.Errorf("%q\n got %q\nwant %q", tt.in, got, tt.want)
			}
		}
	}
}

func TestLines(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"no JSON", "password: x1\nsecret: y2", "password: REDACTED\nsecret: REDACTED"},
		{"carriage returns", "{\"password\":\"x\"}\r\n\r\n{\"a\":1}\r\n", "{\"password\":\"REDACTED\"}\r\n\r\n{\"a\":1}\r\n"},
		{"no end", `{"response":"password: x1"}`, `{"response":"password: REDACTED"}`},
		{"end", "{\"response\":\"password is hunter2\",\"done\":false}\n{\"response\":\"\",\"done\":true}\n", "{\"response\":\"password is \",\"done\":false}\n{\"response\":\"REDACTED\",\"done\":true}\n"},
		{"large", `{"a":"` + strings.Repeat("x ", maxEvent) + `","password":"x"}` + "\n{}\n", `{"a":"` + strings.Repeat("x ", maxEvent) + `","password":"REDACTED"}` + "\n{}\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cuts := []byte{0}
			if len(tt.in) > 1000 {
				cuts = []byte{16}
			}
			if got := split(NewLineStream(), tt.in, cuts); got != tt.want {
				t.Errorf("got %.300q, want %.300q", got, tt.want)
			}
		})
	}
}

func FuzzLines(f *testing.F) {
	f.Add("{\"a\":\"password: x\"}\n\n{\"a\":\"y\"}\r\nz", []byte{0})
	f.Fuzz(func(t *testing.T, in string, cuts []byte) {
		whole := split(NewLineStream(), in, []byte{16})
		if got := split(NewLineStream(), in, cuts); got != whole {
			t.Fatalf("%q, cut by %v:\n got %q\nwant %q", in, cuts, got, whole)
		}
		if got, want := strings.Count(whole, "\n"), strings.Count(in, "\n"); got > want {
			t.Fatalf("%q: got %d lines, want %d", whole, got, want)
		}
	})
}
