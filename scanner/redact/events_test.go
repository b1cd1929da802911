package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func redactEvents(s string) string {
	r := NewEventStream()
	return string(r.Close(r.Append(nil, []byte(s))))
}

func TestEvents(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"one event", "data: {\"content\":\"password: hunter2\"}\n\n", "data: {\"content\":\"password: REDACTED\"}\n\n"},
		{
			"split over events",
			"data: {\"type\":\"message_chunk\",\"content\":\"the password: hun\"}\n\ndata: {\"type\":\"message_chunk\",\"content\":\"ter2 is\"}\n\n",
			"data: {\"type\":\"message_chunk\",\"content\":\"the password: \"}\n\ndata: {\"type\":\"message_chunk\",\"content\":\"REDACTED is\"}\n\n",
		},
		{
			"split word",
			"data: {\"content\":\"pass\"}\n\ndata: {\"content\":\"word=\"}\n\ndata: {\"content\":\"hun\"}\n\ndata: {\"content\":\"ter2 c\"}\n\n",
			"data: {\"content\":\"pass\"}\n\ndata: {\"content\":\"word=\"}\n\ndata: {\"content\":\"\"}\n\ndata: {\"content\":\"REDACTED c\"}\n\n",
		},
		{
			"no secret, in the events as they came",
			"data: {\"content\":\"see http://localhost:22\"}\n\ndata: {\"content\":\"80/health\"}\n\n",
			"data: {\"content\":\"see http://localhost:22\"}\n\ndata: {\"content\":\"80/health\"}\n\n",
		},
		{
			"rest before done",
			"data: {\"type\":\"text\",\"content\":\"http://localhost:2280\"}\n\ndata: {\"type\":\"done\"}\n\n",
			"data: {\"type\":\"text\",\"content\":\"http://localhost:2280\"}\n\ndata: {\"type\":\"done\"}\n\n",
		},
		{
			"rest before a named end",
			"event: message\ndata: {\"a\":{\"content\":\"http://h:1\"},\"x\":\"y\",\"n\":1}\n\nevent: end\ndata: {}\n\n",
			"event: message\ndata: {\"a\":{\"content\":\"http://h:1\"},\"x\":\"y\",\"n\":1}\n\nevent: end\ndata: {}\n\n",
		},
		{
			"rest at the end",
			"data: {\"content\":\"svc_abc\"}\n\n",
			"data: {\"content\":\"svc_abc\"}\n\n",
		},
		{
			"secret rest at the end",
			"data: {\"content\":\"a password swordfi\"}\n\n",
			"data: {\"content\":\"a password REDACTED\"}\n\n",
		},
		{
			"fields apart",
			"data: {\"a\":\"password: hun\",\"b\":\"y z\"}\n\ndata: {\"b\":\"y z\",\"a\":\"ter w\"}\n\n",
			"data: {\"a\":\"password: \",\"b\":\"y z\"}\n\ndata: {\"b\":\"y z\",\"a\":\"REDACTED w\"}\n\n",
		},
		{
			"choices apart",
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"password: hun\"}}]}\n\ndata: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"y z\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ter w\"}}]}\n\ndata: [DONE]\n\n",
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"password: \"}}]}\n\ndata: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"y z\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"REDACTED w\"}}]}\n\ndata: [DONE]\n\n",
		},
		{
			"tool calls apart",
			"data: {\"type\":\"tool_use\",\"name\":\"run\",\"input\":{\"command\":\"curl http://h:80\"}}\n\ndata: {\"type\":\"tool_use\",\"name\":\"run\",\"input\":{\"command\":\"ls\",\"password\":\"x\"}}\n\n",
			"data: {\"type\":\"tool_use\",\"name\":\"run\",\"input\":{\"command\":\"curl http://h:80\"}}\n\ndata: {\"type\":\"tool_use\",\"name\":\"run\",\"input\":{\"command\":\"ls\",\"password\":\"REDACTED\"}}\n\n",
		},
		{"plain data", "data: the password: hun\n\ndata:ter2 is\n\ndata: [DONE]\n\n", "data: the password: \n\ndata:REDACTED is\n\ndata: [DONE]\n\n"},
		{"numbers are plain data", "data: password: \n\ndata: 1234\n\n", "data: password: \n\ndata: REDACTED\n\n"},
		{"lines", "data: {\"password\":\ndata:  \"x\"}\r\n\r\n", "data: {\"password\":\ndata:  \"REDACTED\"}\r\n\r\n"},
		{"plain lines", "data: a\ndata: password: x\ndata\n\n", "data: a\ndata: password: REDACTED\ndata\n\n"},
		{"other fields", ": hb\n\nid: 7\nevent: message\nretry: 10\ndata: {\"secret\":\"x\"}\nid: 8\n\n\n", ": hb\n\nid: 7\nevent: message\nretry: 10\ndata: {\"secret\":\"REDACTED\"}\nid: 8\n\n\n"},
		{"carriage returns", "data: {\"secret\":\"x\"}\r\rdata: x\r\r", "data: {\"secret\":\"REDACTED\"}\r\rdata: x\r\r"},
		{"byte order mark", "\ufeffdata: {\"secret\":\"x\"}\n\n", "\ufeffdata: {\"secret\":\"REDACTED\"}\n\n"},
		{"comment", ": password=x\n\n", ": password=REDACTED\n\n"},
		{"cut off", "data: {\"secret\":\"hun", "data: {\"secret\":\"REDACTED"},
		{
			"cut off after a rest", "data: {\"content\":\"svc_aaaaaaaa\"}\n\ndata: {\"content\":\"aaaaaaaaaa",
			"data: {\"content\":\"\"}\n\ndata: {\"content\":\"REDACTED",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for n := range byte(5) {
				if got := split(NewEventStream(), tt.in, []byte{n}); got != tt.want {
					t.Fatalf("in pieces of %d:\ngot\n%s\nwant\n%s", n+1, got, tt.want)
				}
			}
			if got := redactEvents(tt.in); got != tt.want {
				t.Errorf("whole:\ngot\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// Lines that carry no data pass as soon as they are complete, an event with its last line.
func TestEventsPassAtOnce(t *testing.T) {
	r := NewEventStream()
	for _, piece := range []string{": hb\n", "\n", "id: 1\nevent: message\ndata: {\"content\":\"hello\"}\n|\n", "\n", ": hb\n\n"} {
		first, second, _ := strings.Cut(piece, "|")
		got := string(r.Append(nil, []byte(first)))
		got += string(r.Append(nil, []byte(second)))
		if want := first + second; got != want {
			t.Errorf("after %q: got %q", piece, got)
		}
	}
	if got := string(r.Close(nil)); got != "" {
		t.Errorf("Close: got %q", got)
	}
}

// Ids end in any sign, also in the one that a secret begins with. An event does not wait for that.
func TestIDsPassAtOnce(t *testing.T) {
	secrets := NewSecrets()
	if err := secrets.Register("04c83e6f7a2b4d5c9e1f8a7b6c5d4e3f"); err != nil {
		t.Fatal(err)
	}
	const id = "b6e440fd-6dbd-532a-82d3-1aa37f486b80"
	for _, member := range []string{
		`"id":"` + id + `"`, `"run_id":"` + id + `"`, `"tool_call_id":"call_0190"`, `"toolCallId":"call_0190"`,
		`"checkpoint_ns":"agent:` + id + `"`, `"langgraph_checkpoint_ns":"tools:call_0190|agent:` + id + `"`,
	} {
		event := "event: messages\ndata: [{\"content\":\"one moment \"},{" + member + "}]\nid: 13\n\n"
		if out := secrets.EventStream().Append(nil, []byte(event)); string(out) != event {
			t.Errorf("%s: got %q", member, out)
		}
	}
}

func TestHugeEvent(t *testing.T) {
	fill := strings.Repeat("x ", maxEvent)
	for _, tt := range []struct{ name, in, want string }{
		{"json", `data: {"a":"` + fill + `","password":"hunter2"}` + "\n\ndata: y\n\n", `data: {"a":"` + fill + `","password":"REDACTED"}` + "\n\ndata: y\n\n"},
		{"text", "data: " + fill + "\ndata: password: hunter2\nid: 1\ndata: svc_abc\n\n", "data: " + fill + "\ndata: password: REDACTED\nid: 1\ndata: \ndata: svc_abc\n\n"},
		{"comment", ":" + fill + "password=x\n\ndata: {}\n\n", ":" + fill + "password=REDACTED\n\ndata: {}\n\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := NewEventStream()
			var got []byte
			for in := tt.in; in != ""; {
				n := min(4093, len(in))
				got = r.Append(got, []byte(in[:n]))
				in = in[n:]
			}
			if got := string(r.Close(got)); got != tt.want {
				t.Errorf("got  …%s\nwant …%s", got[max(0, len(got)-100):], tt.want[len(tt.want)-100:])
			}
		})
	}
}

// contents joins the content of the events of a stream.
func contents(t *testing.T, stream string) (text string, events int) {
	t.Helper()
	for line := range strings.SplitSeq(stream, "\n") {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var e struct{ Content string }
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("%v in %q", err, stream)
		}
		text += e.Content
		events++
	}
	return text, events
}

// The text of a field, joined, is what the whole text would have given.
func checkEvents(t *testing.T, text string, pieces, cuts []byte) {
	t.Helper()
	// No piece is as long as the first one, so none can be taken for a snapshot of the text.
	const first = "This is what was found on the host: "
	text = first + strings.ToValidUTF8(text, "?")
	var in strings.Builder
	events := 1
	for i, rest := 0, text; rest != ""; i++ {
		n := 1
		if len(pieces) > 0 {
			n = min(int(pieces[i%len(pieces)])%23+1, len(rest))
		}
		if i == 0 {
			n = len(first)
		}
		for n < len(rest) && !utf8.RuneStart(rest[n]) {
			n++
		}
		data, _ := json.Marshal(map[string]string{"type": "message_chunk", "content": rest[:n]})
		in.WriteString("data: " + string(data) + "\n\n")
		rest = rest[n:]
		events++
	}
	in.WriteString("data: {\"type\":\"done\"}\n\n")
	out := redactEvents(in.String())
	got, n := contents(t, out)
	if want := Text(text); got != want {
		t.Fatalf("stream\n%s\ngave\n%s\n got %q\nwant %q", in.String(), out, got, want)
	}
	if n != events {
		t.Fatalf("stream\n%s\ngave\n%s", in.String(), out)
	}
	if cut := split(NewEventStream(), in.String(), cuts); cut != out {
		t.Fatalf("stream\n%s\ncut by %v gave\n%s\nwant\n%s", in.String(), cuts, cut, out)
	}
}

func FuzzEventTexts(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s, []byte{3}, []byte{7})
	}
	f.Fuzz(checkEvents)
}

