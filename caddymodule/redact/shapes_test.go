package redact_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// shapes are the forms in which servers stream a text: %q is a piece of it as JSON, %[2]d the
// number of the event.
var shapes = []struct{ name, contentType, event string }{
	{"agent server: messages-tuple", eventStream, "event: messages\ndata: [{\"id\":\"m-1\",\"content\":%s,\"type\":\"AIMessageChunk\"},{\"langgraph_node\":\"a\"}]\nid: %d\n\n"},
	{"agent server: content blocks", eventStream, "event: messages\ndata: [{\"id\":\"m-1\",\"content\":[{\"type\":\"text\",\"text\":%s,\"index\":0}]},{}]\nid: %d\n\n"},
	{"agent server: tool calls", eventStream, "event: messages\ndata: [{\"id\":\"m-1\",\"content\":\"\",\"tool_call_chunks\":[{\"name\":null,\"args\":%s,\"id\":null,\"index\":0}]},{}]\nid: %d\n\n"},
	{"agent server: a subgraph", eventStream, "event: messages|sub:1\ndata: [{\"id\":\"m-1\",\"content\":%s},{}]\nid: %d\n\n"},
	{"agent server: events", eventStream, "event: events\ndata: {\"event\":\"on_chat_model_stream\",\"name\":\"M\",\"run_id\":\"r-1\",\"tags\":[],\"data\":{\"chunk\":{\"content\":%s,\"id\":\"m-1\"}}}\nid: %d\n\n"},
	{"agent server: custom", eventStream, "event: custom\ndata: {\"token\":%s,\"n\":%d}\n\n"},
	{"chat completions", eventStream, "data: {\"id\":\"c-1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}],\"n\":%d}\n\n"},
	{"chat completions: reasoning", eventStream, "data: {\"id\":\"c-1\",\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":%s}}],\"n\":%d}\n\n"},
	{"chat completions: arguments", eventStream, "data: {\"id\":\"c-1\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":%s}}]}}],\"n\":%d}\n\n"},
	{"completions", eventStream, "data: {\"id\":\"c-1\",\"object\":\"text_completion\",\"choices\":[{\"text\":%s,\"index\":0,\"finish_reason\":null}],\"n\":%d}\n\n"},
	{"responses", eventStream, "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"i\",\"output_index\":0,\"content_index\":0,\"delta\":%s,\"sequence_number\":%d}\n\n"},
	{"assistants", eventStream, "event: thread.message.delta\ndata: {\"id\":\"m\",\"delta\":{\"content\":[{\"index\":0,\"type\":\"text\",\"text\":{\"value\":%s}}]},\"n\":%d}\n\n"},
	{"messages", eventStream, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":%s},\"n\":%d}\n\n"},
	{"messages: arguments", eventStream, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":%s},\"n\":%d}\n\n"},
	{"generate content", eventStream, "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":%s}],\"role\":\"model\"},\"index\":0}],\"usageMetadata\":{\"totalTokenCount\":%d}}\r\n\r\n"},
	{"converse", eventStream, "data: {\"contentBlockDelta\":{\"contentBlockIndex\":0,\"delta\":{\"text\":%s}},\"n\":%d}\n\n"},
	{"content-delta", eventStream, "event: content-delta\ndata: {\"type\":\"content-delta\",\"index\":0,\"delta\":{\"message\":{\"content\":{\"text\":%s}}},\"n\":%d}\n\n"},
	{"text-delta", eventStream, "data: {\"type\":\"text-delta\",\"id\":\"0\",\"delta\":%s,\"n\":%d}\n\n"},
	{"message content", eventStream, "data: {\"type\":\"TEXT_MESSAGE_CONTENT\",\"messageId\":\"m-1\",\"delta\":%s,\"timestamp\":%d}\n\n"},
	{"artifacts", eventStream, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"kind\":\"artifact-update\",\"taskId\":\"t\",\"artifact\":{\"artifactId\":\"a\",\"parts\":[{\"kind\":\"text\",\"text\":%s}]},\"append\":true,\"n\":%d}}\n\n"},
	{"agent server: its second protocol", eventStream, "event: messages\ndata: {\"type\":\"event\",\"method\":\"messages\",\"params\":{\"namespace\":[\"a:1\"],\"data\":{\"event\":\"content-block-delta\",\"index\":0,\"delta\":{\"type\":\"text-delta\",\"text\":%s},\"run_id\":\"r-1\"}}}\nid: %d\n\n"},
	{"notifications", eventStream, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":%s,\"n\":%d}}\n\n"},
	{"a string", eventStream, "data: %s\nid: %d\n\n"},
	{"lines: generate", "application/x-ndjson", "{\"model\":\"q\",\"created_at\":\"2026-11-21T07:39:42Z\",\"response\":%s,\"done\":false,\"n\":%d}\n"},
	{"lines: chat", "application/x-ndjson", "{\"model\":\"q\",\"created_at\":\"2026-11-21T07:39:42Z\",\"message\":{\"role\":\"assistant\",\"content\":%s},\"done\":false,\"n\":%d}\n"},
	{"lines: chat, as plain text", "text/plain", "{\"model\":\"q\",\"message\":{\"role\":\"assistant\",\"content\":%s},\"done\":false,\"n\":%d}\n"},
	{"lines: chat, as a document", "application/json", "{\"model\":\"q\",\"message\":{\"role\":\"assistant\",\"content\":%s},\"done\":false,\"n\":%d}\n"},
	{"lines: thinking", "application/stream+json", "{\"model\":\"q\",\"message\":{\"role\":\"assistant\",\"content\":\"\",\"thinking\":%s},\"done\":false,\"n\":%d}\n"},
	{"lines: tool calls", "", "{\"message\":{\"tool_calls\":[{\"function\":{\"arguments\":%s}}]},\"n\":%d}\n"},
}

