package langgraph

import (
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/todo"
	"github.com/svc-gateway/svc/agents/tree"
)

// graphName is what the graph as a whole is called in events of the library's callbacks.
const graphName = "LangGraph"

// about is what a stream tells of its run beside what happens.
type about struct {
	Run, Thread, Assistant, AssistantID string
	Created                             time.Time
}

// told is one event of a stream.
type told struct {
	id   int
	name string
	data json.RawMessage
}

// translator makes the protocol's events of a run's log. What it makes depends on the log and on the
// opening alone, and so do the numbers of the events: those that nobody asked for have numbers too.
type translator struct {
	about
	modes     []mode
	subgraphs bool

	next   int
	out    []told
	size   int // bytes of the data in out
	frames map[int]*frame
	paused bool // the run waits, as far as the log says
	failed bool
	over   bool

	resolved bool // whoever reads asked for the run's end, which is no error then

	metadata json.RawMessage // what every message's metadata has

	also *chronicle // tells the same in the thread-centric form; nil: nobody asked for that
}

// frame is one agent at work: the graph, or a subgraph of tools.
type frame struct {
	no       int
	agent    string
	opener   string // the call that opened it
	ns       string // namespace; empty for the graph
	messages []json.RawMessage
	place    map[string]int  // of messages, by id
	count    int             // messages that are of this run
	answered map[string]bool // calls that had their result before the run
	values   map[string]any
	step     int
	seq      int    // the next write
	parent   string // checkpoint before the present one
	present  string // checkpoint
	node     string // at work; empty: none
	started  json.RawMessage

	spoken  string // of the message that is being told
	text    []byte
	calls   []string // of the last turn, in the model's order
	results map[string]json.RawMessage
	waiting []eventlog.Event
}

func newTranslator(a about, modes []mode, subgraphs bool) *translator {
	return &translator{about: a, modes: modes, subgraphs: subgraphs, frames: map[int]*frame{}}
}

// take are the events that were made since it was called last.
func (t *translator) take() []told {
	out := t.out
	t.out, t.size = nil, 0
	return out
}

// piece is how much is made of a log, in bytes, before it goes to the reader: who does not read, and asks for
// states in many forms, shall not have all of them wait in memory.
const piece = 256 << 10

// wants reports whether an event of a mode and a frame is to be told.
func (t *translator) wants(m mode, f *frame) bool {
	return m == always || slices.Contains(t.modes, m) && (f == nil || f.ns == "" || t.subgraphs)
}

// tell numbers an event and makes it if it is wanted.
func (t *translator) tell(m mode, f *frame, name string, data func() any) {
	id := t.next
	t.next++
	if !t.wants(m, f) {
		return
	}
	if f != nil && f.ns != "" {
		name += "|" + f.ns
	}
	v := data()
	doc, encoded := v.(json.RawMessage)
	if !encoded {
		doc = encode(v)
	}
	t.out, t.size = append(t.out, told{id, name, doc}), t.size+len(doc)
}

// head is how every stream begins, before anything is known of the state.
func (t *translator) head() {
	t.tell(always, nil, "metadata", func() any {
		return map[string]any{"run_id": t.Run, "thread_id": t.Thread, "attempt": 1}
	})
}

// open tells of the state that the run starts from.
func (t *translator) open(o agents.Opening) {
	f := &frame{agent: t.Assistant, values: o.ValuesBefore, step: o.Step, seq: o.First, present: o.Previous, place: map[string]int{}}
	t.frames[0] = f
	t.also.opened(f)
	for _, m := range o.Before {
		f.put(m.ID, encode(wire(m)))
	}
	t.event(f, "on_chain_start", graphName, nil, func() any { return map[string]any{"input": f.state()} })
	if o.Given > 0 {
		t.checkpoint(f, tree.BeforeInput, []string{tree.NodeStart}, f.seq)
	}
	f.messages, f.place, f.values, f.count = nil, map[string]int{}, o.Values, len(o.Input)
	f.answered = map[string]bool{}
	for _, m := range o.Messages {
		f.put(m.ID, encode(wire(m)))
		f.answered[m.ToolCallID] = true
	}
	if o.Given > 0 {
		f.seq += o.Given
		t.checkpoint(f, tree.AfterStep, []string{tree.NodeAgent}, f.seq-1)
	}
	t.state(f)
	for _, m := range o.Input {
		t.tell(modeMessages, f, "messages/complete", func() any { return []Message{wire(m)} })
	}
	if len(o.Input) > 0 || len(tree.Open(o.Messages)) == 0 { // else calls of an earlier run are made now
		t.begin(f, tree.NodeAgent)
	}
}

// put adds a message to the state, or puts it in the place of the one with its id.
func (f *frame) put(id string, m json.RawMessage) {
	if i, ok := f.place[id]; ok && id != "" {
		f.messages = slices.Clone(f.messages)
		f.messages[i] = m
		return
	}
	f.place[id] = len(f.messages)
	f.messages = append(f.messages, m)
}

// state tells the values.
func (t *translator) state(f *frame) {
	t.tell(modeValues, f, "values", func() any { return f.state() })
	t.also.state(f)
}

func (f *frame) state() map[string]any { return values(f.messages, f.values) }

