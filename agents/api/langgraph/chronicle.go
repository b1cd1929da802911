package langgraph

import (
	"encoding/json"
	"fmt"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/tree"
)

// indexBits is how many bits of an event's number are its place in the run. The others are the place of the
// run's first write in the thread's log, so that the numbers of a thread's events increase from run to run
// and are the same whenever they are told. All together fits what JavaScript counts exactly.
const indexBits = 20

// event is one event of a thread, as it is on the wire.
type event struct {
	seq    int64
	id     string
	method string
	doc    json.RawMessage
}

// envelope is the form of an event.
type envelope struct {
	Type   string `json:"type"`
	ID     string `json:"event_id"`
	Seq    int64  `json:"seq"`
	Method string `json:"method"`
	Params params `json:"params"`
}

type params struct {
	Namespace []string `json:"namespace"`
	Timestamp int64    `json:"timestamp"`
	Node      string   `json:"node,omitempty"`
	Data      any      `json:"data"`
}

// chronicle tells what a translator follows as events of a thread. The translator calls its methods, which
// do nothing for nil. Like the translator's, the events and their numbers depend on the log and the opening
// alone, and those that nobody wants have numbers too.
type chronicle struct {
	t     *translator
	base  int64 // of the numbers
	next  int64
	wants func(c channel, name string, ns []string) bool

	out     []event
	size    int // bytes of the data in out
	graphs  map[int]*graph
	failure string
}

// graph is what the chronicle knows of a frame.
type graph struct {
	agent   string
	ns      []string
	node    []string        // namespace of the node at work
	spoke   bool            // the node has told of a message
	message string          // that is being told
	text    bool            // its text has begun
	calls   map[string]bool // that have started, and have no result
	asked   string          // the interrupt that nobody has answered
	status  string          // as lifecycle events and the tree tell it
}

// newChronicle has a translator tell a chronicle too. first is the first write of the run.
func newChronicle(t *translator, first int, wants func(channel, string, []string) bool) *chronicle {
	c := &chronicle{t: t, base: int64(first) << indexBits, wants: wants, graphs: map[int]*graph{}}
	t.also = c
	return c
}

// take are the events that were made since it was called last.
func (c *chronicle) take() []event {
	out := c.out
	c.out, c.size = nil, 0
	return out
}

// tell numbers an event and makes it if somebody wants it.
func (c *chronicle) tell(on channel, method, name string, ns []string, node string, data func() any) {
	c.next++
	if !c.wants(on, name, ns) {
		return
	}
	seq := c.base + c.next
	doc := encode(envelope{"event", c.id(seq), seq, method, params{ns, c.t.Created.UnixMilli(), node, data()}})
	c.out, c.size = append(c.out, event{seq, c.id(seq), method, doc}), c.size+len(doc)
}

// id is the id of an event. It names the run too: one that is asked for again after it failed, without input,
// begins at the same place.
func (c *chronicle) id(seq int64) string {
	return fmt.Sprintf("%d-%.8s", seq, c.t.Run[max(0, len(c.t.Run)-8):])
}

// lifecycle tells how a graph stands.
func (c *chronicle) lifecycle(ns []string, status, graph string, more map[string]any) {
	c.tell(onLifecycle, "lifecycle", "", ns, "", func() any {
		data := map[string]any{"event": status, "graph_name": graph}
		for name, v := range more {
			data[name] = v
		}
		return data
	})
}

// The words for how a graph stands.
const (
	graphStarted     = "started"
	graphRunning     = "running"
	graphCompleted   = "completed"
	graphFailed      = "failed"
	graphInterrupted = "interrupted"
)

// opened tells that a graph, or a subgraph, starts.
func (c *chronicle) opened(f *frame) {
	if c == nil {
		return
	}
	g := &graph{agent: f.agent, ns: []string{}, calls: map[string]bool{}, status: graphRunning} // started is running
	c.graphs[f.no] = g
	if f.ns == "" {
		c.lifecycle(g.ns, graphRunning, g.agent, nil)
		return
	}
	g.ns = segments(f.ns)
	c.lifecycle(g.ns, graphStarted, g.agent, map[string]any{"cause": map[string]string{"type": "toolCall", "tool_call_id": f.opener}})
}

