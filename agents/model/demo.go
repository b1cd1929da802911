package model

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/svc-gateway/svc/agents/todo"
)

// DemoHelp is the demo model's whole grammar, for people.
const DemoHelp = `I understand questions with these words, several in one question if you like:
- disks: disk, filesystem, storage, full, df ("How full are the disks on this host?")
- memory: memory, RAM, swap ("and the memory?")
- processes: process, programs, CPU ("Which processes use the most memory?")
- uptime: uptime, load, reboot ("How long has this host been up?")
- addresses: IP, address, interface ("Which addresses does this host have?")
- listening ports: port, listening, socket ("Which ports are listening?")
- the host: kernel, operating system, cores, date
- files: "list the files in docs", "show README.md"
- the audit log: "what was denied?", "the last tool calls", "how many tool calls?", tokens, logins
- changes: "delete the folder build/", "reload nginx", "restart ssh", several joined by "and" or by
  "and then"; a person approves them first
- programs: "run python: print(6*7)", "run bash: echo hello"
- writing: "write 'hello' to notes.txt", "replace 'hello' by 'bye' in notes.txt"
- web servers that are listed: "fetch https://example.org/status", "head https://example.org/status",
  "post '{"a": 1}' to https://example.org/items", "put …", "patch …", "delete https://example.org/items/1"
- imported tables: "which tables are there?", "how many rows in table sales?"
- network devices: "import inventory devices.yaml", "which devices are there?", "run show version on edge1",
  "show ip interface brief on group core", "set ntp server 10.0.0.9 on edge1"
- other agents: "ask config to show app.conf", "ask sync to fetch https://example.org/status"
- earlier conversations: "remember that backups run at 02:00", "my editor is vim", "what do you remember?", "forget my editor"
- agents of other services: "ask remote-net to show the disks", "start remote-net to …", "check net-1a2b3c4d",
  "tell net-1a2b3c4d to …", "cancel net-1a2b3c4d", "which remote tasks are there?"
- skills: "use skill log-summary: summary with path=app.log", "read skill log-summary"
- plans: "plan: how full are the disks?; and the memory?", a step after the other
- run COMMAND, SELECT … and sql: …: exactly this command, this audit query or this query of the imported tables
- "say: …": answers with just these words, or with none
- "tell me about yourself"`

const (
	demoName = "demo"
	demoNote = "\n\n(answered by the built-in demo model)"

	demoAbout = "I am the demo model that is built into this service. I am not a language model: I know a small fixed grammar, " +
		"make real tool calls through the same checks as every other model, and put what the tools return into sentences. " +
		"Set model.provider to openai to use a language model instead.\n\n" + DemoHelp
	demoLost = "I am the demo model and did not understand that; I know a small fixed grammar only.\n\n" + DemoHelp
)

// demo is the embedded default model. A turn is a pure function of the request:
//
//  1. The question is the last message of the user. Its words select topics (see
//     DemoHelp and topics); nothing else of the conversation matters, so that "and
//     the memory?" works.
//  2. With no results yet, each topic becomes a call of its tool if the agent has
//     it; otherwise, for an agent with the tool delegate, the question goes to the
//     topics' agents. All calls are made in one turn.
//  3. With results, each becomes sentences with the figures that the tool returned,
//     or the reason why there are none.
type demo struct{}

// NewDemo returns the demo model. It is deterministic, needs nothing and takes
// microseconds.
func NewDemo() Model { return demo{} }

// Name returns demo.
func (demo) Name() string { return demoName }

// Turn implements [Model].
func (demo) Turn(ctx context.Context, req Request, delta func(string)) (Response, error) {
	if err := context.Cause(ctx); err != nil {
		return Response{}, fmt.Errorf("asking the model: %w: %w", ctx.Err(), err)
	}
	m := demoTurn(req)
	demoNews(req.System, &m)
	if delta != nil {
		for rest := m.Content; rest != ""; {
			n := pieceLength(rest)
			delta(rest[:n])
			rest = rest[n:]
		}
	}
	return Response{Message: m, Usage: EstimateUsage(req, messageSize(m)), Model: demoName}, nil
}

func demoTurn(req Request) Message {
	last := len(req.Messages) - 1
	for last >= 0 && req.Messages[last].Role != RoleUser {
		last--
	}
	if last < 0 {
		return demoSays(demoLost)
	}
	switch req.System {
	case SummarySystem:
		return demoSummary(req.Messages[last].Content)
	case MemorySystem:
		return demoPick(req.Messages[last].Content)
	}
	q := ask(req.Messages[last].Content)
	if m, ok := demoMemory(req, q, req.Messages[last+1:]); ok {
		return m
	}
	if m, ok := demoRemote(req, q, req.Messages[last+1:]); ok {
		return m
	}
	if steps := q.steps(); len(steps) > 0 && slices.ContainsFunc(req.Tools, func(t ToolSpec) bool { return t.Name == todo.Tool }) {
		return demoPlan(req, steps, req.Messages[last+1:])
	}
	if words, ok := q.says(); ok {
		return demoSays(words)
	}
	if s, ok := q.skill(); ok {
		return demoSkill(req, q, s, req.Messages[last+1:])
	}
	found := q.topics()
	if t := q.echoes(); t != nil && slices.ContainsFunc(req.Tools, func(s ToolSpec) bool { return s.Name == t.tool }) {
		found = []*topic{t}
	}
	if answers := req.Messages[last+1:]; len(answers) > 0 {
		if tool, args, ok := q.second(answers); ok {
			again := &topic{tool: tool, call: func(question) string { return args }}
			return Message{Role: RoleAssistant, ToolCalls: demoCalls(req, q, []*topic{again})}
		}
		if text := demoAnswer(q, found, answers); text != "" {
			return demoSays(text)
		}
	}
	switch {
	case len(found) == 0 && q.about():
		return demoSays(demoAbout)
	case len(found) == 0:
		return demoSays(demoLost)
	}
	if calls := demoCalls(req, q, found); len(calls) > 0 {
		return Message{Role: RoleAssistant, ToolCalls: calls}
	}
	return demoSays("I am the demo model. That question needs the tool " + found[0].tool + ", which the agent " + req.Agent + " does not have; the agent " + found[0].agent + " has it, and svc-orchestrator finds it by itself.")
}

func demoSays(text string) Message { return Message{Role: RoleAssistant, Content: text} }

// demoCalls turns topics into the calls that the agent can make.
func demoCalls(req Request, q question, found []*topic) []ToolCall {
	tools := map[string]bool{}
	for _, t := range req.Tools {
		tools[t.Name] = true
	}
	made := 1
	for _, m := range req.Messages {
		made += len(m.ToolCalls)
	}
	var calls []ToolCall
	add := func(tool, arguments string) {
		calls = append(calls, ToolCall{ID: fmt.Sprintf("call_%s_%d", req.Agent, made+len(calls)), Name: tool, Arguments: arguments})
	}
	asked := map[string]bool{}
	for _, t := range found {
		switch {
		case tools[t.tool]:
			add(t.tool, t.call(q))
		case tools["delegate"] && !asked[t.agent]:
			asked[t.agent] = true
			add("delegate", object("agent", t.agent, "task", q.text))
		}
	}
	return calls
}

// pieceLength is the length of the next piece of a streamed answer: some words.
func pieceLength(s string) int {
	const least = 24
	if len(s) <= least {
		return len(s)
	}
	if i := strings.IndexAny(s[least:], " \n"); i >= 0 {
		return least + i + 1
	}
	return len(s)
}

// shorten cuts a text for an answer.
func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}
