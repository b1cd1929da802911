// Package shown is what readers see of what runs hold: the same, without credentials.
//
// All of it is pure and safe for concurrent use.
package shown

import (
	"encoding/json"

	"github.com/svc-gateway/svc/agents/model"
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

// Message is a message as readers see it.
func Message(secrets *redact.Secrets, m model.Message) model.Message {
	m.Content, m.Name = secrets.Redact(m.Content), secrets.Redact(m.Name)
	calls := m.ToolCalls
	m.ToolCalls = nil
	for _, c := range calls {
		c.Name = secrets.Redact(c.Name)
		if json.Valid([]byte(c.Arguments)) {
			c.Arguments = string(secrets.RedactJSON([]byte(c.Arguments)))
		} else {
			c.Arguments = secrets.Redact(c.Arguments)
		}
		m.ToolCalls = append(m.ToolCalls, c)
	}
	return m
}
