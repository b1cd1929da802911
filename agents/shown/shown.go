// Package shown is what readers see of what runs hold: the same, without credentials.
//
// All of it is pure and safe for concurrent use.
package shown

import (
	"encoding/json"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/internal/strictjson"
	"github.com/svc-gateway/svc/scanner/redact"
)

// Messages are messages as readers see them.
func Messages(secrets *redact.Secrets, list []model.Message) []model.Message {
	shown := make([]model.Message, len(list))
	for i, m := range list {
		shown[i] = Message(secrets, m)
	}
	return shown
}

// Values are values as readers see them; nil when there are none, or they are not JSON.
func Values(secrets *redact.Secrets, values map[string]any) map[string]any {
	if len(values) == 0 {
		return nil
	}
	doc, err := json.Marshal(values)
	if err != nil {
		return nil
	}
	var shown map[string]any
	if json.Unmarshal(secrets.RedactJSON(doc), &shown) != nil {
		return nil
	}
	return shown
}

// Arguments are the arguments of a call as records and readers have them. What is nested deeper than any call
// may be that is made is a string with all of it: readers of JSON have limits of their own.
func Arguments(secrets *redact.Secrets, raw string) string {
	doc := []byte(raw)
	switch {
	case strictjson.TooDeep(doc):
		text, err := json.Marshal(secrets.Redact(string(secrets.RedactJSON(doc))))
		if err != nil { // a string always encodes
			return "{}"
		}
		return string(text)
	case json.Valid(doc):
		return string(secrets.RedactJSON(doc))
	}
	return secrets.Redact(raw)
}

// Message is a message as readers see it.
func Message(secrets *redact.Secrets, m model.Message) model.Message {
	m.Content, m.Name = secrets.Redact(m.Content), secrets.Redact(m.Name)
	calls := m.ToolCalls
	m.ToolCalls = nil
	for _, c := range calls {
		c.Name = secrets.Redact(c.Name)
		c.Arguments = Arguments(secrets, c.Arguments)
		m.ToolCalls = append(m.ToolCalls, c)
	}
	return m
}
