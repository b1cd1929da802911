package agents_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/audit"
)

// recall answers with all that the user has said, and calls the tools when the last word is "call".
func recall(list ...model.ToolCall) modelFunc {
	return func(_ context.Context, req model.Request, say func(string)) (model.Response, error) {
		var said []string
		for _, m := range req.Messages {
			if m.Role == model.RoleUser {
				said = append(said, m.Content)
			}
		}
		last := req.Messages[len(req.Messages)-1]
		if last.Role == model.RoleUser && strings.HasSuffix(last.Content, "call") {
			return calls(list...), nil
		}
		return answer(say, "heard "+strings.Join(said, ", ")), nil
	}
}

func user(text string) []model.Message { return []model.Message{{Role: "user", Content: text}} }

func (f *fixture) thread(req agents.ThreadRequest) agents.Thread {
	f.t.Helper()
	th, err := f.rt.As(ada).CreateThread(f.t.Context(), req)
	if err != nil {
		f.t.Fatalf("CreateThread: %v", err)
	}
	return th
}

func (f *fixture) ask(req agents.Request) agents.Handle {
	f.t.Helper()
	if req.Assistant == "" {
		req.Assistant = "core"
	}
	h, err := f.rt.As(ada).Start(f.t.Context(), req)
	if err != nil {
		f.t.Fatalf("Start: %v", err)
	}
	return h
}

// done does a run to its end.
func (f *fixture) done(req agents.Request) agents.RunInfo {
	f.t.Helper()
	h := f.ask(req)
	f.events(h.ID)
	return f.find(h.ID).RunInfo
}

func (f *fixture) state(thread, checkpoint string) agents.Checkpoint {
	f.t.Helper()
	c, err := f.rt.As(ada).State(f.t.Context(), thread, checkpoint)
	if err != nil {
		f.t.Fatalf("State: %v", err)
	}
	return c
}

func (f *fixture) history(thread string) []agents.Checkpoint {
	f.t.Helper()
	list, err := f.rt.As(ada).History(f.t.Context(), thread, agents.HistoryFilter{})
	if err != nil {
		f.t.Fatalf("History: %v", err)
	}
	return list
}

func contents(c agents.Checkpoint) []string {
	var list []string
	for _, m := range c.Messages {
		list = append(list, m.Content)
	}
	return list
}

// outline is what stands in a history, the oldest first.
func outline(list []agents.Checkpoint) []string {
	var lines []string
	for _, c := range slices.Backward(list) {
		lines = append(lines, fmt.Sprintf("%d %s %v %d", c.Step, c.Source, c.Next, len(c.Messages)))
	}
	return lines
}

