package agents_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/audit"
)

// heldAt is a run that waits for leave to erase, beside a call that was made.
func heldAt(t *testing.T) (f *fixture, l *leaves, ran chan string, run agents.Handle) {
	t.Helper()
	f, l, ran = newHeld(t, call("echo", `{"text":"made"}`), danger(erase))
	run = f.start("core", "", "go")
	f.waits(run.ID, 1)
	return f, l, ran, run
}

func (f *fixture) update(thread string, u agents.StateUpdate) agents.Checkpoint {
	f.t.Helper()
	c, err := f.rt.As(ada).UpdateState(f.t.Context(), thread, u)
	if err != nil {
		f.t.Fatalf("UpdateState: %v", err)
	}
	return c
}

// What a run waits for comes next after an edit, as another call, for which the old leave counts nothing. A call that was
// made is not made again.
func TestEditOfAThreadThatWaits(t *testing.T) {
	f, l, ran, run := heldAt(t)
	before := f.state(run.Thread, "")
	c := f.update(run.Thread, agents.StateUpdate{Values: map[string]any{"colour": "red"}})
	if c.Values["colour"] != "red" || !cmp.Equal(c.Next, []string{"tools"}) || len(c.Interrupts) != 0 || c.Parent != before.ID {
		t.Errorf("got %+v", c)
	}
	if got := contents(c); !cmp.Equal(got, []string{"go", "", "made"}) {
		t.Errorf("messages: got %q", got)
	}
	if got := f.find(run.ID); got.Status != agents.Cancelled || got.Failure == nil {
		t.Errorf("the run: got %+v", got.RunInfo)
	}
	if got := f.calledStatus(run.ID); !strings.Contains(got, "tool.wait waiting") || !strings.HasSuffix(got, "tool.error cancelled") {
		t.Errorf("on record: got %s", got)
	}
	if got := f.records(run.ID, audit.ThreadUpdated); len(got) != 2 || got[1].Status != "success" {
		t.Errorf("on record: got %v", got)
	}
	f.wake(run.ID) // which changes nothing

	next := f.ask(agents.Request{Thread: run.Thread})
	again := f.waits(next.ID, 1)
	if len(ran) != 0 || l.asked[erase] != 2 {
		t.Errorf("%d calls were made, leave was asked for %d times, want none and 2", len(ran), l.asked[erase])
	}
	if got := again.Frames[0].Calls; len(got) != 1 || got[0].ID == before.Messages[1].ToolCalls[1].ID {
		t.Errorf("the call is the old one: %+v", got)
	}
	l.give(erase, agents.LeaveGranted, "by eve")
	f.wake(next.ID)
	f.events(next.ID)
	if got := <-ran; got != erase {
		t.Errorf("got %q", got)
	}
}

func TestEditsOfCallsThatWait(t *testing.T) {
	replaced := func(text string) func(agents.Checkpoint) agents.StateUpdate {
		return func(c agents.Checkpoint) agents.StateUpdate {
			m := c.Messages[1]
			m.ToolCalls = slices.Clone(m.ToolCalls)
			m.ToolCalls[1].Arguments = strings.Replace(m.ToolCalls[1].Arguments, erase, text, 1)
			return agents.StateUpdate{Messages: []model.Message{m}}
		}
	}
	for _, tc := range []struct {
		name string
		edit func(agents.Checkpoint) agents.StateUpdate
		next []string
		said []string
	}{
		{"another call", replaced(reboot), []string{"tools"}, []string{"go", "", "made"}},
		{"words", func(agents.Checkpoint) agents.StateUpdate {
			return agents.StateUpdate{Messages: user("rather not")}
		}, []string{"agent"}, []string{"go", "", "made", "cancelled: command: the call was cancelled", "rather not"}},
		{"a result", func(c agents.Checkpoint) agents.StateUpdate {
			return agents.StateUpdate{Messages: []model.Message{{Role: model.RoleTool, ToolCallID: c.Messages[1].ToolCalls[1].ID, Name: "command", Content: "no need"}}}
		}, []string{"agent"}, []string{"go", "", "made", "no need"}},
		{"an end", func(agents.Checkpoint) agents.StateUpdate { return agents.StateUpdate{AsNode: "__end__"} }, []string{}, []string{"go", "", "made"}},
		{"nothing left", func(agents.Checkpoint) agents.StateUpdate { return agents.StateUpdate{RemoveAll: true} }, []string{}, nil},
		{"at the checkpoint where it stands", func(c agents.Checkpoint) agents.StateUpdate {
			return agents.StateUpdate{Checkpoint: c.ID, Values: map[string]any{"n": 1.0}}
		}, []string{"tools"}, []string{"go", "", "made"}},
		{"at an earlier checkpoint", func(c agents.Checkpoint) agents.StateUpdate {
			return agents.StateUpdate{Checkpoint: c.Parent, Messages: user("instead")}
		}, []string{"agent"}, []string{"go", "instead"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, l, ran, run := heldAt(t)
			c := f.update(run.Thread, tc.edit(f.state(run.Thread, "")))
			if got := contents(c); !slices.Equal(got, tc.said) || !cmp.Equal(c.Next, tc.next) {
				t.Errorf("got %q, next %v, want %q, %v", got, c.Next, tc.said, tc.next)
			}
			if got := f.state(run.Thread, ""); !cmp.Equal(got, c) {
				t.Errorf("the state now: %s", cmp.Diff(c, got))
			}
			l.give(erase, agents.LeaveGranted, "by eve, for what she saw")
			f.wake(run.ID)
			if tc.name == "another call" {
				next := f.ask(agents.Request{Thread: run.Thread})
				f.waits(next.ID, 1)
				if l.asked[reboot] != 1 {
					t.Error("nobody was asked for the other call")
				}
			}
			if len(ran) != 0 {
				t.Errorf("%s was made", <-ran)
			}
		})
	}
}