const eventStream = "text/event-stream"

// TestShapes streams a text with secrets in it in pieces of several lengths. All events are there,
// and their pieces are the redacted text.
func TestShapes(t *testing.T) {
	const text = "The password for bob is Hunter2!x, the key AKIAQ3EGRIL2VN7UTXJ5.\nSee https://bob:tiger7@example.com/ – 🙂 – plan A"
	const want = "The password for bob is REDACTED, the key REDACTED.\nSee https://bob:REDACTED@example.com/ – 🙂 – plan A"
	var contentType, body string
	srv := serve(t, "", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		io.WriteString(w, body)
	})
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			contentType = s.contentType
			for _, n := range []int{1, 3, 7, 40} {
				var in strings.Builder
				events := 0
				for rest := []rune(text); len(rest) > 0; rest = rest[min(n, len(rest)):] {
					piece, _ := json.Marshal(string(rest[:min(n, len(rest))]))
					fmt.Fprintf(&in, s.event, piece, events)
					events++
				}
				body = in.String()
				_, out := srv.Do(http.MethodGet, "/", "")
				if got := join(t, s.event, out, events); got != want {
					t.Errorf("in pieces of %d: got %q, want %q", n, got, want)
				}
			}
		})
	}
}

// join takes the pieces out of the events, which must be as they were else.
func join(t *testing.T, event, out string, events int) (text string) {
	t.Helper()
	before, rest, _ := strings.Cut(event, "%s")
	for i := range events {
		after := fmt.Sprintf(rest, i)
		var piece string
		var ok bool
		if out, ok = strings.CutPrefix(out, before); ok {
			d := json.NewDecoder(strings.NewReader(out))
			if err := d.Decode(&piece); err != nil {
				t.Fatalf("event %d: %v in %q", i, err, out)
			}
			out, ok = strings.CutPrefix(out[d.InputOffset():], after)
		}
		if !ok {
			t.Fatalf("event %d is not as it was: %q", i, out)
		}
		text += piece
	}
	if out != "" {
		t.Fatalf("more came: %q", out)
	}
	return text
}
