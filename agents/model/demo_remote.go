package model

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// What a system prompt says of tasks of remote agents that are over or wait, around their names.
const (
	RemoteNews    = "News of remote tasks: "
	RemoteNewsEnd = " check_remote tells what came of each. Tell the user."
)

var (
	// remoteForm is "ask remote-net to …": a task for an agent of another service.
	remoteForm = regexp.MustCompile(`(?is)^(?:please )?(ask|start) (?:the )?(?:agent )?(remote-[a-z0-9-]+?)(?::| to) (.+)$`)
	// remoteTask is the id of such a task: the name of the remote and a word.
	remoteTask = regexp.MustCompile(`\b[a-z0-9][a-z0-9-]*-[a-z2-7]{8}\b`)
	// tellForm is "tell net-1a2b3c4d to …": more for a task.
	tellForm = regexp.MustCompile(`(?is)^(?:please )?tell (\S+-[a-z2-7]{8})(?::| to) (.+)$`)
	// taskLine begins what the tools of remote agents return.
	taskLine = regexp.MustCompile(`(?m)^task (\S+) of (remote-\S+): ([a-z]+)$`)
)

// demoRemote is the next message of a question about remote agents: ask, check until it is done, and have a
// person answer what the remote waits for. It is not ok when the question is about something else.
func demoRemote(req Request, q question, messages []Message) (m Message, ok bool) {
	if !slices.ContainsFunc(req.Tools, func(t ToolSpec) bool { return t.Name == "start_remote" }) {
		return m, false
	}
	call := func(tool, arguments string) (Message, bool) {
		return Message{Role: RoleAssistant, ToolCalls: []ToolCall{{ID: fmt.Sprintf("call_%s_remote_%d", req.Agent, len(messages)), Name: tool, Arguments: arguments}}}, true
	}
	id := remoteTask.FindString(q.text)
	last, lastCall, result := lastResult(messages)
	if !last {
		first, rest := remoteForm.FindStringSubmatch(q.text), tellForm.FindStringSubmatch(q.text)
		switch {
		case first != nil:
			return call("start_remote", object("agent", strings.ToLower(first[2]), "text", strings.TrimSpace(first[3])))
		case rest != nil:
			return call("update_remote", object("task", rest[1], "text", strings.TrimSpace(rest[2])))
		case id != "" && q.has("cancel", "stop"):
			return call("cancel_remote", object("task", id))
		case id != "" && q.has("check", "how"):
			return call("check_remote", object("task", id))
		case q.has("remote") && q.has("tasks", "task", "agents"):
			return call("list_remote", "{}")
		}
		return m, false
	}
	result.Content = strings.ReplaceAll(result.Content, strings.TrimSpace(demoNote), "") // it may be a demo model, too
	if result.Status != "" && result.Status != "success" {
		return demoSays(failed(lastCall, result) + demoNote), true
	}
	found := taskLine.FindStringSubmatch(result.Content)
	switch {
	case found == nil, lastCall.Name == "cancel_remote":
		return demoSays(strings.TrimSpace(result.Content) + demoNote), true
	case found[3] == "interrupted":
		return call("answer_remote", object("task", found[1]))
	case found[3] == "running" || found[3] == "starting":
		if !strings.Contains(q.lower, "ask ") || checks(messages) >= 3 {
			return demoSays("The task " + found[1] + " of " + found[2] + " is at work. \"check " + found[1] + "\" tells how it stands." + demoNote), true
		}
		return call("check_remote", fmt.Sprintf(`{"task":%q,"wait":30}`, found[1]))
	}
	text := strings.TrimSpace(result.Content[strings.Index(result.Content, "\n")+1:])
	return demoSays(found[2] + " (" + found[1] + ", " + found[3] + "): " + text + demoNote), true
}

// lastResult is the last call with its result.
func lastResult(messages []Message) (ok bool, c ToolCall, result Message) {
	for _, m := range slices.Backward(messages) {
		switch {
		case m.Role == RoleTool && !ok:
			ok, result = true, m
		case ok && m.Role == RoleAssistant:
			for _, c := range m.ToolCalls {
				if c.ID == result.ToolCallID {
					return true, c, result
				}
			}
		}
	}
	return false, c, result
}

// checks counts how often a task was looked at.
func checks(messages []Message) (n int) {
	for _, m := range messages {
		for _, c := range m.ToolCalls {
			if c.Name == "check_remote" && json.Valid([]byte(c.Arguments)) {
				n++
			}
		}
	}
	return n
}

// demoNews adds to an answer what the system prompt says of remote tasks.
func demoNews(system string, m *Message) {
	_, news, ok := strings.Cut(system, RemoteNews)
	if !ok || len(m.ToolCalls) > 0 {
		return
	}
	news, _, _ = strings.Cut(news, RemoteNewsEnd)
	m.Content = strings.TrimSuffix(m.Content, demoNote) + "\n\n" + RemoteNews + news + demoNote
}
