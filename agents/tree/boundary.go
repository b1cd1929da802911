package tree

import (
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/svc-gateway/svc/agents/model"
)

// The nodes of every agent's graph.
const (
	NodeStart = "__start__"
	NodeAgent = "agent"
	NodeTools = "tools"
	NodeEnd   = "__end__"
)

// Kind says what a boundary is before or after.
type Kind string

// The kinds of boundaries. Their names are the sources of checkpoints.
const (
	BeforeInput Kind = "input"  // a run has its input, and nothing of it is in the state
	AfterStep   Kind = "loop"   // after the input, a model's turn or a round of calls
	AfterUpdate Kind = "update" // after a change of the state between runs
)

// Boundary is a point between two steps: a checkpoint.
type Boundary struct {
	Kind    Kind
	Seq     int // the write that it is before or after
	At      int // the state is the one at this write
	Go      int // whoever goes on here without input follows this write
	Parent  int // the boundary before it, as a place in the list; Root: none
	Step    int // from -1
	Next    []string
	Run     string
	Created time.Time
}

// ID is the boundary's id. It depends on the thread and the write alone.
func (b Boundary) ID(thread string) string {
	space, err := uuid.Parse(thread)
	if err != nil {
		space = uuid.NewSHA1(uuid.NameSpaceURL, []byte(thread))
	}
	return uuid.NewSHA1(space, fmt.Appendf(nil, "%s/%d", b.Kind, b.Seq)).String()
}

// node is what the boundaries after a write depend on.
type node struct {
	boundary int      // the last one on the path to the write
	open     []string // calls that have no result
}

// Boundaries are all boundaries of the tree, in the order of the writes: on every path, the earlier
// come first.
func (t Tree) Boundaries() []Boundary {
	var list []Boundary
	nodes := make([]node, len(t.Writes))
	mark := func(b Boundary, n *node) {
		b.Parent, b.Step = n.boundary, -1
		if n.boundary != Root {
			b.Step = list[n.boundary].Step + 1
		}
		n.boundary = len(list)
		list = append(list, b)
	}
	for i, w := range t.Writes {
		n := node{boundary: Root}
		parent, ok := t.at(w.Parent)
		if ok {
			n = nodes[parent]
		}
		b := Boundary{Kind: AfterStep, Seq: w.Seq, At: w.Seq, Go: w.Seq, Run: w.Run, Created: w.Created}
		switch source(w) {
		case Input:
			if !ok || !sameInput(t.Writes[parent], w) {
				last := t.lastInput(i)
				mark(Boundary{
					Kind: BeforeInput, Seq: w.Seq, At: w.Parent, Go: t.Writes[last].Seq, Run: w.Run, Created: w.Created, Next: []string{NodeStart},
				}, &n)
			}
			n.open = nil
			if t.lastInput(i) == i {
				b.Next = []string{NodeAgent}
				mark(b, &n)
			}
		case Update:
			if w.Tip {
				messages := t.State(w.Seq).Messages
				b.Kind, b.Next = AfterUpdate, After(w.Node, messages)
				n.open = nil
				for _, c := range Open(messages) {
					n.open = append(n.open, c.ID)
				}
				mark(b, &n)
			}
		default:
			n.step(w)
			if len(n.open) == 0 || w.Message != nil && w.Message.Role == model.RoleAssistant {
				b.Next = n.next(w)
				mark(b, &n)
			}
		}
		nodes[i] = n
	}
	return list
}

// step follows a step of a run.
func (n *node) step(w Write) {
	switch m := w.Message; {
	case m == nil:
	case m.Role == model.RoleAssistant:
		n.open = make([]string, len(m.ToolCalls))
		for i, c := range m.ToolCalls {
			n.open[i] = c.ID
		}
	case m.Role == model.RoleTool:
		n.open = slices.DeleteFunc(slices.Clone(n.open), func(id string) bool { return id == m.ToolCallID })
	}
}

// next is what comes after a step.
func (n *node) next(w Write) []string {
	switch {
	case len(n.open) > 0:
		return []string{NodeTools}
	case w.Message != nil && w.Message.Role == model.RoleAssistant:
		return []string{}
	}
	return []string{NodeAgent}
}

// source is what made a write. Those of an earlier version do not say, but what people say is input.
func source(w Write) Source {
	if w.Source == Step && w.Run == "" && w.Message != nil && w.Message.Role == model.RoleUser {
		return Input
	}
	return w.Source
}

// sameInput reports whether a write is of the same input as the one that it follows.
func sameInput(before, w Write) bool { return source(before) == Input && before.Run == w.Run }

// lastInput is the place of the last write of the input that the write at a place belongs to. An
// input is written at once.
func (t Tree) lastInput(i int) int {
	for ; i+1 < len(t.Writes); i++ {
		if next := t.Writes[i+1]; source(next) != Input || next.Parent != t.Writes[i].Seq || !sameInput(t.Writes[i], next) {
			break
		}
	}
	return i
}

// After is what comes next when the state holds these messages and was written as a node; with no
// node, the messages alone say.
func After(as string, messages []model.Message) []string {
	var last model.Message
	if len(messages) > 0 {
		last = messages[len(messages)-1]
	}
	switch {
	case as == NodeEnd:
		return []string{}
	case as == NodeStart, as == NodeTools:
		return []string{NodeAgent}
	case len(Open(messages)) > 0:
		return []string{NodeTools}
	case as == NodeAgent, last.Role == model.RoleAssistant, last.Role == "":
		return []string{}
	}
	return []string{NodeAgent}
}

// Open are the calls of the last message of an assistant that have no result, if nobody has spoken
// since.
func Open(messages []model.Message) []model.ToolCall {
	var answered []string
	for _, m := range slices.Backward(messages) {
		switch m.Role {
		case model.RoleTool:
			answered = append(answered, m.ToolCallID)
		case model.RoleAssistant:
			return slices.DeleteFunc(slices.Clone(m.ToolCalls), func(c model.ToolCall) bool { return slices.Contains(answered, c.ID) })
		default:
			return nil
		}
	}
	return nil
}

// Find is the place of a boundary by its id.
func Find(list []Boundary, thread, id string) (int, bool) {
	i := slices.IndexFunc(list, func(b Boundary) bool { return b.ID(thread) == id })
	return i, i >= 0
}

// Last is the place of the last boundary on the path to a write; Root when there is none.
func (t Tree) Last(list []Boundary, at int) int {
	for i, ok := t.at(at); ok; i, ok = t.at(t.Writes[i].Parent) {
		seq := t.Writes[i].Seq
		for j, b := range slices.Backward(list) {
			if b.Seq == seq && b.Kind != BeforeInput {
				return j
			}
		}
	}
	return Root
}
