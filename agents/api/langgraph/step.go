package langgraph

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/tree"
)

// begin tells that a node starts to work.
func (t *translator) begin(f *frame, node string) {
	f.node = node
	f.started = nil
	task, input := taskID(f.present, node), f.state()
	body := func() any {
		return map[string]any{
			"id": task, "name": node, "input": input, "triggers": triggers(node), "interrupts": []any{}, "metadata": t.shared(),
		}
	}
	t.tell(modeTasks, f, "tasks", body)
	t.also.began(f, body)
	t.debug(f, "task", f.step+1, body)
	t.event(f, "on_chain_start", node, f.tags(), func() any { return map[string]any{"input": input} })
	if node == tree.NodeAgent {
		t.event(f, "on_chat_model_start", f.agent, nil, func() any {
			return map[string]any{"input": map[string]any{"messages": [][]json.RawMessage{f.messages}}}
		})
	}
}

// end tells that a node is done, with the messages that it added, and what comes next.
func (t *translator) end(f *frame, ids []string, added []json.RawMessage, next []string) {
	node, task := f.node, taskID(f.present, f.node)
	partial := map[string]any{channelMessages: added}
	t.event(f, "on_chain_end", node, f.tags(), func() any { return map[string]any{"output": partial} })
	t.tell(modeUpdates, f, "updates", func() any { return map[string]any{node: partial} })
	result := func() any {
		return map[string]any{"id": task, "name": node, "result": partial, "error": nil, "interrupts": []any{}}
	}
	t.tell(modeTasks, f, "tasks", result)
	t.also.ended(f, partial, result)
	t.debug(f, "task_result", f.step+1, result)
	for i, m := range added {
		f.put(ids[i], m)
	}
	f.count += len(added)
	f.seq += len(added)
	t.checkpoint(f, tree.AfterStep, next, f.seq-1)
	t.state(f)
	f.node = ""
	if len(next) > 0 {
		t.begin(f, next[0])
		return
	}
	if f.ns != "" {
		t.event(f, "on_chain_end", graphName, nil, func() any { return map[string]any{"output": f.state()} })
		t.also.closed(f)
	}
}

// speak begins a message of a model.
func (t *translator) speak(f *frame, id string) {
	if f.spoken == id {
		return
	}
	f.spoken, f.text = id, nil
	t.also.speaks(f, id)
	t.tell(modeMessages, f, "messages/metadata", func() any {
		return map[string]any{id: map[string]any{"metadata": t.nodeMetadata(f)}}
	})
}

// chunk tells a piece of a message.
func (t *translator) chunk(f *frame, e eventlog.Event) {
	t.speak(f, e.Message)
	f.text = append(f.text, e.Content...)
	t.also.piece(f, e.Content)
	piece := func(content string) Message {
		return answer(Message{Content: content, AdditionalKwargs: none, ResponseMetadata: none, ID: e.Message}, nil)
	}
	t.tell(modeTuple, f, "messages", func() any { return t.tuple(f, encode(piece(e.Content))) })
	t.tell(modeMessages, f, "messages/partial", func() any { return []Message{piece(string(f.text))} })
	t.event(f, "on_chat_model_stream", f.agent, nil, func() any { return map[string]any{"chunk": piece(e.Content)} })
}

// message tells a message that is complete: the end of the node agent.
func (t *translator) message(f *frame, e eventlog.Event) {
	if f.node == "" {
		t.pickedUp(f, e)
		return
	}
	t.speak(f, e.Message)
	t.also.spoken(f, e)
	whole := wire(model.Message{ID: e.Message, Role: model.RoleAssistant, Content: e.Content, ToolCalls: e.Calls})
	last := whole // what no piece has told yet
	if e.Streamed {
		last.Content = ""
	}
	if u := e.Usage; u != nil {
		last.UsageMetadata = &UsageMetadata{u.PromptTokens, u.CompletionTokens, u.TotalTokens}
	}
	t.tell(modeTuple, f, "messages", func() any { return t.tuple(f, encode(last)) })
	t.event(f, "on_chat_model_stream", f.agent, nil, func() any { return map[string]any{"chunk": last} })
	full := whole
	full.UsageMetadata = last.UsageMetadata
	t.event(f, "on_chat_model_end", f.agent, nil, func() any { return map[string]any{"output": full} })
	added := []json.RawMessage{encode(whole)}
	t.tell(modeMessages, f, "messages/partial", func() any { return added })
	t.tell(modeMessages, f, "messages/complete", func() any { return added })
	next := []string{}
	f.calls, f.results = nil, map[string]json.RawMessage{}
	for _, c := range e.Calls {
		f.calls = append(f.calls, c.ID)
		next = []string{tree.NodeTools}
	}
	t.end(f, []string{e.Message}, added, next)
}

// pickedUp follows a message of an earlier run, whose calls are made now.
func (t *translator) pickedUp(f *frame, e eventlog.Event) {
	f.put(e.Message, encode(wire(model.Message{ID: e.Message, Role: model.RoleAssistant, Content: e.Content, ToolCalls: e.Calls})))
	f.count++
	f.seq++
	f.results = map[string]json.RawMessage{}
	for _, c := range e.Calls {
		if !f.answered[c.ID] {
			f.calls = append(f.calls, c.ID)
		}
	}
	t.checkpoint(f, tree.AfterStep, []string{tree.NodeTools}, f.seq-1)
	t.begin(f, tree.NodeTools)
}