// stands tells that a graph has come to stand in another way.
func (c *chronicle) stands(g *graph, status string, more map[string]any) {
	g.status = status
	c.lifecycle(g.ns, status, g.agent, more)
}

// closed tells that a subgraph has its answer.
func (c *chronicle) closed(f *frame) {
	if c == nil {
		return
	}
	c.stands(c.graphs[f.no], graphCompleted, nil)
}

// checkpoint tells of a point that a run can be gone on from.
func (c *chronicle) checkpoint(f *frame, source string) {
	if c == nil {
		return
	}
	c.tell(onCheckpoints, "checkpoints", "", c.graphs[f.no].ns, "", func() any {
		data := map[string]any{"id": f.present, "step": f.step, "source": source}
		if f.parent != "" {
			data["parent_id"] = f.parent
		}
		return data
	})
}

// state tells the values.
func (c *chronicle) state(f *frame) {
	if c == nil {
		return
	}
	c.tell(onValues, "values", "", c.graphs[f.no].ns, "", func() any { return f.state() })
}

// began tells that a node starts to work.
func (c *chronicle) began(f *frame, body func() any) {
	if c == nil {
		return
	}
	g := c.graphs[f.no]
	g.node, g.spoke = append(g.ns[:len(g.ns):len(g.ns)], f.node+":"+taskID(f.present, f.node)), false
	c.tell(onTasks, "tasks", "", g.ns, "", body)
}

// ended tells that a node is done, and what it added.
func (c *chronicle) ended(f *frame, partial any, result func() any) {
	if c == nil {
		return
	}
	g := c.graphs[f.no]
	c.tell(onUpdates, "updates", "", g.ns, f.node, func() any { return partial })
	c.tell(onTasks, "tasks", "", g.ns, "", result)
	if g.spoke {
		c.lifecycle(g.node, graphCompleted, g.agent, nil)
	}
}

// say tells of a message that a node makes.
func (c *chronicle) say(g *graph, node string, data map[string]any) {
	c.tell(onMessages, "messages", "", g.node, node, func() any { return data })
}

// speaks tells that a message begins.
func (c *chronicle) speaks(f *frame, id string) {
	if c == nil {
		return
	}
	g := c.graphs[f.no]
	if !g.spoke {
		g.spoke = true
		c.lifecycle(g.node, graphStarted, g.agent, nil)
	}
	if g.message != "" { // of a turn that broke off
		c.say(g, f.node, map[string]any{"event": "error", "message": "the message was not completed"})
	}
	g.message, g.text = id, false
	c.say(g, f.node, map[string]any{
		"event": "message-start", "role": "ai", "id": id, "metadata": map[string]string{"run_id": c.t.Run, "thread_id": c.t.Thread},
	})
}

// piece tells a piece of the message's text.
func (c *chronicle) piece(f *frame, text string) {
	if c == nil {
		return
	}
	g := c.graphs[f.no]
	if !g.text {
		g.text = true
		c.say(g, f.node, map[string]any{"event": "content-block-start", "index": 0, "content": textBlock("")})
	}
	c.say(g, f.node, map[string]any{"event": "content-block-delta", "index": 0, "delta": map[string]string{"type": "text-delta", "text": text}})
}

func textBlock(text string) map[string]string { return map[string]string{"type": "text", "text": text} }

// spoken tells the rest of a message: the end of its text, its calls and what it took.
func (c *chronicle) spoken(f *frame, e eventlog.Event) {
	if c == nil {
		return
	}
	g := c.graphs[f.no]
	if e.Content != "" && !g.text {
		c.piece(f, e.Content)
	}
	index := 0
	if g.text {
		c.say(g, f.node, map[string]any{"event": "content-block-finish", "index": index, "content": textBlock(e.Content)})
		index++
	}
	for _, call := range e.Calls {
		c.asks(g, f.node, index, call)
		index++
	}
	end := map[string]any{"event": "message-finish", "reason": "stop"}
	if u := e.Usage; u != nil {
		end["usage"] = UsageMetadata{u.PromptTokens, u.CompletionTokens, u.TotalTokens}
	}
	if e.Model != "" {
		end["metadata"] = map[string]string{"model": e.Model}
	}
	c.say(g, f.node, end)
	g.message = ""
}

