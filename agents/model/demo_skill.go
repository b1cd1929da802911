package model

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The forms of questions about skills: "use skill log-summary", "use skill log-summary: summary with
// path=app.log top=3", "read skill log-summary", "read references/formats.md of skill log-summary".
var (
	useSkillForm  = regexp.MustCompile(`(?is)^(?:please )?use (?:the )?skill ([a-z][a-z0-9-]*)(?::? ([a-z][a-z0-9_]*?))?(?: with (.+?))?[.!?]?$`)
	readSkillForm = regexp.MustCompile(`(?is)^(?:please )?(?:read|show) (?:(?:the )?(?:file )?(\S+) of )?(?:the )?skill ([a-z][a-z0-9-]*)[.!?]?$`)
)

// skillQuestion is what a question asks of a skill.
type skillQuestion struct {
	name, file string
	use        bool   // not only to be read
	tool       string // empty: the only one
	with       string // NAME=VALUE…, the arguments
}

func (q question) skill() (s skillQuestion, ok bool) {
	if m := useSkillForm.FindStringSubmatch(q.text); m != nil {
		return skillQuestion{name: strings.ToLower(m[1]), use: true, tool: m[2], with: m[3]}, true
	}
	if m := readSkillForm.FindStringSubmatch(q.text); m != nil {
		return skillQuestion{name: strings.ToLower(m[2]), file: m[1]}, true
	}
	return s, false
}

// demoSkill reads a skill, calls its tool if it is to be used, and tells what that printed. An agent without
// skills hands the question to the one that has it. The messages are those after the question.
func demoSkill(req Request, q question, s skillQuestion, messages []Message) Message {
	last := -1 // the turn that was answered last
	for i, m := range messages {
		if m.Role == RoleAssistant && len(m.ToolCalls) > 0 {
			last = i
		}
	}
	call := func(tool, arguments string) Message {
		return Message{Role: RoleAssistant, ToolCalls: []ToolCall{{ID: fmt.Sprintf("call_%s_skill_%d", req.Agent, len(messages)), Name: tool, Arguments: arguments}}}
	}
	if last >= 0 {
		done := messages[last:]
		if done[0].ToolCalls[0].Name == "read_skill" && s.use && done[len(done)-1].Status == "success" {
			if tool, ok := skillTool(req, s); ok {
				return call(tool.Name, skillArguments(tool, s.with))
			}
		}
		return demoSays(demoAnswer(q, nil, done))
	}
	if slices.ContainsFunc(req.Tools, func(t ToolSpec) bool { return t.Name == "read_skill" }) {
		if s.file != "" {
			return call("read_skill", object("name", s.name, "file", s.file))
		}
		return call("read_skill", object("name", s.name))
	}
	if agent := agentWithSkill(req, s.name); agent != "" {
		return call("delegate", object("agent", agent, "task", q.text))
	}
	return demoSays("I am the demo model. Neither the agent " + req.Agent + " nor one that it may ask has the skill " + s.name + "." + demoNote)
}

// skillTool is the tool of a skill that a question asks for, or its only one.
func skillTool(req Request, s skillQuestion) (found ToolSpec, ok bool) {
	n := 0
	for _, t := range req.Tools {
		_, name, of := strings.Cut(t.Name, "__")
		if !of || !strings.HasPrefix(t.Name, s.name+"__") || s.tool != "" && name != s.tool {
			continue
		}
		found = t
		n++
	}
	return found, n == 1
}

// skillArguments makes the arguments of a call of what a question says. What the schema wants no text for is
// written as it is.
func skillArguments(t ToolSpec, with string) string {
	var schema struct {
		Properties map[string]struct{ Type string }
	}
	_ = json.Unmarshal(t.Parameters, &schema) // without it, all is text
	args := map[string]any{}
	for _, pair := range strings.FieldsFunc(with, func(r rune) bool { return r == ' ' || r == ',' }) {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			continue
		}
		args[name] = value
		if kind := schema.Properties[name].Type; kind != "" && kind != "string" && json.Valid([]byte(value)) {
			args[name] = json.RawMessage(value)
		}
	}
	text, err := json.Marshal(args)
	if err != nil { // texts and valid JSON always encode
		return "{}"
	}
	return string(text)
}

// agentWithSkill is the sub-agent with a skill, as the tool delegate describes it.
func agentWithSkill(req Request, name string) string {
	i := slices.IndexFunc(req.Tools, func(t ToolSpec) bool { return t.Name == "delegate" })
	if i < 0 {
		return ""
	}
	for line := range strings.Lines(req.Tools[i].Description) {
		agent, what, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if _, skills, ok := strings.Cut(what, "; its skills: "); ok && slices.Contains(strings.Split(skills, ", "), name) {
			return agent
		}
	}
	return ""
}