// add follows one event of the log.
func (t *translator) add(e eventlog.Event) {
	if t.paused && e.Type != eventlog.Paused {
		t.resume()
	}
	f := t.frames[e.Frame]
	if f == nil && e.Type != eventlog.Opened {
		return // of a version that did not tell of it
	}
	switch e.Type {
	case eventlog.Chunk:
		t.chunk(f, e)
	case eventlog.Message:
		t.message(f, e)
	case eventlog.ToolUse, eventlog.Wait, eventlog.Decided:
		t.call(f, e)
	case eventlog.Result:
		t.result(f, e)
	case eventlog.Guarded:
		t.tell(modeCustom, f, "custom", func() any {
			return map[string]string{"type": string(e.Type), "id": e.Message, "status": e.Status, "code": e.Code, "reason": e.Content}
		})
	case eventlog.Todos:
		f.values = maps.Clone(f.values)
		if f.values == nil {
			f.values = map[string]any{}
		}
		f.values[todo.Key] = append([]todo.Item{}, e.Todos...)
	case eventlog.Opened:
		t.opened(e)
	case eventlog.Paused:
		t.pause()
	case eventlog.Error:
		if t.resolved {
			return
		}
		t.failed = true
		t.also.failed(e)
		t.tell(always, nil, "error", func() any { return map[string]string{"error": e.Code, "message": e.Content} })
	case eventlog.Done:
		t.also.over(e.Status)
		t.done()
	}
}

// opened begins a subgraph.
func (t *translator) opened(e eventlog.Event) {
	f := &frame{no: e.Frame, agent: e.Agent, opener: e.Call, ns: "tools:" + e.Call, step: agents.BeforeFirst, place: map[string]int{}}
	for _, parent := range t.frames {
		if slices.Contains(parent.calls, e.Call) && parent.ns != "" {
			f.ns = parent.ns + "|" + f.ns
		}
	}
	t.frames[e.Frame] = f
	t.also.opened(f)
	t.event(f, "on_chain_start", graphName, nil, func() any { return map[string]any{"input": f.state()} })
	t.checkpoint(f, tree.BeforeInput, []string{tree.NodeStart}, 0)
	f.put(e.Message, encode(wire(model.Message{ID: e.Message, Role: model.RoleUser, Content: e.Content})))
	f.seq, f.count = 1, 1
	t.checkpoint(f, tree.AfterStep, []string{tree.NodeAgent}, 0)
	t.state(f)
	t.begin(f, tree.NodeAgent)
}

// done ends the stream.
func (t *translator) done() {
	t.over = true
	if t.failed {
		return
	}
	if f := t.frames[0]; f != nil {
		t.event(f, "on_chain_end", graphName, nil, func() any { return map[string]any{"output": f.state()} })
	}
	t.tell(always, nil, "end", func() any { return nil })
}

// checkpoint tells of a boundary between steps. seq is the write that it is before or after.
func (t *translator) checkpoint(f *frame, kind tree.Kind, next []string, seq int) {
	b := tree.Boundary{Kind: kind, Seq: seq}
	id := b.ID(t.Thread)
	if f.ns != "" {
		id = b.ID(t.named(f.ns))
	}
	f.step++
	f.parent, f.present = f.present, id
	step, source := f.step, "loop"
	if kind == tree.BeforeInput {
		source = "input"
	}
	t.also.checkpoint(f, source)
	about := map[string]any{"source": source, "step": step, "parents": map[string]string{}}
	whole := func() any {
		tasks := make([]any, len(next))
		for i, node := range next {
			tasks[i] = map[string]any{"id": taskID(f.present, node), "name": node, "path": path(node), "interrupts": []any{}}
		}
		return map[string]any{
			"config": t.config(f, f.present), "parent_config": t.config(f, f.parent), "values": f.state(), "metadata": about, "next": next,
			"tasks": tasks, "checkpoint": reference(t.Thread, f.ns, f.present), "parent_checkpoint": reference(t.Thread, f.ns, f.parent),
		}
	}
	t.tell(modeCheckpoints, f, "checkpoints", whole)
	t.debug(f, "checkpoint", step, whole)
}

// named is an id that follows from the run and a name.
func (t *translator) named(name string) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(t.Run+"/"+name)).String()
}

func (t *translator) config(f *frame, checkpoint string) any {
	if checkpoint == "" {
		return nil
	}
	return map[string]any{"configurable": map[string]any{
		"thread_id": t.Thread, "checkpoint_ns": f.ns, "checkpoint_id": checkpoint, "run_id": t.Run, "graph_id": t.Assistant, "assistant_id": t.AssistantID,
	}}
}

// debug tells the same as tasks and checkpoints, in another form.
func (t *translator) debug(f *frame, kind string, step int, payload func() any) {
	t.tell(modeDebug, f, "debug", func() any {
		return map[string]any{"step": step, "type": kind, "timestamp": stamp(t.Created), "payload": payload()}
	})
}

// taskID is the id of a node's work after a checkpoint.
func taskID(checkpoint, node string) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(checkpoint+"/"+node)).String()
}

func path(node string) []string { return []string{"__pregel_pull", node} }

// reference names a checkpoint; nil for none.
func reference(thread, ns, id string) any {
	if id == "" {
		return nil
	}
	return Checkpoint{ThreadID: thread, Namespace: ns, ID: id}
}

// stamp is a time as the protocol has it.
func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z07:00") }