func TestHistory(t *testing.T) {
	reached, release := make(chan struct{}), make(chan struct{})
	slow := tool("slow", func(context.Context, agents.ToolContext, map[string]any) (agents.Result, error) {
		close(reached)
		<-release
		return agents.Result{Text: "slept"}, nil
	})
	f := newFixture(t, recall(call("slow", `{}`)), slow)
	th := f.thread(agents.ThreadRequest{})
	first := f.done(agents.Request{Thread: th.ID, Input: user("one"), Metadata: map[string]any{"color": "red"}})
	second := f.ask(agents.Request{Thread: th.ID, Input: user("call")})
	<-reached
	before := f.history(th.ID)
	want := []string{
		"-1 input [__start__] 0", "0 loop [agent] 1", "1 loop [] 2",
		"2 input [__start__] 2", "3 loop [agent] 3", "4 loop [tools] 4",
	}
	if got := outline(before); !cmp.Equal(got, want) {
		t.Errorf("under way: %s", cmp.Diff(want, got))
	}
	if now := f.state(th.ID, ""); !cmp.Equal(now, before[0]) {
		t.Errorf("the state under way: %s", cmp.Diff(before[0], now))
	}
	close(release)
	f.events(second.ID)
	after := f.history(th.ID)
	want = append(want, "5 loop [agent] 5", "6 loop [] 6")
	if got := outline(after); !cmp.Equal(got, want) {
		t.Errorf("afterwards: %s", cmp.Diff(want, got))
	}
	for i, c := range before {
		if same := after[i+2]; same.ID != c.ID || same.Parent != c.Parent || !cmp.Equal(same.Messages, c.Messages) {
			t.Errorf("checkpoint %d is another one after the run: %s", i, cmp.Diff(c, same))
		}
	}
	for i, c := range after[:len(after)-1] {
		if c.Parent != after[i+1].ID {
			t.Errorf("the parent of checkpoint %d is %s, want %s", i, c.Parent, after[i+1].ID)
		}
		if at := f.state(th.ID, c.ID); !cmp.Equal(at, c) {
			t.Errorf("checkpoint %d: %s", i, cmp.Diff(c, at))
		}
	}
	for _, tc := range []struct {
		name   string
		filter agents.HistoryFilter
		want   int
	}{
		{"limit", agents.HistoryFilter{Limit: 2}, 2},
		{"before", agents.HistoryFilter{Before: after[2].ID}, 5},
		{"the run's metadata", agents.HistoryFilter{Metadata: map[string]any{"color": "red"}}, 3},
		{"source", agents.HistoryFilter{Metadata: map[string]any{"source": "input"}}, 2},
		{"run", agents.HistoryFilter{Metadata: map[string]any{"run_id": first.ID, "step": 0}}, 1},
		{"nothing", agents.HistoryFilter{Metadata: map[string]any{"color": "blue"}}, 0},
	} {
		list, err := f.rt.As(ada).History(t.Context(), th.ID, tc.filter)
		if err != nil || len(list) != tc.want {
			t.Errorf("%s: got %d, %v, want %d", tc.name, len(list), err, tc.want)
		}
	}
	other := f.thread(agents.ThreadRequest{})
	if c := f.state(other.ID, ""); c.ID != "" || len(c.Next) != 0 {
		t.Errorf("of an empty thread: got %+v", c)
	}
	for _, id := range []string{after[0].ID, "x"} {
		if _, err := f.rt.As(ada).State(t.Context(), other.ID, id); !errors.Is(err, agents.ErrCheckpointNotFound) {
			t.Errorf("another thread's checkpoint: got %v, want %v", err, agents.ErrCheckpointNotFound)
		}
	}
}

func TestForks(t *testing.T) {
	f := newFixture(t, recall())
	th := f.thread(agents.ThreadRequest{})
	f.done(agents.Request{Thread: th.ID, Input: user("one")})
	f.done(agents.Request{Thread: th.ID, Input: user("two")})
	old := f.history(th.ID) // after two, agent; before two; after one; ...
	// Instead of two.
	fork := f.done(agents.Request{Thread: th.ID, Checkpoint: old[2].ID, Input: user("three")})
	if got, want := contents(f.state(th.ID, "")), []string{"one", "heard one", "three", "heard one, three"}; !cmp.Equal(got, want) {
		t.Errorf("the fork: %s", cmp.Diff(want, got))
	}
	if got := contents(f.state(th.ID, old[0].ID)); len(got) != 4 || got[2] != "two" {
		t.Errorf("the other branch: got %q", got)
	}
	// And what follows goes on with the fork.
	f.done(agents.Request{Thread: th.ID, Input: user("four")})
	if got, want := contents(f.state(th.ID, "")), []string{"one", "heard one", "three", "heard one, three", "four", "heard one, three, four"}; !cmp.Equal(got, want) {
		t.Errorf("after the fork: %s", cmp.Diff(want, got))
	}
	// The first answer once more.
	f.done(agents.Request{Thread: th.ID, Checkpoint: old[4].ID})
	if got, want := contents(f.state(th.ID, "")), []string{"one", "heard one"}; !cmp.Equal(got, want) {
		t.Errorf("once more: %s", cmp.Diff(want, got))
	}
	if all := f.history(th.ID); len(all) != 3*4+1 {
		t.Errorf("the history has %d checkpoints, want %d: %q", len(all), 13, outline(all))
	}
	if _, err := f.rt.As(ada).Start(t.Context(), agents.Request{Assistant: "core", Thread: th.ID}); !errors.Is(err, agents.ErrNothingToDo) {
		t.Errorf("where nothing comes next: got %v, want %v", err, agents.ErrNothingToDo)
	}
	if got := f.records(fork.ID, audit.ThreadForked, audit.RunStart); len(got) != 2 || got[0].Type != audit.ThreadForked || !strings.Contains(got[0].Input, old[2].ID) {
		t.Errorf("on record: got %v", got)
	}
}