// asks tells a call that a message asks for.
func (c *chronicle) asks(g *graph, node string, index int, call model.ToolCall) {
	chunk := func(args string) map[string]any {
		return map[string]any{"type": "tool_call_chunk", "id": call.ID, "name": call.Name, "args": args, "index": index}
	}
	c.say(g, node, map[string]any{"event": "content-block-start", "index": index, "content": chunk("")})
	c.say(g, node, map[string]any{
		"event": "content-block-delta", "index": index, "delta": map[string]any{"type": "block-delta", "fields": chunk(call.Arguments)},
	})
	var whole any = InvalidCall{call.Name, call.Arguments, call.ID, "the arguments are no JSON object", "invalid_tool_call"}
	if args := json.RawMessage(call.Arguments); object(args) != nil {
		whole = ToolCall{call.Name, args, call.ID, "tool_call"}
	}
	c.say(g, node, map[string]any{"event": "content-block-finish", "index": index, "content": whole})
}

// called tells what the gate says of a call.
func (c *chronicle) called(f *frame, e eventlog.Event) {
	if c == nil {
		return
	}
	g := c.graphs[f.no]
	c.tell(onCustom, "custom", string(e.Type), g.ns, "", func() any { return map[string]any{"name": string(e.Type), "payload": gateNews(e)} })
	c.answered(f)
	if e.Type == eventlog.ToolUse && e.Status == string(agents.CallStarted) {
		c.starts(g, e)
	}
}

// starts tells that a call starts.
func (c *chronicle) starts(g *graph, e eventlog.Event) {
	g.calls[e.Call] = true
	c.tell(onTools, "tools", "", g.ns, tree.NodeTools, func() any {
		data := map[string]any{"event": "tool-started", "tool_call_id": e.Call, "tool_name": e.Name}
		if len(e.Input) > 0 {
			data["input"] = e.Input
		}
		return data
	})
}

// result tells the result of a call.
func (c *chronicle) result(f *frame, e eventlog.Event, message json.RawMessage) {
	if c == nil {
		return
	}
	g := c.graphs[f.no]
	c.answered(f)
	if !g.calls[e.Call] {
		c.starts(g, e)
	}
	delete(g.calls, e.Call)
	c.tell(onTools, "tools", "", g.ns, tree.NodeTools, func() any {
		if e.Status == "" || e.Status == string(agents.CallSuccess) {
			return map[string]any{"event": "tool-finished", "tool_call_id": e.Call, "output": message}
		}
		return map[string]any{"event": "tool-error", "tool_call_id": e.Call, "message": e.Content, "code": e.Status}
	})
}

// asksFor tells what a graph waits for.
func (c *chronicle) asksFor(f *frame, i agents.Interrupt) {
	if c == nil {
		return
	}
	g := c.graphs[f.no]
	g.asked = i.ID
	c.tell(onInput, "input.requested", "", g.ns, "", func() any {
		return map[string]any{"interrupt_id": i.ID, "payload": shownInterrupt(i).Value}
	})
}

// answered tells that nothing of what a graph asked for is open any more.
func (c *chronicle) answered(f *frame) {
	g := c.graphs[f.no]
	if g.asked == "" || len(f.waiting) > 0 {
		return
	}
	id := g.asked
	g.asked = ""
	c.tell(onInput, "input.answered", "", g.ns, "", func() any { return map[string]any{"interrupt_ids": []string{id}} })
}

// turns tells that all graphs at work come to stand in another way: they wait, go on, or are over. Subgraphs
// come first.
func (c *chronicle) turns(from, to string) {
	if c == nil {
		return
	}
	for no := len(c.graphs); no >= 0; no-- {
		if g := c.graphs[no]; g != nil && g.status == from {
			c.stands(g, to, nil)
		}
	}
}

// failed keeps why the run failed, for the events that tell of it.
func (c *chronicle) failed(e eventlog.Event) {
	if c != nil {
		c.failure = e.Content
	}
}

// over tells how the run ended.
func (c *chronicle) over(status string) {
	if c == nil {
		return
	}
	to, more := graphFailed, map[string]any(nil)
	switch agents.Status(status) {
	case agents.Success:
		to = graphCompleted
	case agents.Cancelled:
		to = graphInterrupted
	default:
		more = map[string]any{"error": c.failure}
	}
	for no := len(c.graphs); no >= 0; no-- {
		if g := c.graphs[no]; g != nil && g.status != graphCompleted {
			c.stands(g, to, more)
		}
	}
}