// FuzzEvents cuts any bytes.
func FuzzEvents(f *testing.F) {
	f.Add("event: a\r\ndata: {\"content\":\"password: x\"}\n\ndata: y\n\r\n", []byte{0})
	f.Add(": c\rdata:x\r\ndata\n\nid\n\n", []byte{3})
	f.Fuzz(func(t *testing.T, in string, cuts []byte) {
		whole := redactEvents(in)
		if got := split(NewEventStream(), in, cuts); got != whole {
			t.Fatalf("events(%q), cut by %v:\n got %q\nwant %q", in, cuts, got, whole)
		}
	})
}

// TestCalls holds that requests and answers of JSON-RPC come at once, and what came before them.
func TestCalls(t *testing.T) {
	for _, event := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"Which s"}}`,
		`{"jsonrpc":"2.0","id":"a","result":{"content":[{"type":"text","text":"the password"}]}}`,
		`{"jsonrpc":"2.0","id":1,"result":["the s"]}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no s"}}`,
	} {
		r := NewEventStream()
		held := "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"data\":\"the s\"}}\n\n"
		if got := string(r.Append(nil, []byte(held))); got != "" {
			t.Fatalf("%s does not wait", held)
		}
		for range 3 {
			in := held + "data: " + event + "\n\n"
			got := string(r.Append(nil, []byte("data: "+event+"\n\n")))
			if got != in {
				t.Errorf("got %q, want %q", got, in)
			}
			held = ""
		}
	}
}

// Prose that only names what secrets are called comes as it was sent, event by event.
func TestProseByTheCharacter(t *testing.T) {
	r := NewEventStream()
	var sent, got []byte
	for i, c := range "A key is on the map, see https://example.com/ for secrets of cooking." {
		event := fmt.Appendf(nil, "event: messages\ndata: [{\"id\":\"m-1\",\"content\":%q}]\nid: %d\n\n", string(c), i)
		sent = append(sent, event...)
		got = r.Append(got, event)
	}
	if got = r.Close(got); !bytes.Equal(got, sent) {
		t.Errorf("got %s, want %s", got, sent)
	}
}