// call tells what the gate says of a call.
func (t *translator) call(f *frame, e eventlog.Event) {
	f.waiting = slices.DeleteFunc(f.waiting, func(w eventlog.Event) bool { return w.Call == e.Call })
	if e.Type == eventlog.Wait {
		f.waiting = append(f.waiting, e)
	}
	t.tell(modeCustom, f, "custom", func() any { return gateNews(e) })
	t.also.called(f, e)
	if e.Type != eventlog.ToolUse || e.Status != string(agents.CallStarted) {
		return
	}
	t.event(f, "on_tool_start", e.Name, f.tags(), func() any { return map[string]any{"input": e.Input} })
	t.tell(modeTools, f, "tools", func() any {
		return map[string]any{"event": "on_tool_start", "toolCallId": e.Call, "name": e.Name, "input": e.Input}
	})
}

// gateNews is what is told of a call beside the graph's own events.
func gateNews(e eventlog.Event) map[string]any {
	news := map[string]any{"type": string(e.Type), "id": e.Call, "name": e.Name}
	for name, value := range map[string]string{"status": e.Status, "code": e.Code, "reason": e.Content, "by": e.By, "where": e.Where, "digest": e.Digest} {
		if value != "" {
			news[name] = value
		}
	}
	if len(e.Input) > 0 {
		news["input"] = e.Input
	}
	return news
}

// result tells the result of a call. The last one ends the node tools.
func (t *translator) result(f *frame, e eventlog.Event) {
	f.waiting = slices.DeleteFunc(f.waiting, func(w eventlog.Event) bool { return w.Call == e.Call })
	m := encode(wire(model.Message{
		ID: agents.ResultID(e.Call), Role: model.RoleTool, Content: e.Content, ToolCallID: e.Call, Name: e.Name, Status: e.Status,
	}))
	t.also.result(f, e, m)
	t.event(f, "on_tool_end", e.Name, f.tags(), func() any { return map[string]any{"output": m} })
	t.tell(modeTools, f, "tools", func() any {
		return map[string]any{"event": "on_tool_end", "toolCallId": e.Call, "name": e.Name, "output": m}
	})
	t.tell(modeTuple, f, "messages", func() any { return t.tuple(f, m) })
	t.tell(modeMessages, f, "messages/complete", func() any { return []json.RawMessage{m} })
	if f.results == nil || !slices.Contains(f.calls, e.Call) {
		return
	}
	f.results[e.Call] = m
	if len(f.results) < len(f.calls) {
		return
	}
	added, ids := make([]json.RawMessage, len(f.calls)), make([]string, len(f.calls))
	for i, call := range f.calls {
		added[i], ids[i] = f.results[call], agents.ResultID(call)
	}
	f.calls = nil
	t.end(f, ids, added, []string{tree.NodeAgent})
}

// event tells what the library's callbacks would.
func (t *translator) event(f *frame, kind, name string, tags []string, data func() any) {
	t.tell(modeEvents, f, "events", func() any {
		run := t.Run
		if name != graphName {
			run = t.named(fmt.Sprintf("%s/%d/%s", f.ns, f.step, name))
		}
		if tags == nil {
			tags = []string{}
		}
		metadata := t.shared()
		if f.node != "" {
			metadata = t.nodeMetadata(f)
		}
		return map[string]any{
			"event": kind, "name": name, "run_id": run, "tags": tags, "metadata": metadata, "parent_ids": []string{}, "data": data(),
		}
	})
}

func (f *frame) tags() []string { return []string{fmt.Sprintf("graph:step:%d", f.step+1)} }

func triggers(node string) []string { return []string{"branch:to:" + node} }

// shared is the metadata that everything of a run has.
func (t *translator) shared() json.RawMessage {
	if t.metadata == nil {
		t.metadata = encode(t.meta())
	}
	return t.metadata
}

func (t *translator) meta() map[string]any {
	return map[string]any{
		"created_by": "system", "graph_id": t.Assistant, "assistant_id": t.AssistantID, "run_attempt": 1, "thread_id": t.Thread, "run_id": t.Run,
	}
}

// tuple is a message with the metadata of its node, which is not encoded again for each piece.
func (t *translator) tuple(f *frame, message json.RawMessage) json.RawMessage {
	metadata := t.nodeMetadata(f)
	doc := make(json.RawMessage, 0, len(message)+len(metadata)+len("[,]"))
	doc = append(append(doc, '['), message...)
	doc = append(append(doc, ','), metadata...)
	return append(doc, ']')
}

// nodeMetadata is the metadata of a message of the node that is at work. It is made once for a step.
func (t *translator) nodeMetadata(f *frame) json.RawMessage {
	if f.started == nil {
		ns := f.node + ":" + taskID(f.present, f.node)
		if f.ns != "" {
			ns = f.ns + "|" + ns
		}
		m := t.meta()
		m["tags"] = []string{}
		m["langgraph_step"], m["langgraph_node"], m["langgraph_triggers"] = f.step+1, f.node, triggers(f.node)
		m["langgraph_path"], m["langgraph_checkpoint_ns"], m["checkpoint_ns"] = path(f.node), ns, ns
		m["lc_agent_name"] = f.agent
		f.started = encode(m)
	}
	return f.started
}
