package model

import (
	"strings"
	"testing"
)

// TestDemoSkills uses a skill: it is read, its tool is called, and what that printed is told.
func TestDemoSkills(t *testing.T) {
	req := func(messages ...Message) Request {
		return Request{Agent: "core", Messages: messages, Tools: []ToolSpec{
			{Name: "read_skill"},
			{Name: "logs__summary", Parameters: []byte(`{"properties":{"path":{"type":"string"},"top":{"type":"integer"}}}`)},
			{Name: "logs-more__summary"},
			{Name: "two__a"},
			{Name: "two__b"},
		}}
	}
	result := func(m Message, text string) Message {
		return Message{Role: RoleTool, ToolCallID: m.ToolCalls[0].ID, Name: m.ToolCalls[0].Name, Status: "success", Content: text}
	}
	for _, tc := range []struct {
		question, read, call string // call: empty when the instruction is all
	}{
		{"use skill logs", `{"name":"logs"}`, `logs__summary {}`},
		{"Please use the skill logs: summary with path=a.log, top=3.", `{"name":"logs"}`, `logs__summary {"path":"a.log","top":3}`},
		{"use skill logs with path=3 top=x", `{"name":"logs"}`, `logs__summary {"path":"3","top":"x"}`},
		{"use skill two: b", `{"name":"two"}`, `two__b {}`},
		{"use skill two", `{"name":"two"}`, ""},
		{"use skill logs: other", `{"name":"logs"}`, ""},
		{"read skill logs", `{"name":"logs"}`, ""},
		{"read refs/a.md of the skill logs", `{"name":"logs","file":"refs/a.md"}`, ""},
	} {
		messages := []Message{user(tc.question), turn(t, req(user(tc.question)))}
		if c := messages[1].ToolCalls; len(c) != 1 || c[0].Name != "read_skill" || c[0].Arguments != tc.read {
			t.Errorf("%s: got %+v, want %s", tc.question, c, tc.read)
			continue
		}
		messages = append(messages, result(messages[1], "the instruction"))
		m := turn(t, req(messages...))
		if tc.call == "" {
			if !strings.Contains(m.Content, "the instruction") {
				t.Errorf("%s: got %+v", tc.question, m)
			}
			continue
		}
		if c := m.ToolCalls; len(c) != 1 || c[0].Name+" "+c[0].Arguments != tc.call {
			t.Errorf("%s: got %+v, want %s", tc.question, c, tc.call)
			continue
		}
		messages = append(messages, m, result(m, "the output"))
		if m := turn(t, req(messages...)); !strings.Contains(m.Content, "the output") || strings.Contains(m.Content, "the instruction") {
			t.Errorf("%s: got %q", tc.question, m.Content)
		}
	}
}

// An agent without the skill hands the question to the one that has it.
func TestDemoFindsSkills(t *testing.T) {
	r := Request{Agent: "svc-orchestrator", Messages: []Message{user("use skill logs")}, Tools: []ToolSpec{{
		Name: "delegate", Description: "Hands a task to a sub-agent and returns its answer.\ncore: operations; its skills: more, logs\nconfig: files",
	}}}
	if m := turn(t, r); len(m.ToolCalls) != 1 || m.ToolCalls[0].Arguments != `{"agent":"core","task":"use skill logs"}` {
		t.Errorf("got %+v", m)
	}
	r.Messages[0] = user("use skill log")
	if m := turn(t, r); !strings.Contains(m.Content, "nor one that it may ask has the skill log.") {
		t.Errorf("got %+v", m)
	}
}
