package fakeanthropic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Request is an accepted request.
type Request struct {
	Model     string
	MaxTokens int
	System    []Block
	Messages  []Message
	Tools     []Tool
	Thinking  Thinking
	Stream    bool
	Header    http.Header
	Body      []byte
}

// Message is one turn of a conversation.
type Message struct {
	Role    string  `json:"role"`
	Content []Block `json:"content"`
}

// Block is a part of a message, of any type that this server knows.
type Block struct {
	Type         string          `json:"type"`
	Text         string          `json:"text,omitempty"`
	ID           string          `json:"id,omitempty"`
	Name         string          `json:"name,omitempty"`
	Input        json.RawMessage `json:"input,omitempty"`
	ToolUseID    string          `json:"tool_use_id,omitempty"`
	IsError      bool            `json:"is_error,omitempty"`
	Content      json.RawMessage `json:"content,omitempty"`
	Thinking     string          `json:"thinking,omitempty"`
	Signature    string          `json:"signature,omitempty"`
	Data         string          `json:"data,omitempty"`
	CacheControl *CacheControl   `json:"cache_control,omitempty"`
}

// CacheControl marks what the server is to keep.
type CacheControl struct {
	Type string `json:"type"`
	TTL  string `json:"ttl,omitempty"`
}

// Tool is one offered tool.
type Tool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"input_schema"`
	CacheControl *CacheControl   `json:"cache_control"`
}

// Thinking says whether the model is to think.
type Thinking struct {
	Type         string `json:"type"`
	BudgetTokens int    `json:"budget_tokens"`
}

type wire struct {
	Model     string    `json:"model"`
	MaxTokens *int      `json:"max_tokens"`
	System    []Block   `json:"system"`
	Messages  []Message `json:"messages"`
	Tools     []Tool    `json:"tools"`
	Thinking  *Thinking `json:"thinking"`
	Stream    bool      `json:"stream"`
}

var (
	toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
	useID    = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
)

// check decodes a request and says what the real server refuses it for; empty: nothing.
func (s *Server) check(h http.Header, body []byte) (Request, string) {
	r := Request{Header: h, Body: body}
	var in wire
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			return r, strings.Trim(field, `"`) + ": Extra inputs are not permitted"
		}
		return r, "The request body is not valid JSON: " + err.Error()
	}
	switch {
	case h.Get("anthropic-version") == "":
		return r, "anthropic-version: header is required"
	case in.Model == "":
		return r, "model: Field required"
	case in.MaxTokens == nil:
		return r, "max_tokens: Field required"
	case *in.MaxTokens < 1:
		return r, "max_tokens: must be greater than or equal to 1"
	case len(in.Messages) == 0:
		return r, "messages: at least one message is required"
	}
	r.Model, r.MaxTokens, r.System, r.Messages, r.Tools, r.Stream = in.Model, *in.MaxTokens, in.System, in.Messages, in.Tools, in.Stream
	if in.Thinking != nil {
		r.Thinking = *in.Thinking
	}
	for _, refused := range []string{checkThinking(r), checkTools(r.Tools), checkCache(r), checkOrder(r.Messages), s.checkMessages(r)} {
		if refused != "" {
			return r, refused
		}
	}
	return r, ""
}

func checkThinking(r Request) string {
	switch r.Thinking.Type {
	case "", "disabled", "adaptive":
		return ""
	case "enabled":
		if r.Thinking.BudgetTokens < 1024 {
			return "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
		}
		if r.MaxTokens <= r.Thinking.BudgetTokens {
			return "`max_tokens` must be greater than `thinking.budget_tokens`"
		}
		return ""
	}
	return "thinking.type: unknown"
}

func checkTools(tools []Tool) string {
	var names []string
	for i, t := range tools {
		var schema struct{ Type string }
		switch {
		case !toolName.MatchString(t.Name):
			return fmt.Sprintf("tools.%d.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", i)
		case slices.Contains(names, t.Name):
			return "tools: Tool names must be unique."
		case json.Unmarshal(t.InputSchema, &schema) != nil || schema.Type != "object":
			return fmt.Sprintf("tools.%d.custom.input_schema.type: Input should be 'object'", i)
		}
		names = append(names, t.Name)
	}
	return ""
}

