package langgraph

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/agents/model"
)

// change is what an input, an update of the state or a command does to the state.
type change struct {
	Remove    []string
	RemoveAll bool
	Messages  []model.Message
	Values    map[string]any
}

// removeAll is the id of a removal of all messages.
const removeAll = "__remove_all__"

const maxMessages = 4096

// readChange reads values that are to be written into the state. where is how messages to the client name
// them.
func readChange(doc json.RawMessage, where string) (change, error) {
	var c change
	if isNull(doc) {
		return c, nil
	}
	members := object(doc)
	if members == nil {
		return c, rest.Invalid(where + ": must be of type object, got " + kindOf(doc))
	}
	for name, value := range members {
		if name == channelMessages {
			if err := c.readMessages(value, where+".messages"); err != nil {
				return c, err
			}
			continue
		}
		var v any
		if err := json.Unmarshal(value, &v); err != nil {
			return c, rest.Invalid(where + "." + name + ": is no JSON")
		}
		if c.Values == nil {
			c.Values = map[string]any{}
		}
		c.Values[name] = v
	}
	return c, nil
}

// readMessages reads one message or several.
func (c *change) readMessages(doc json.RawMessage, where string) error {
	var list []json.RawMessage
	switch kindOf(doc) {
	case "array":
		if err := json.Unmarshal(doc, &list); err != nil {
			return rest.Invalid(where + ": is no JSON")
		}
	case "object", "string":
		list = []json.RawMessage{doc}
	case "null":
		return nil
	default:
		return rest.Invalid(where + ": must be of type array, got " + kindOf(doc))
	}
	if len(list) > maxMessages {
		return rest.Invalid(fmt.Sprintf("%s: must not have more than %d messages", where, maxMessages))
	}
	for i, doc := range list {
		if err := c.readMessage(doc, fmt.Sprintf("%s[%d]", where, i)); err != nil {
			return err
		}
	}
	return nil
}

// roles are the model's words for the words of clients.
var roles = map[string]string{
	"user": model.RoleUser, typeHuman: model.RoleUser, "HumanMessage": model.RoleUser, "HumanMessageChunk": model.RoleUser,
	"assistant": model.RoleAssistant, typeAI: model.RoleAssistant, "AIMessage": model.RoleAssistant, "AIMessageChunk": model.RoleAssistant,
	typeTool: model.RoleTool, "ToolMessage": model.RoleTool,
}

