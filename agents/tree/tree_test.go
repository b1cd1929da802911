package tree_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/tree"
)

// simple is the reducer as one would explain it: a list of messages that is searched from the front.
func simple(path []tree.Write) (ids []string, texts map[string]string, values map[string]any) {
	texts, values = map[string]string{}, map[string]any{}
	for _, w := range path {
		if w.RemoveAll {
			ids = nil
		}
		ids = slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(w.Remove, id) })
		for name, v := range w.Values {
			values[name] = v
		}
		if w.Message != nil {
			if !slices.Contains(ids, w.Message.ID) {
				ids = append(ids, w.Message.ID)
			}
			texts[w.Message.ID] = w.Message.Content
		}
	}
	return ids, texts, values
}

// grow makes a random tree of writes.
func grow(rnd *rand.Rand, n int) tree.Tree {
	t := tree.Tree{Head: tree.Root}
	for i := range n {
		w := tree.Write{Seq: i, Parent: i - 1}
		if rnd.IntN(4) == 0 {
			w.Parent = rnd.IntN(i+1) - 1
		}
		id := func() string { return fmt.Sprint("m", rnd.IntN(12)) }
		switch rnd.IntN(10) {
		case 0:
			w.Source, w.Tip, w.RemoveAll = tree.Update, true, true
		case 1:
			w.Source, w.Tip, w.Remove = tree.Update, true, []string{id(), id()}
		case 2:
			w.Source, w.Tip, w.Values = tree.Update, true, map[string]any{id(): float64(i)}
		default:
			w.Message = &model.Message{ID: id(), Role: []string{"user", "assistant"}[rnd.IntN(2)], Content: fmt.Sprint(i)}
			w.Run = fmt.Sprint("r", i/3)
			if w.Message.Role == "user" {
				w.Source = tree.Input
			}
		}
		t.Writes, t.Head = append(t.Writes, w), i
	}
	return t
}

// The state at every write of a random tree is what the simple reducer says, and each checkpoint is the
// state at its write, has its parent on the path to it, and keeps its id when the tree grows.
func TestRandomTrees(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		tr := grow(rnd, 1+rnd.IntN(40))
		for _, w := range tr.Writes {
			path := tr.Path(w.Seq)
			ids, texts, values := simple(path)
			got := tr.State(w.Seq)
			if len(got.Messages) != len(ids) {
				t.Fatalf("seed %d, write %d: got %d messages, want %d", seed, w.Seq, len(got.Messages), len(ids))
			}
			for i, m := range got.Messages {
				if m.ID != ids[i] || m.Content != texts[m.ID] {
					t.Fatalf("seed %d, write %d: message %d is %s %q, want %s %q", seed, w.Seq, i, m.ID, m.Content, ids[i], texts[ids[i]])
				}
			}
			for name, v := range values {
				if got.Values[name] != v {
					t.Fatalf("seed %d, write %d: %s is %v, want %v", seed, w.Seq, name, got.Values[name], v)
				}
			}
		}
		list := tr.Boundaries()
		seen := map[string]bool{}
		for i, b := range list {
			if seen[b.ID("t")] {
				t.Fatalf("seed %d: two checkpoints have one id", seed)
			}
			seen[b.ID("t")] = true
			if b.Parent >= i {
				t.Fatalf("seed %d: the parent of checkpoint %d is %d", seed, i, b.Parent)
			}
			if b.Parent != tree.Root && list[b.Parent].At != tree.Root && !slices.ContainsFunc(tr.Path(b.At), func(w tree.Write) bool { return w.Seq == list[b.Parent].At }) {
				t.Fatalf("seed %d: the parent of checkpoint %d is on another branch", seed, i)
			}
		}
		small := tree.Tree{Writes: tr.Writes[:len(tr.Writes)/2]}
		for _, b := range small.Boundaries() {
			if b.Kind != tree.AfterStep && !seen[b.ID("t")] {
				t.Fatalf("seed %d: checkpoint %+v is gone after more writes", seed, b)
			}
		}
	}
}

func say(seq int, source tree.Source, run, role, text string, calls ...string) tree.Write {
	m := model.Message{ID: fmt.Sprint(seq), Role: role, Content: text}
	if role == model.RoleTool {
		m.ToolCallID = calls[0]
	} else {
		for _, c := range calls {
			m.ToolCalls = append(m.ToolCalls, model.ToolCall{ID: c})
		}
	}
	return tree.Write{Seq: seq, Parent: seq - 1, Run: run, Source: source, Message: &m}
}

func TestBoundaries(t *testing.T) {
	tr := tree.Tree{Head: 6, Writes: []tree.Write{
		say(0, tree.Input, "a", "user", "one"),
		say(1, tree.Input, "a", "user", "two"),
		say(2, tree.Step, "a", "assistant", "", "c1", "c2"),
		say(3, tree.Step, "a", "tool", "x", "c1"),
		say(4, tree.Step, "a", "tool", "y", "c2"),
		say(5, tree.Step, "a", "assistant", "done"),
		say(6, tree.Step, "", "user", "of an earlier version"),
	}}
	type point struct {
		Kind   tree.Kind
		At     int
		Step   int
		Next   []string
		Parent int
	}
	var got []point
	for _, b := range tr.Boundaries() {
		got = append(got, point{b.Kind, b.At, b.Step, b.Next, b.Parent})
	}
	want := []point{
		{tree.BeforeInput, -1, -1, []string{"__start__"}, -1},
		{tree.AfterStep, 1, 0, []string{"agent"}, 0},
		{tree.AfterStep, 2, 1, []string{"tools"}, 1},
		{tree.AfterStep, 4, 2, []string{"agent"}, 2},
		{tree.AfterStep, 5, 3, []string{}, 3},
		{tree.BeforeInput, 5, 4, []string{"__start__"}, 4},
		{tree.AfterStep, 6, 5, []string{"agent"}, 5},
	}
	if !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}

func TestAfter(t *testing.T) {
	user, answer := model.Message{Role: "user"}, model.Message{Role: "assistant"}
	asks := model.Message{Role: "assistant", ToolCalls: []model.ToolCall{{ID: "c"}}}
	for _, tc := range []struct {
		name, as string
		messages []model.Message
		want     []string
	}{
		{"nothing", "", nil, []string{}},
		{"a question", "", []model.Message{user}, []string{"agent"}},
		{"an answer", "", []model.Message{user, answer}, []string{}},
		{"a call", "", []model.Message{user, asks}, []string{"tools"}},
		{"a result", "", []model.Message{user, asks, {Role: "tool", ToolCallID: "c"}}, []string{"agent"}},
		{"a question in the agent's name", "agent", []model.Message{user}, []string{}},
		{"the end", "__end__", []model.Message{user}, []string{}},
		{"the start", "__start__", []model.Message{answer}, []string{"agent"}},
	} {
		if got := tree.After(tc.as, tc.messages); !cmp.Equal(got, tc.want) {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
}

// Who replaces a message does not get rid of what the other was made from.
func TestLabelsStay(t *testing.T) {
	got := tree.Merge([]model.Message{{ID: "1", Role: "tool", Labels: []string{"tool:http_get"}}}, []model.Message{{ID: "1", Role: "user", Labels: []string{"user"}}})
	if want := []string{"tool:http_get", "user"}; len(got) != 1 || !cmp.Equal(got[0].Labels, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
