// Package tree is what a thread's log of writes means.
//
// A thread is a log to which writes are added and from which none is taken. Each [Write] follows
// another one, so that the log is a tree: whoever goes on from an earlier point makes a branch. The
// state at a write is the [Fold] of the path from the first write to it: a message replaces the one
// with its id, a removal takes away, and other values are set.
//
// The [Boundary] points of a path are the checkpoints of the thread. They follow from the writes
// alone, so that nothing is stored for them; their ids are the same while a run is under way and
// after it.
//
// All of it is pure and safe for concurrent use.
package tree

import (
	"maps"
	"slices"
	"time"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/todo"
)

// Root is the place before the first write.
const Root = -1

// Source is what made a write.
type Source string

// The sources of writes.
const (
	Step   Source = ""       // a step of a run
	Input  Source = "input"  // what a run was given
	Update Source = "update" // somebody changed the state between runs
)

// Write is one node of a thread's tree.
type Write struct {
	Seq     int    // its place in the log
	Parent  int    // the write that it follows; Root: none
	Run     string // the run that made it; empty: none, or not known
	Created time.Time
	Source  Source

	Message *model.Message // nil: none
	Change
}

// Change is what a write does beside adding a message. It comes before the message.
type Change struct {
	Node      string         `json:"node,omitempty"`       // as which node of the graph an update was made
	Remove    []string       `json:"remove,omitempty"`     // ids of messages to take away
	RemoveAll bool           `json:"remove_all,omitempty"` // takes away all messages
	Values    map[string]any `json:"values,omitempty"`     // other values of the state, by name
	Tip       bool           `json:"tip,omitempty"`        // an update of the state ends with it
}

// Said is the write of a message that a run's step added. The plan that a call wrote is a value of the
// state.
func Said(run string, at time.Time, m model.Message) Write {
	w := Write{Run: run, Created: at, Message: &m}
	if m.Todos != nil {
		w.Values = map[string]any{todo.Key: *m.Todos}
		m.Todos = nil
	}
	return w
}

// IsZero reports whether the change does nothing.
func (c Change) IsZero() bool {
	return c.Node == "" && len(c.Remove) == 0 && !c.RemoveAll && len(c.Values) == 0 && !c.Tip
}

// State is what a thread holds at a point.
type State struct {
	Messages []model.Message
	Values   map[string]any
}

// Fold is the state after the writes of a path, in their order.
func Fold(path []Write) State {
	var f folder
	for _, w := range path {
		f.apply(w)
	}
	return State{f.messages(), f.values}
}

// Merge adds messages to others by the rule of Fold.
func Merge(messages, added []model.Message) []model.Message {
	var f folder
	for _, list := range [][]model.Message{messages, added} {
		for i := range list {
			f.add(list[i])
		}
	}
	return f.messages()
}

// folder is a state in the making. A message that was taken away leaves a gap.
type folder struct {
	list   []model.Message
	gone   int            // gaps in list
	place  map[string]int // in list, by id
	values map[string]any
}

func (f *folder) apply(w Write) {
	if w.RemoveAll {
		f.list, f.place, f.gone = nil, nil, 0
	}
	for _, id := range w.Remove {
		if i, ok := f.place[id]; ok {
			f.list[i] = model.Message{}
			f.gone++
			delete(f.place, id)
		}
	}
	if len(w.Values) > 0 {
		if f.values == nil {
			f.values = map[string]any{}
		}
		maps.Copy(f.values, w.Values)
	}
	if w.Message != nil {
		f.add(*w.Message)
	}
}

// add adds a message, or puts it in the place of the one with its id. What the other was made from
// is a source of this one too: nobody gets rid of a label by saying the same again.
func (f *folder) add(m model.Message) {
	if i, ok := f.place[m.ID]; ok && m.ID != "" {
		m.Labels = union(f.list[i].Labels, m.Labels)
		f.list[i] = m
		return
	}
	if m.ID != "" {
		if f.place == nil {
			f.place = map[string]int{}
		}
		f.place[m.ID] = len(f.list)
	}
	f.list = append(f.list, m)
}

func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, label := range b {
		if !slices.Contains(all, label) {
			all = append(all, label)
		}
	}
	return all
}

func (f *folder) messages() []model.Message {
	if f.gone == 0 {
		return f.list
	}
	return slices.DeleteFunc(f.list, func(m model.Message) bool { return m.Role == "" })
}

// Tree is all the writes of a thread.
type Tree struct {
	Writes []Write // by Seq; a parent comes before those that follow it
	Head   int     // the write at which the thread stands; Root: before the first
	Floor  int     // what is before this write is not looked back at
}

// at is the place of a write in Writes.
func (t Tree) at(seq int) (int, bool) {
	if seq >= 0 && seq < len(t.Writes) && t.Writes[seq].Seq == seq {
		return seq, true // there are no gaps before it, which is how it mostly is
	}
	return slices.BinarySearchFunc(t.Writes, seq, func(w Write, seq int) int { return w.Seq - seq })
}

// Path are the writes from the first to one of them.
func (t Tree) Path(to int) []Write {
	var path []Write
	for i, ok := t.at(to); ok; i, ok = t.at(t.Writes[i].Parent) {
		path = append(path, t.Writes[i])
	}
	slices.Reverse(path)
	return path
}

// State is the state at a write.
func (t Tree) State(at int) State { return Fold(t.Path(at)) }
