package langgraph

import (
	"encoding/json"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/model"
)

// The types of messages on the wire.
const (
	typeHuman  = "human"
	typeAI     = "ai"
	typeTool   = "tool"
	typeSystem = "system"
)

// Message is a message on the wire. Which members there are depends on the type.
type Message struct {
	Content          string           `json:"content"`
	AdditionalKwargs map[string]any   `json:"additional_kwargs"`
	ResponseMetadata map[string]any   `json:"response_metadata"`
	ID               string           `json:"id"`
	Type             string           `json:"type"`
	ToolCalls        *[]ToolCall      `json:"tool_calls,omitempty"`         // of ai
	ToolCallChunks   *[]ToolCallChunk `json:"tool_call_chunks,omitempty"`   // of ai
	InvalidToolCalls *[]InvalidCall   `json:"invalid_tool_calls,omitempty"` // of ai: their arguments are no object
	UsageMetadata    *UsageMetadata   `json:"usage_metadata,omitempty"`     // of ai, in streams
	ToolCallID       string           `json:"tool_call_id,omitempty"`       // of tool
	Name             string           `json:"name,omitempty"`               // of tool: the tool's; of ai: the agent's
	Status           string           `json:"status,omitempty"`             // of tool: success or error
}

// ToolCall is a call that a message asks for.
type ToolCall struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
	ID   string          `json:"id"`
	Type string          `json:"type"`
}

// ToolCallChunk is a call as streams have it.
type ToolCallChunk struct {
	Name  string `json:"name"`
	Args  string `json:"args"`
	ID    string `json:"id"`
	Index int    `json:"index"`
	Type  string `json:"type"`
}

// InvalidCall is a call whose arguments are no object.
type InvalidCall struct {
	Name  string `json:"name"`
	Args  string `json:"args"`
	ID    string `json:"id"`
	Error string `json:"error"`
	Type  string `json:"type"`
}

// UsageMetadata counts the tokens of a turn.
type UsageMetadata struct {
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	TotalTokens  int64 `json:"total_tokens"`

	InputTokenDetails *InputTokenDetails `json:"input_token_details,omitempty"`
}

// InputTokenDetails are the input tokens that the model's server kept, or had kept before.
type InputTokenDetails struct {
	CacheRead     int64 `json:"cache_read"`
	CacheCreation int64 `json:"cache_creation"`
}

// usageOf is what a turn cost, as it is on the wire.
func usageOf(u model.Usage) UsageMetadata {
	w := UsageMetadata{InputTokens: u.PromptTokens, OutputTokens: u.CompletionTokens, TotalTokens: u.TotalTokens}
	if u.CacheRead+u.CacheWritten > 0 {
		w.InputTokenDetails = &InputTokenDetails{u.CacheRead, u.CacheWritten}
	}
	return w
}

var none = map[string]any{} // encoded only

// wire is a message as it is on the wire.
func wire(m model.Message) Message {
	w := Message{Content: m.Content, AdditionalKwargs: none, ResponseMetadata: none, ID: m.ID}
	switch m.Role {
	case model.RoleAssistant:
		return answer(w, m.ToolCalls)
	case model.RoleTool:
		w.Type, w.ToolCallID, w.Name, w.Status = typeTool, m.ToolCallID, m.Name, "success"
		if m.Status != "" && m.Status != string(agents.CallSuccess) {
			w.Status, w.ResponseMetadata = "error", map[string]any{"status": m.Status}
		}
	case model.RoleSystem:
		w.Type = typeSystem
	default:
		w.Type = typeHuman
	}
	return w
}

// answer makes of a message one of a model, which asks for calls.
func answer(w Message, asked []model.ToolCall) Message {
	w.Type = typeAI
	calls, chunks, invalid := []ToolCall{}, []ToolCallChunk{}, []InvalidCall{}
	for i, c := range asked {
		chunks = append(chunks, ToolCallChunk{c.Name, c.Arguments, c.ID, i, "tool_call_chunk"})
		if args := json.RawMessage(c.Arguments); object(args) != nil {
			calls = append(calls, ToolCall{c.Name, args, c.ID, "tool_call"})
		} else {
			invalid = append(invalid, InvalidCall{c.Name, c.Arguments, c.ID, "the arguments are no JSON object", "invalid_tool_call"})
		}
	}
	w.ToolCalls, w.ToolCallChunks, w.InvalidToolCalls = &calls, &chunks, &invalid
	return w
}

// object are the members of a JSON object; nil for everything else.
func object(doc json.RawMessage) map[string]json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(doc, &members) != nil {
		return nil
	}
	return members
}

// encode is the JSON of a value of ours, which always has one.
func encode(v any) json.RawMessage {
	doc, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return doc
}

// wireAll are messages as they are on the wire, encoded.
func wireAll(messages []model.Message) []json.RawMessage {
	all := make([]json.RawMessage, len(messages))
	for i, m := range messages {
		all[i] = encode(wire(m))
	}
	return all
}

// values is the state of a thread on the wire.
func values(messages []json.RawMessage, others map[string]any) map[string]any {
	all := make(map[string]any, len(others)+1)
	for name, v := range others {
		all[name] = v
	}
	if messages == nil {
		messages = []json.RawMessage{}
	}
	all[channelMessages] = messages
	return all
}

// channelMessages is the one channel that every graph has.
const channelMessages = "messages"