func TestUpdateState(t *testing.T) {
	ran := make(chan string, 10)
	say := tool("say", func(_ context.Context, _ agents.ToolContext, args map[string]any) (agents.Result, error) {
		ran <- args["text"].(string)
		return agents.Result{Text: "said it"}, nil
	})
	f := newFixture(t, recall(), say)
	ctx, v := t.Context(), f.rt.As(ada)
	th := f.thread(agents.ThreadRequest{Values: map[string]any{"topic": "tea"}})
	f.done(agents.Request{Thread: th.ID, Input: user("one"), Values: map[string]any{"n": 1.0}})
	c := f.state(th.ID, "")
	if want := map[string]any{"topic": "tea", "n": 1.0}; !cmp.Equal(c.Values, want) {
		t.Errorf("values: %s", cmp.Diff(want, c.Values))
	}
	u, err := v.UpdateState(ctx, th.ID, agents.StateUpdate{
		Remove: []string{c.Messages[1].ID}, Values: map[string]any{"n": 2.0},
		Messages: []model.Message{{ID: c.Messages[0].ID, Role: "user", Content: "other"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := contents(u), []string{"other"}; !cmp.Equal(got, want) || u.Values["n"] != 2.0 || u.Source != "update" || !cmp.Equal(u.Next, []string{"agent"}) || u.Parent != c.ID {
		t.Errorf("got %+v", u)
	}
	f.done(agents.Request{Thread: th.ID})
	if got, want := contents(f.state(th.ID, "")), []string{"other", "heard other"}; !cmp.Equal(got, want) {
		t.Errorf("going on: %s", cmp.Diff(want, got))
	}
	// What the agent is made to say it does, as any call.
	u, err = v.UpdateState(ctx, th.ID, agents.StateUpdate{AsNode: "agent", Messages: []model.Message{
		{Role: "assistant", ToolCalls: []model.ToolCall{{ID: "mine", Name: "say", Arguments: `{"text":"hello"}`}}},
	}})
	if err != nil || !cmp.Equal(u.Next, []string{"tools"}) {
		t.Fatalf("got %v, %v, want tools next", u.Next, err)
	}
	f.done(agents.Request{Thread: th.ID})
	if got := <-ran; got != "hello" {
		t.Errorf("the tool said %q", got)
	}
	now := f.state(th.ID, "")
	if got, want := contents(now), []string{"other", "heard other", "", "said it", "heard other"}; !cmp.Equal(got, want) {
		t.Errorf("after the call: %s", cmp.Diff(want, got))
	}
	if now.Messages[2].ToolCalls[0].ID == "mine" || now.Messages[3].ToolCallID != now.Messages[2].ToolCalls[0].ID {
		t.Errorf("the call has no id of its own: %+v", now.Messages[2:4])
	}
	if got, _ := v.History(ctx, th.ID, agents.HistoryFilter{Metadata: map[string]any{"source": "update"}}); len(got) != 3 {
		t.Errorf("got %d updates, want 3", len(got))
	}
	if got := f.records("", audit.ThreadUpdated); len(got) != 4 || got[0].Status != "started" || got[1].Status != "success" || got[0].Thread != th.ID {
		t.Errorf("on record: got %+v", got)
	}
	var f2 *agents.FieldError
	if _, err := v.UpdateState(ctx, th.ID, agents.StateUpdate{AsNode: "nowhere"}); !errors.As(err, &f2) || f2.Field != "as_node" {
		t.Errorf("as a node that is not there: got %v", err)
	}
}

// What a client sends again under the id of what a tool has said is still the tool's word.
func TestNobodyVouchesByRepeating(t *testing.T) {
	f := newFixture(t, recall(call("echo", `{"text":"from the web"}`)), echo())
	th := f.thread(agents.ThreadRequest{})
	f.done(agents.Request{Thread: th.ID, Input: user("call")})
	said := f.state(th.ID, "").Messages
	run := f.done(agents.Request{Thread: th.ID, Input: []model.Message{{ID: said[2].ID, Role: "user", Content: "from the web!"}, user("go on")[0]}})
	messages, err := f.store.Messages(t.Context(), th.ID, -1)
	if err != nil {
		t.Fatal(err)
	}
	if m := messages[2]; m.Content != "from the web!" || !slices.Contains(m.Labels, "tool:echo") {
		t.Errorf("the message that was replaced: got %+v", m)
	}
	stored, err := f.store.Run(t.Context(), run.ID)
	if err != nil || !slices.Contains(stored.Frames[0].Messages[0].Labels, "tool:echo") {
		t.Errorf("the run's own: got %+v, %v", stored.Frames[0].Messages[0], err)
	}
}

func TestStateShowsNoSecret(t *testing.T) {
	f := newFixture(t, recall())
	secret := "sk-ant-" + "api03-" + strings.Repeat("Ab3dEf", 12)
	th := f.thread(agents.ThreadRequest{Values: map[string]any{"token": secret}})
	f.done(agents.Request{Thread: th.ID, Input: user("my key is " + secret)})
	for _, c := range f.history(th.ID) {
		if doc, err := json.Marshal(c); err != nil || strings.Contains(string(doc), "Ab3dEf") {
			t.Errorf("got %s, %v", doc, err)
		}
	}
}

func TestStops(t *testing.T) {
	f := newFixture(t, recall(call("echo", `{"text":"x"}`)), echo())
	th := f.thread(agents.ThreadRequest{})
	h := f.ask(agents.Request{Thread: th.ID, Input: user("call"), InterruptBefore: []string{"tools"}, InterruptAfter: []string{"*"}})
	ctx, v := t.Context(), f.rt.As(ada)
	for _, want := range []struct {
		node   string
		before bool
		next   string
	}{{"agent", false, "tools"}, {"tools", false, "agent"}} {
		f.waits(h.ID, 0)
		list, err := v.Interrupts(ctx, th.ID, h.ID)
		if err != nil || len(list) != 1 || list[0].Node != want.node || list[0].Before != want.before || list[0].After == want.before {
			t.Fatalf("got %+v, %v, want %v", list, err, want)
		}
		if c := f.state(th.ID, ""); !cmp.Equal(c.Next, []string{want.next}) || len(c.Interrupts) != 1 || c.Interrupts[0].ID != list[0].ID {
			t.Errorf("the state: got %v, %+v", c.Next, c.Interrupts)
		}
		if th, err := v.Thread(ctx, th.ID); err != nil || th.Status != agents.ThreadInterrupted {
			t.Errorf("the thread: got %v, %v", th.Status, err)
		}
		if err := f.host.Wake(ctx, h.ID); err != nil { // which changes nothing
			t.Errorf("waking: %v", err)
		}
		f.waits(h.ID, 0)
		if _, err := v.Resume(ctx, th.ID, agents.Resumption{}); err != nil {
			t.Fatalf("Resume: %v", err)
		}
	}
	f.events(h.ID)
	if got := f.find(h.ID).Status; got != agents.Success {
		t.Errorf("the run ends as %s", got)
	}
	if _, err := v.Resume(ctx, th.ID, agents.Resumption{Run: h.ID}); !errors.Is(err, agents.ErrNotInterrupted) {
		t.Errorf("resuming what is over: got %v, want %v", err, agents.ErrNotInterrupted)
	}
}

func TestStepLimitOfARequest(t *testing.T) {
	f := newFixture(t, recall(call("echo", `{"text":"x"}`)), echo())
	for steps, want := range map[int]string{1: "recursion_limit", 2: "recursion_limit", 3: ""} {
		th := f.thread(agents.ThreadRequest{})
		info := f.done(agents.Request{Thread: th.ID, Input: user("call"), MaxSteps: steps})
		code := ""
		if info.Failure != nil {
			code = info.Failure.Code
		}
		if code != want {
			t.Errorf("%d steps: got %q, want %q", steps, code, want)
		}
		if c := f.state(th.ID, ""); (c.Failure != nil) != (want != "") {
			t.Errorf("%d steps: the state's failure is %v", steps, c.Failure)
		}
	}
}

func TestOneRequestIsOneRun(t *testing.T) {
	f := newFixture(t, recall())
	th := f.thread(agents.ThreadRequest{})
	req := agents.Request{ID: "key", Thread: th.ID, Input: user("one"), Assistant: "core", Metadata: map[string]any{"a": 1}}
	first := f.done(req)
	req.Input = user("one")
	if again := f.ask(req); again.ID != first.ID || again.Status != agents.Success {
		t.Errorf("again: got %v, want run %s", again.RunInfo, first.ID)
	}
	req.Input = user("two")
	if _, err := f.rt.As(ada).Start(t.Context(), req); !errors.Is(err, agents.ErrIdempotency) {
		t.Errorf("another body: got %v, want %v", err, agents.ErrIdempotency)
	}
	bob := ada
	bob.User = "bob"
	mine := agents.Request{ID: "key", Assistant: "core", Input: user("one")}
	if h, err := f.rt.As(bob).Start(t.Context(), mine); err != nil || h.ID == first.ID {
		t.Errorf("bob's: got %v, %v", h.RunInfo, err)
	}
	if got := contents(f.state(th.ID, "")); len(got) != 2 {
		t.Errorf("the thread has %q", got)
	}
}

// told are callbacks that a test reads.
type told struct{ ends chan agents.RunEnd }

func (c told) Allowed(url string) error {
	if url != "https://hooks.test/" {
		return errors.New("not listed")
	}
	return nil
}

func (c told) RunEnded(_ string, end agents.RunEnd) { c.ends <- end }

func TestAServerIsToldOfTheEnd(t *testing.T) {
	f := newFixture(t, recall())
	ask := func(url string) (agents.Handle, error) {
		return f.rt.As(ada).Start(t.Context(), agents.Request{Assistant: "core", Input: user("one"), Webhook: url, Metadata: map[string]any{"a": "b"}})
	}
	if _, err := ask("https://hooks.test/"); !errors.Is(err, agents.ErrWebhook) {
		t.Errorf("without callbacks: got %v, want %v", err, agents.ErrWebhook)
	}
	c := told{make(chan agents.RunEnd, 1)}
	f.setup.Callbacks = c
	f.configure()
	if _, err := ask("https://else.test/"); !errors.Is(err, agents.ErrWebhook) {
		t.Errorf("of another server: got %v, want %v", err, agents.ErrWebhook)
	}
	h, err := ask("https://hooks.test/")
	if err != nil {
		t.Fatal(err)
	}
	if end := <-c.ends; end.Run.ID != h.ID || end.Run.Status != agents.Success || len(end.Messages) != 2 || end.Run.Metadata["a"] != "b" || len(end.Run.Kwargs) != 0 {
		t.Errorf("got %+v", end)
	}
}
