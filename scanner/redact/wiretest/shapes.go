package wiretest

import "strings"

// shape is how a server writes a piece of a text.
type shape struct {
	name        string
	contentType string
	event       string // %s is the piece as a string of JSON
	path        string // where it is there: keys and indexes with dots
	last        string // the event that ends the stream
	json        bool   // the pieces are of arguments, which are JSON
}

const (
	events = "text/event-stream"
	lines  = "application/x-ndjson"
)

// shapes are those of the services and protocols that agents use.
var shapes = []shape{
	{"chat completions", events, `data: {"id":"c-1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":%s}}]}`, "choices.0.delta.content", "data: [DONE]", false},
	{"chat completions: reasoning", events, `data: {"id":"c-1","choices":[{"index":0,"delta":{"reasoning_content":%s}}]}`, "choices.0.delta.reasoning_content", "data: [DONE]", false},
	{"chat completions: arguments", events, `data: {"id":"c-1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":%s}}]}}]}`, "choices.0.delta.tool_calls.0.function.arguments", "data: [DONE]", true},
	{"completions", events, `data: {"id":"c-1","choices":[{"text":%s,"index":0,"finish_reason":null}]}`, "choices.0.text", "data: [DONE]", false},
	{"responses", events, "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"i\",\"output_index\":0,\"content_index\":0,\"delta\":%s}", "delta", `data: {"type":"response.completed"}`, false},
	{"responses: arguments", events, "event: response.function_call_arguments.delta\ndata: {\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"i\",\"output_index\":0,\"delta\":%s}", "delta", `data: {"type":"response.completed"}`, true},
	{"assistants", events, "event: thread.message.delta\ndata: {\"id\":\"m\",\"delta\":{\"content\":[{\"index\":0,\"type\":\"text\",\"text\":{\"value\":%s}}]}}", "delta.content.0.text.value", "event: done\ndata: [DONE]", false},
	{"messages", events, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":%s}}", "delta.text", "event: message_stop\ndata: {\"type\":\"message_stop\"}", false},
	{"messages: arguments", events, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":%s}}", "delta.partial_json", "event: message_stop\ndata: {\"type\":\"message_stop\"}", true},
	{"generate content", events, `data: {"candidates":[{"content":{"parts":[{"text":%s}],"role":"model"},"index":0}]}`, "candidates.0.content.parts.0.text", "", false},
	{"converse", events, `data: {"contentBlockDelta":{"contentBlockIndex":0,"delta":{"text":%s}}}`, "contentBlockDelta.delta.text", "", false},
	{"converse: arguments", events, `data: {"contentBlockDelta":{"contentBlockIndex":1,"delta":{"toolUse":{"input":%s}}}}`, "contentBlockDelta.delta.toolUse.input", "", true},
	{"content-delta", events, "event: content-delta\ndata: {\"type\":\"content-delta\",\"index\":0,\"delta\":{\"message\":{\"content\":{\"text\":%s}}}}", "delta.message.content.text", "", false},
	{"text-delta", events, `data: {"type":"text-delta","id":"0","delta":%s}`, "delta", "data: [DONE]", false},
	{"message content", events, `data: {"type":"TEXT_MESSAGE_CONTENT","messageId":"m-1","delta":%s}`, "delta", "", false},
	{"artifacts", events, `data: {"jsonrpc":"2.0","id":1,"result":{"kind":"artifact-update","taskId":"t","artifact":{"artifactId":"a","parts":[{"kind":"text","text":%s}]},"append":true}}`, "result.artifact.parts.0.text", "", false},
	{"notifications", events, `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%s}}`, "params.data", "", false},
	{"agent server: messages", events, "event: messages\ndata: [{\"content\":%s,\"id\":\"m-1\",\"type\":\"AIMessageChunk\"},{\"langgraph_node\":\"a\"}]", "0.content", "event: end\ndata: {}", false},
	{"agent server: content blocks", events, "event: messages\ndata: [{\"content\":[{\"type\":\"text\",\"text\":%s,\"index\":0}],\"id\":\"m-1\"},{}]", "0.content.0.text", "event: end\ndata: {}", false},
	{"agent server: arguments", events, "event: messages\ndata: [{\"id\":\"m-1\",\"content\":\"\",\"tool_call_chunks\":[{\"name\":null,\"args\":%s,\"id\":null,\"index\":0}]},{}]", "0.tool_call_chunks.0.args", "event: end\ndata: {}", true},
	{"agent server: a subgraph", events, "event: messages|sub:1\ndata: [{\"content\":%s,\"id\":\"m-1\"},{}]", "0.content", "event: end\ndata: {}", false},
	{"agent server: custom", events, "event: custom\ndata: {\"chunk\":%s}", "chunk", "event: end\ndata: {}", false},
	{"a string", events, "data: %s", "", "data: [DONE]", false},
	{"lines: generate", lines, `{"model":"q","response":%s,"done":false}`, "response", `{"done":true}`, false},
	{"lines: chat", lines, `{"model":"q","message":{"role":"assistant","content":%s},"done":false}`, "message.content", `{"done":true}`, false},
	{"lines: arguments", lines, `{"message":{"tool_calls":[{"function":{"arguments":%s}}]}}`, "message.tool_calls.0.function.arguments", `{"done":true}`, true},
}

// end returns what stands after an event of the shape.
func (s *shape) end(crlf bool) string {
	end := "\n\n"
	if s.contentType == lines {
		end = "\n"
	}
	if crlf {
		return strings.ReplaceAll(end, "\n", "\r\n")
	}
	return end
}