// An edit that cannot be made leaves the run as it is.
func TestEditsThatAreRefused(t *testing.T) {
	f, _, _, run := heldAt(t)
	ctx, v := t.Context(), f.rt.As(ada)
	before := f.state(run.Thread, "")
	for _, tc := range []struct {
		name   string
		update agents.StateUpdate
		want   error
	}{
		{"values that are too large", agents.StateUpdate{Values: map[string]any{"x": strings.Repeat("x", 2<<20)}}, agents.ErrValuesTooLarge},
		{"a checkpoint that is not there", agents.StateUpdate{Checkpoint: "x"}, agents.ErrCheckpointNotFound},
	} {
		if _, err := v.UpdateState(ctx, run.Thread, tc.update); !errors.Is(err, tc.want) {
			t.Errorf("%s: got %v, want %v", tc.name, err, tc.want)
		}
	}
	queued, err := v.Start(ctx, agents.Request{Assistant: "core", Thread: run.Thread, Input: user("later"), Multitask: agents.MultitaskEnqueue})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.UpdateState(ctx, run.Thread, agents.StateUpdate{}); !errors.Is(err, agents.ErrBusy) {
		t.Errorf("while another run waits for the thread: got %v, want %v", err, agents.ErrBusy)
	}
	if err := queued.Cancel(ctx); err != nil {
		t.Fatal(err)
	}
	if now := f.state(run.Thread, ""); !cmp.Equal(now, before) {
		t.Errorf("the state is another one: %s", cmp.Diff(before, now))
	}
	f.waits(run.ID, 1)
}

// Of a decision and an edit at the same time one counts: either the call is made and the edit refused, or the edit is made
// and the call is not.
func TestEditsAndLeaveRace(t *testing.T) {
	for range 6 {
		f, l, ran, run := heldAt(t)
		l.give(erase, agents.LeaveGranted, "by eve")
		woken := make(chan error, 1)
		go func() { woken <- f.host.Wake(t.Context(), run.ID) }()
		_, err := f.rt.As(ada).UpdateState(t.Context(), run.Thread, agents.StateUpdate{Values: map[string]any{"n": 1.0}})
		if err != nil && !errors.Is(err, agents.ErrBusy) {
			t.Fatalf("UpdateState: %v", err)
		}
		if err := <-woken; err != nil {
			t.Fatalf("Wake: %v", err)
		}
		f.events(run.ID)
		made := len(ran) == 1
		if edited := err == nil; made == edited {
			t.Fatalf("made: %t, edited: %t (%v)", made, edited, err)
		}
	}
}

// An edit at a stop is what the continuation acts on.
func TestEditAtAStop(t *testing.T) {
	f := newFixture(t, recall(call("echo", `{"text":"x"}`)), echo())
	th := f.thread(agents.ThreadRequest{})
	h := f.ask(agents.Request{Thread: th.ID, Input: user("call"), InterruptBefore: []string{"tools"}})
	f.waits(h.ID, 0)
	m := f.state(th.ID, "").Messages[1]
	m.ToolCalls[0].Arguments = `{"text":"y"}`
	if c := f.update(th.ID, agents.StateUpdate{Messages: []model.Message{m}}); !cmp.Equal(c.Next, []string{"tools"}) {
		t.Errorf("next: got %v", c.Next)
	}
	f.done(agents.Request{Thread: th.ID})
	if got, want := contents(f.state(th.ID, "")), []string{"call", "", "y", "heard call"}; !cmp.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, err := f.store.Thread(t.Context(), th.ID); err != nil || got.Status != agents.ThreadIdle || time.Since(got.Updated) > time.Minute {
		t.Errorf("got %+v, %v", got, err)
	}
}

// Whoever writes calls into a thread has no more of them made at once than a model may ask for.
func TestTooManyCallsInAThread(t *testing.T) {
	f := newFixture(t, recall(call("echo", `{"text":"x"}`)), echo())
	th := f.thread(agents.ThreadRequest{})
	m := model.Message{Role: model.RoleAssistant}
	for i := range 65 {
		c := call("echo", `{"text":"x"}`)
		c.ID = fmt.Sprint("c", i)
		m.ToolCalls = append(m.ToolCalls, c)
	}
	f.update(th.ID, agents.StateUpdate{Messages: append(user("go"), m)})
	h := f.ask(agents.Request{Thread: th.ID})
	f.events(h.ID)
	if got := f.find(h.ID); got.Failure == nil || got.Failure.Code != "too_many_calls" || f.calledStatus(h.ID) != "" {
		t.Errorf("got %+v, on record %q", got.RunInfo, f.calledStatus(h.ID))
	}
}
