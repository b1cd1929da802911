package fakeopenai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Request is an accepted request.
type Request struct {
	Model         string
	Messages      []Message
	Tools         []Tool
	Stream        bool
	StreamOptions *StreamOptions
	Header        http.Header
	Body          []byte
}

// Message is one message of a request.
type Message struct {
	Role       string
	Content    string
	ToolCalls  []Call
	ToolCallID string
}

// Tool is one offered tool.
type Tool struct {
	Name, Description string
	Parameters        json.RawMessage
}

// StreamOptions are the options of a stream.
type StreamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// invalid is why a request is refused, in the real server's words where known.
type invalid struct{ code, message, param string }

// wire is the request's JSON. Pointers tell missing from empty.
type wire struct {
	Model    *string `json:"model"`
	Messages *[]struct {
		Role       string          `json:"role"`
		Content    json.RawMessage `json:"content"`
		Name       string          `json:"name"`
		ToolCallID string          `json:"tool_call_id"`
		ToolCalls  []struct {
			ID       string `json:"id"`
			Type     string `json:"type"`
			Function struct {
				Name      string  `json:"name"`
				Arguments *string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
	Tools *[]struct {
		Type     string `json:"type"`
		Function struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
			Strict      *bool           `json:"strict"`
		} `json:"function"`
	} `json:"tools"`
	Stream            bool            `json:"stream"`
	StreamOptions     *StreamOptions  `json:"stream_options"`
	ToolChoice        json.RawMessage `json:"tool_choice"`
	ParallelToolCalls *bool           `json:"parallel_tool_calls"`
	Temperature       *float64        `json:"temperature"`
	MaxTokens         *int            `json:"max_completion_tokens"`
	User              string          `json:"user"`
}

var functionName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// check decodes a request and refuses what the real server refuses.
func check(h http.Header, body []byte) (Request, *invalid) {
	r := Request{Header: h, Body: body}
	if media, _, err := mime.ParseMediaType(h.Get("Content-Type")); err != nil || media != "application/json" {
		return r, &invalid{message: "Unsupported content type: send application/json"}
	}
	var in wire
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			return r, &invalid{message: "Unrecognized request argument supplied: " + strings.Trim(field, `"`)}
		}
		return r, &invalid{message: "We could not parse the JSON body of your request."}
	}
	switch {
	case in.Model == nil || *in.Model == "":
		return r, &invalid{message: "you must provide a model parameter"}
	case in.Messages == nil:
		return r, &invalid{code: "missing_required_parameter", message: "Missing required parameter: 'messages'.", param: "messages"}
	case len(*in.Messages) == 0:
		return r, &invalid{code: "empty_array", message: "Invalid 'messages': empty array. Expected an array with minimum length 1.", param: "messages"}
	case in.StreamOptions != nil && !in.Stream:
		return r, &invalid{message: "The 'stream_options' parameter is only allowed when 'stream' is enabled.", param: "stream_options"}
	case in.Tools != nil && len(*in.Tools) == 0:
		return r, &invalid{code: "empty_array", message: "Invalid 'tools': empty array. Expected an array with minimum length 1.", param: "tools"}
	}
	r.Model, r.Stream, r.StreamOptions = *in.Model, in.Stream, in.StreamOptions
	if in.Tools != nil {
		for i, t := range *in.Tools {
			param := fmt.Sprintf("tools[%d].function", i)
			if t.Type != "function" || !functionName.MatchString(t.Function.Name) {
				return r, &invalid{code: "invalid_value", message: fmt.Sprintf("Invalid '%s.name': string does not match pattern '^[a-zA-Z0-9_-]+$'.", param), param: param + ".name"}
			}
			if bad := checkSchema(t.Function.Name, t.Function.Parameters); bad != nil {
				bad.param = param + ".parameters"
				return r, bad
			}
			r.Tools = append(r.Tools, Tool{t.Function.Name, t.Function.Description, t.Function.Parameters})
		}
	}
	for i, m := range *in.Messages {
		out := Message{Role: m.Role, ToolCallID: m.ToolCallID}
		param := fmt.Sprintf("messages[%d]", i)
		if !slices.Contains([]string{"system", "developer", "user", "assistant", "tool"}, m.Role) {
			return r, &invalid{code: "invalid_value", message: fmt.Sprintf("Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.", m.Role), param: param + ".role"}
		}
		for j, c := range m.ToolCalls {
			at := fmt.Sprintf("%s.tool_calls[%d]", param, j)
			switch {
			case m.Role != "assistant", c.ID == "", len(c.ID) > 40, c.Type != "function", c.Function.Arguments == nil:
				return r, &invalid{code: "invalid_value", message: "Invalid '" + at + "'.", param: at}
			case !functionName.MatchString(c.Function.Name):
				return r, &invalid{code: "invalid_value", message: fmt.Sprintf("Invalid '%s.function.name': string does not match pattern '^[a-zA-Z0-9_-]+$'.", at), param: at}
			case !json.Valid([]byte(*c.Function.Arguments)): // vLLM and llama.cpp parse them
				return r, &invalid{message: "Failed to parse tool call arguments as JSON", param: at}
			}
			out.ToolCalls = append(out.ToolCalls, Call{c.ID, c.Function.Name, *c.Function.Arguments})
		}
		content, ok := text(m.Content)
		if !ok && (m.Role != "assistant" || len(m.ToolCalls) == 0) {
			return r, &invalid{code: "invalid_type", message: fmt.Sprintf("Invalid type for '%s.content': expected one of a string or array of objects.", param), param: param + ".content"}
		}
		out.Content = content
		r.Messages = append(r.Messages, out)
	}
	return r, checkOrder(r.Messages)
}

// checkSchema accepts an absent schema or one of type object.
func checkSchema(name string, schema json.RawMessage) *invalid {
	var s struct {
		Type       string                     `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if len(schema) == 0 {
		return nil
	}
	if err := json.Unmarshal(schema, &s); err != nil || s.Type != "object" {
		return &invalid{code: "invalid_function_parameters", message: fmt.Sprintf("Invalid schema for function '%s': schema must be a JSON Schema of 'type: \"object\"', got 'type: \"%s\"'.", name, s.Type)}
	}
	for _, required := range s.Required {
		if _, ok := s.Properties[required]; !ok {
			return &invalid{code: "invalid_function_parameters", message: fmt.Sprintf("Invalid schema for function '%s': '%s' is required and not a property.", name, required)}
		}
	}
	return nil
}

// text reads a content: a string, or an array of text parts.
func text(raw json.RawMessage) (string, bool) {
	var s string
	if len(raw) == 0 || string(raw) == "null" {
		return "", false
	}
	if json.Unmarshal(raw, &s) == nil {
		return s, true
	}
	var parts []struct{ Type, Text string }
	if json.Unmarshal(raw, &parts) != nil {
		return "", false
	}
	for _, p := range parts {
		s += p.Text
	}
	return s, true
}

// checkOrder holds tool messages to the calls they answer.
func checkOrder(messages []Message) *invalid {
	var open []string
	for i, m := range messages {
		if m.Role == "tool" {
			at := slices.Index(open, m.ToolCallID)
			if at < 0 {
				return &invalid{message: "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.", param: fmt.Sprintf("messages[%d].role", i)}
			}
			open = slices.Delete(open, at, at+1)
			continue
		}
		if len(open) > 0 {
			break
		}
		for _, c := range m.ToolCalls {
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		return &invalid{message: "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: " + strings.Join(open, ", "), param: "messages"}
	}
	return nil
}
