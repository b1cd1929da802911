package model

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/agents/todo"
)

var (
	// planForm is "plan: first; second": a job in steps, each of which is a question.
	planForm = regexp.MustCompile(`(?is)^(?:please )?(?:plan|make a plan|step by step):\s*(.+)$`)
	// askForm is "ask config to …": a task for one agent.
	askForm = regexp.MustCompile(`(?is)^(?:please )?ask (?:the )?(?:agent )?([a-z][a-z0-9-]*?)(?: agent)?(?::| to) (.+)$`)
)

// steps are those of a question that is a plan.
func (q question) steps() []string {
	m := planForm.FindStringSubmatch(q.text)
	if m == nil {
		return nil
	}
	var steps []string
	for step := range strings.SplitSeq(m[1], ";") {
		if step = strings.Join(strings.Fields(strings.Trim(step, " .")), " "); step != "" {
			steps = append(steps, shorten(step, todo.MaxContent/2))
		}
	}
	return steps[:min(len(steps), todo.MaxItems)]
}

// asks is the call that hands a task to the agent that the question names; nil if it names none.
func (q question) asks() *topic {
	m := askForm.FindStringSubmatch(q.text)
	if m == nil {
		return nil
	}
	arguments := object("agent", strings.ToLower(m[1]), "task", strings.TrimSpace(m[2]))
	return &topic{"svc-orchestrator", "delegate", nil, func(question) string { return arguments }, tellOutput}
}

// demoPlan works on a plan: in each turn it writes how far it is and takes the next step. The messages are
// those after the question.
func demoPlan(req Request, steps []string, messages []Message) Message {
	var turns []Message
	results := map[string]Message{}
	for _, m := range messages {
		switch m.Role {
		case RoleAssistant:
			turns = append(turns, m)
		case RoleTool:
			results[m.ToolCallID] = m
		}
	}
	if at := len(turns); at <= len(steps) {
		m := Message{Role: RoleAssistant, ToolCalls: []ToolCall{{ID: fmt.Sprintf("call_%s_plan_%d", req.Agent, at), Name: todo.Tool, Arguments: planAt(steps, at)}}}
		if at < len(steps) {
			q := ask(steps[at])
			m.ToolCalls = append(m.ToolCalls, demoCalls(req, q, q.topics())...)
		}
		return m
	}
	var parts []string
	for i, step := range steps {
		q := ask(step)
		list := []Message{{Role: RoleAssistant, ToolCalls: slices.DeleteFunc(slices.Clone(turns[i].ToolCalls), func(c ToolCall) bool { return c.Name == todo.Tool })}}
		for _, c := range turns[i].ToolCalls {
			if r, ok := results[c.ID]; ok {
				list = append(list, r)
			}
		}
		text := strings.TrimSuffix(demoAnswer(q, q.topics(), list), demoNote)
		if text == "" {
			text = "I did not understand this step."
		}
		parts = append(parts, fmt.Sprintf("%d. %s\n%s", i+1, step, text))
	}
	return demoSays(strings.Join(parts, "\n\n") + demoNote)
}

// planAt is the plan while the step at a place is worked on.
func planAt(steps []string, at int) string {
	items := make([]todo.Item, len(steps))
	for i, step := range steps {
		items[i] = todo.Item{Content: step, Status: todo.Pending}
		switch {
		case i < at:
			items[i].Status = todo.Completed
		case i == at:
			items[i].Status = todo.InProgress
		}
	}
	arguments, err := json.Marshal(map[string]any{todo.Key: items})
	if err != nil { // strings always encode
		return "{}"
	}
	return string(arguments)
}

// demoSummary is the summary of a transcript: what the user asked, and which tools were called.
func demoSummary(transcript string) Message {
	var asked, called []string
	n := 0
	for line := range strings.Lines(transcript) {
		var e struct {
			Role, Content, Tool string
		}
		if json.Unmarshal([]byte(line), &e) != nil {
			continue
		}
		n++
		switch {
		case e.Role == "summary":
			asked = append(asked, shorten(e.Content, 1000))
		case e.Role == RoleUser:
			asked = append(asked, "The user asked: "+shorten(e.Content, 200))
		case e.Role == RoleTool && !slices.Contains(called, e.Tool):
			called = append(called, e.Tool)
		}
	}
	text := fmt.Sprintf("%s went before.", count(n, "message", "messages"))
	if len(asked) > 0 {
		text += "\n" + strings.Join(asked, "\n")
	}
	if len(called) > 0 {
		text += "\nThese tools were called: " + strings.Join(called, ", ") + "."
	}
	return demoSays(text)
}