// checkCache counts the marks, of which there may be four.
func checkCache(r Request) string {
	marks := 0
	count := func(c *CacheControl) {
		if c != nil && c.Type == "ephemeral" {
			marks++
		}
	}
	for _, t := range r.Tools {
		count(t.CacheControl)
	}
	for _, b := range r.System {
		count(b.CacheControl)
	}
	for i, m := range r.Messages {
		for j, b := range m.Content {
			if count(b.CacheControl); b.CacheControl != nil && strings.HasSuffix(b.Type, "thinking") {
				return fmt.Sprintf("messages.%d.content.%d.%s.cache_control: Extra inputs are not permitted", i, j, b.Type)
			}
		}
	}
	if marks > 4 {
		return fmt.Sprintf("A maximum of 4 blocks with cache_control may be provided. Found %d.", marks)
	}
	return ""
}

// checkOrder holds results to the calls that they answer: they begin the message that follows.
func checkOrder(messages []Message) string {
	if messages[0].Role != "user" {
		return `messages: first message must use the "user" role`
	}
	if messages[len(messages)-1].Role != "user" {
		return "This model does not support assistant message prefill. The conversation must end with a user message."
	}
	var open []string
	for i, m := range messages {
		for j, b := range m.Content {
			if b.Type != "tool_result" {
				continue
			}
			at := slices.Index(open, b.ToolUseID)
			if at < 0 {
				return fmt.Sprintf("messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", i, j, b.ToolUseID)
			}
			open = slices.Delete(open, at, at+1)
		}
		if len(open) > 0 {
			return fmt.Sprintf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s.", i-1, strings.Join(open, ", "))
		}
		for _, b := range m.Content {
			if b.Type == "tool_use" {
				if slices.Contains(open, b.ID) {
					return "messages: `tool_use` ids must be unique"
				}
				open = append(open, b.ID)
			}
		}
	}
	return ""
}

// checkMessages looks at the blocks by themselves.
func (s *Server) checkMessages(r Request) string {
	for i, m := range r.Messages {
		if m.Role != "user" && m.Role != "assistant" {
			return fmt.Sprintf("messages.%d.role: Input should be 'user' or 'assistant'", i)
		}
		if len(m.Content) == 0 {
			return fmt.Sprintf("messages.%d: all messages must have non-empty content except for the optional final assistant message", i)
		}
		for j, b := range m.Content {
			at := fmt.Sprintf("messages.%d.content.%d", i, j)
			switch b.Type {
			case "text":
				if strings.TrimSpace(b.Text) == "" {
					return "messages: text content blocks must contain non-whitespace text"
				}
			case "tool_use":
				if !useID.MatchString(b.ID) || !bytes.HasPrefix(bytes.TrimSpace(b.Input), []byte("{")) {
					return at + ".tool_use.input: Input should be a valid dictionary"
				}
			case "tool_result":
			case "thinking":
				if b.Signature != s.sign(b.Thinking) {
					return at + ": Invalid `signature` in `thinking` block"
				}
			case "redacted_thinking":
				if !strings.HasPrefix(b.Data, s.sign("")) {
					return at + ": Invalid `data` in `redacted_thinking` block"
				}
			default:
				return at + ".type: unknown"
			}
		}
	}
	n := len(r.Messages)
	if r.Thinking.Type == "enabled" && n > 1 && r.Messages[n-1].Content[0].Type == "tool_result" && !strings.HasSuffix(r.Messages[n-2].Content[0].Type, "thinking") {
		return fmt.Sprintf("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceding the lastmost set of `tool_use` and `tool_result` blocks).", n-2, r.Messages[n-2].Content[0].Type)
	}
	return ""
}