// incoming is a message as clients send it.
type incoming struct {
	Role       string          `json:"role"`
	Type       string          `json:"type"`
	ID         json.RawMessage `json:"id"`
	Content    json.RawMessage `json:"content"`
	Name       string          `json:"name"`
	ToolCallID string          `json:"tool_call_id"`
	Status     string          `json:"status"`
	ToolCalls  []struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"tool_calls"`
}

func (c *change) readMessage(doc json.RawMessage, where string) error {
	var in incoming
	switch kindOf(doc) {
	case "string": // somebody's words
		in.Role, in.Content = "user", doc
	case "array": // ["human", "hello"]
		var pair []json.RawMessage
		if json.Unmarshal(doc, &pair) != nil || len(pair) != 2 || json.Unmarshal(pair[0], &in.Role) != nil {
			return rest.Invalid(where + ": must be a message, or a pair of a role and a text")
		}
		in.Content = pair[1]
	case "object":
		if err := json.Unmarshal(unwrapped(doc), &in); err != nil {
			return rest.Invalid(where + ": " + wrongType(err))
		}
	default:
		return rest.Invalid(where + ": must be of type object, got " + kindOf(doc))
	}
	word, field := in.Type, "type"
	if word == "" {
		word, field = in.Role, "role"
	}
	id, err := messageID(in.ID, where)
	if err != nil {
		return err
	}
	switch word {
	case "remove", "RemoveMessage":
		switch id {
		case "":
			return rest.Invalid(where + ".id: is missing; a removal names its message, or " + removeAll)
		case removeAll:
			*c = change{RemoveAll: true, Values: c.Values} // what was said before it in this list goes too
		default:
			c.Remove = append(c.Remove, id)
		}
		return nil
	case "":
		return rest.Invalid(where + ".type: is missing")
	}
	role, ok := roles[word]
	if !ok {
		return rest.Invalid(where + "." + field + ": must be one of human, ai, tool, remove; the agents have instructions of their own")
	}
	m := model.Message{ID: id, Role: role}
	if m.Content, err = text(in.Content, where+".content"); err != nil {
		return err
	}
	switch role {
	case model.RoleUser:
		if m.Content == "" {
			return rest.Invalid(where + ".content: must not be empty")
		}
	case model.RoleTool:
		if in.ToolCallID == "" {
			return rest.Invalid(where + ".tool_call_id: is missing")
		}
		m.ToolCallID, m.Name, m.Status = in.ToolCallID, in.Name, in.Status
	case model.RoleAssistant:
		for i, call := range in.ToolCalls {
			if call.ID == "" || call.Name == "" {
				return rest.Invalid(fmt.Sprintf("%s.tool_calls[%d]: needs an id and a name", where, i))
			}
			args := string(call.Args)
			if isNull(call.Args) {
				args = "{}"
			}
			m.ToolCalls = append(m.ToolCalls, model.ToolCall{ID: call.ID, Name: call.Name, Arguments: args})
		}
	}
	c.Messages = append(c.Messages, m)
	return nil
}

// unwrapped is a message that may have come as a serialised object of the library: {"lc": 1, "type":
// "constructor", "id": ["langchain_core", "messages", "HumanMessage"], "kwargs": {…}}.
func unwrapped(doc json.RawMessage) json.RawMessage {
	members := object(doc)
	if members["lc"] == nil || members["kwargs"] == nil {
		return doc
	}
	var path []string
	inner := object(members["kwargs"])
	if json.Unmarshal(members["id"], &path) != nil || len(path) == 0 || inner == nil {
		return doc
	}
	inner["type"] = encode(path[len(path)-1])
	return encode(inner)
}

func messageID(doc json.RawMessage, where string) (string, error) {
	var id string
	if isNull(doc) {
		return "", nil
	}
	if json.Unmarshal(doc, &id) != nil {
		return "", rest.Invalid(where + ".id: must be of type string, got " + kindOf(doc))
	}
	if len(id) > 200 {
		return "", rest.Invalid(where + ".id: must not be longer than 200 bytes")
	}
	return id, nil
}

// text is a content: a text, or blocks of text.
func text(doc json.RawMessage, where string) (string, error) {
	switch kindOf(doc) {
	case "null":
		return "", nil
	case "string":
		var s string
		err := json.Unmarshal(doc, &s)
		return s, err
	case "array":
	default:
		return "", rest.Invalid(where + ": must be of type string or array, got " + kindOf(doc))
	}
	var blocks []json.RawMessage
	if err := json.Unmarshal(doc, &blocks); err != nil {
		return "", rest.Invalid(where + ": is no JSON")
	}
	var b strings.Builder
	for i, doc := range blocks {
		at := fmt.Sprintf("%s[%d]", where, i)
		if kindOf(doc) == "string" {
			s, err := text(doc, at)
			if err != nil {
				return "", err
			}
			b.WriteString(s)
			continue
		}
		var block struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		if err := json.Unmarshal(doc, &block); err != nil {
			return "", rest.Invalid(at + ": " + wrongType(err))
		}
		switch block.Type {
		case "text":
			b.WriteString(block.Text)
		case "tool_call", "tool_use": // the message has them beside its content
		default:
			return "", rest.Invalid(at + ".type: must be text; the agents read nothing else")
		}
	}
	return b.String(), nil
}

// oneOrSeveral are the names in a document that is one or an array of them; none for null. It reports false
// for anything else.
func oneOrSeveral(doc json.RawMessage) (names []string, ok bool) {
	var one string
	switch {
	case isNull(doc):
		return nil, true
	case json.Unmarshal(doc, &one) == nil:
		return []string{one}, true
	}
	return names, json.Unmarshal(doc, &names) == nil
}

func isNull(doc json.RawMessage) bool { return len(doc) == 0 || string(doc) == "null" }

// kindOf is the type of a JSON value as JSON Schema names it.
func kindOf(doc json.RawMessage) string {
	if isNull(doc) {
		return "null"
	}
	switch doc[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	}
	return "number"
}

// wrongType is an error of encoding/json without Go's words.
func wrongType(err error) string {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Sprintf("%s must not be of type %s", e.Field, e.Value)
	}
	return "does not have the documented form"
}
