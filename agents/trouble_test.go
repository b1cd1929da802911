package agents_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/state"
	"github.com/svc-gateway/svc/audit"
)

// unlucky is a store of which a test makes single methods fail or wait.
type unlucky struct {
	agents.Store
	created  func()           // called when a run was created
	parked   func(run string) // called when a run was saved as one that waits
	failures atomic.Int32     // how many more FinishRuns fail
	append   chan struct{}    // nil, or what AppendEvents waits for
}

func (u *unlucky) SuspendRun(ctx context.Context, r *agents.Run) error {
	err := u.Store.SuspendRun(ctx, r)
	if u.parked != nil {
		u.parked(r.ID)
	}
	return err
}

func (u *unlucky) CreateRun(ctx context.Context, r *agents.Run, in []model.Message, fresh *agents.Thread) error {
	err := u.Store.CreateRun(ctx, r, in, fresh)
	if u.created != nil {
		u.created()
	}
	return err
}

func (u *unlucky) FinishRun(ctx context.Context, r *agents.Run, m []model.Message, e []eventlog.Event) error {
	if u.failures.Add(-1) >= 0 {
		return errBroken
	}
	return u.Store.FinishRun(ctx, r, m, e)
}

func (u *unlucky) AppendEvents(ctx context.Context, run string, e []eventlog.Event) error {
	if u.append != nil {
		<-u.append
	}
	return u.Store.AppendEvents(ctx, run, e)
}

// on replaces the fixture's host by one on an unlucky store.
func (f *fixture) on(u *unlucky) {
	f.t.Helper()
	store, err := state.Open(f.t.Context(), filepath.Join(f.t.TempDir(), "state.db"))
	if err != nil {
		f.t.Fatal(err)
	}
	u.Store, f.store = store, store
	f.host = agents.Open(agents.HostConfig{Store: u, Audit: f.audit, Identity: f.users, Bus: f.bus, Node: "node", Log: zap.NewNop()})
	f.t.Cleanup(func() { f.host.Close() })
	f.configure()
}

func fine() modelFunc {
	return func(_ context.Context, _ model.Request, say func(string)) (model.Response, error) {
		return answer(say, "fine"), nil
	}
}

func TestAnEndThatCannotBeSavedIsSavedLater(t *testing.T) {
	f := newFixture(t, fine())
	u := &unlucky{}
	u.failures.Store(2)
	f.on(u)
	run, events := f.run("quick", "hi")
	if run.Status != agents.Success || text(events) != "fine" {
		t.Errorf("got %s, %q", run.Status, text(events))
	}
	f.events(f.start("quick", run.Thread, "the thread is free").ID)
	if ends := f.records(run.ID, audit.RunEnd); len(ends) != 1 {
		t.Errorf("got %d records of the end, want 1", len(ends))
	}
}

func TestARunGoesOnWhenItsClientLeavesAtOnce(t *testing.T) {
	f := newFixture(t, fine())
	ctx, leave := context.WithCancel(t.Context())
	f.on(&unlucky{created: leave})
	run, err := f.rt.As(ada).Start(ctx, agents.Request{Assistant: "quick", Input: []model.Message{{Role: "user", Content: "hi"}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := text(f.events(run.ID)); got != "fine" {
		t.Errorf("got %q, want the answer", got)
	}
	if n := len(f.records(run.ID, audit.RunStart, audit.RunEnd)); n != 2 {
		t.Errorf("got %d records of start and end, want 2", n)
	}
}

func TestEventsThatComeDuringASaveAreSavedToo(t *testing.T) {
	u := &unlucky{append: make(chan struct{})}
	hold := make(chan struct{})
	f := newFixture(t, modelFunc(func(_ context.Context, _ model.Request, say func(string)) (model.Response, error) {
		say("one two three four. ")
		u.append <- struct{}{} // a save has begun and goes on
		say("five six seven eight. ")
		close(u.append)
		<-hold
		return answer(say, "end"), nil
	}))
	f.on(u)
	run := f.start("quick", "", "hi")
	deadline := time.Now().Add(10 * time.Second)
	for stored := 0; stored < 2; {
		events, err := u.Events(t.Context(), run.ID, 0, 100)
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("the store has %d events after ten seconds: %v", len(events), err)
		}
		stored = len(events)
	}
	close(hold)
	f.events(run.ID)
}

// TestCancelIsTrue cancels runs at every moment: who was told that a run is cancelled finds it
// cancelled, who was told that it is over finds that it had another end, and no record is missing.
func TestCancelIsTrue(t *testing.T) {
	const width = 15
	var list []model.ToolCall
	for range width {
		list = append(list, call("echo", `{"text":"x"}`))
	}
	f := newFixture(t, callThenAnswer(list...), echo())
	accepted, over := 0, 0
	for i := range 80 {
		run := f.start("core", "", "go")
		seen := 0
		for events, err := range run.Follow(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if seen += len(events); seen >= i/2 {
				break
			}
		}
		want := agents.Cancelled
		switch err := run.Cancel(t.Context()); {
		case err == nil:
			accepted++
		case errors.Is(err, agents.ErrOver):
			over++
			want = agents.Success
		default:
			t.Fatalf("Cancel: %v", err)
		}
		events := f.events(run.ID)
		if last := events[len(events)-1].Status; last != string(want) {
			t.Errorf("cancelled after %d events: got %s, want %s", seen, last, want)
		}
		if stored := f.find(run.ID).Status; stored != want {
			t.Errorf("the store says %s, want %s", stored, want)
		}
		told, recorded := 0, len(f.records(run.ID, audit.ToolStart, audit.ToolDenied))
		for _, e := range events {
			if e.Type == eventlog.ToolUse {
				told++
			}
		}
		if told != recorded {
			t.Errorf("%d calls are told of, %d recorded", told, recorded)
		}
		if ends := len(f.records(run.ID, audit.ToolEnd, audit.ToolError, audit.ToolDenied)); ends != recorded {
			t.Errorf("%d calls have an outcome, %d an intent", ends, recorded)
		}
	}
	if accepted == 0 || over == 0 {
		t.Errorf("got %d accepted and %d over: the moments do not differ", accepted, over)
	}
}

// TestRecoveryLeavesLiveRunsAlone is what a reload does while runs come and go.
func TestRecoveryLeavesLiveRunsAlone(t *testing.T) {
	f := newFixture(t, fine())
	var runs sync.Map
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 20 {
				run := f.start("quick", "", "hi")
				f.events(run.ID)
				runs.Store(run.ID, true)
			}
		})
	}
	over := make(chan struct{})
	go func() { group.Wait(); close(over) }()
	for live := true; live; {
		if err := f.host.Recover(t.Context()); err != nil {
			t.Errorf("Recover: %v", err)
		}
		select {
		case <-over:
			live = false
		default:
		}
	}
	runs.Range(func(id, _ any) bool {
		if ends := f.records(id.(string), audit.RunEnd); len(ends) != 1 || ends[0].Status != "success" {
			t.Errorf("run %s: got %d ends, %+v", id, len(ends), ends)
		}
		return true
	})
}

func TestAModelCannotFanOutWithoutBound(t *testing.T) {
	var turns, at, most atomic.Int32
	spread := func(n int) modelFunc {
		return func(_ context.Context, req model.Request, say func(string)) (model.Response, error) {
			turns.Add(1)
			now := at.Add(1)
			for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
			}
			defer at.Add(-1)
			if req.Agent != agents.Default {
				return answer(say, "looked"), nil
			}
			var list []model.ToolCall
			for range n {
				list = append(list, call("delegate", `{"agent":"core","task":"look"}`))
			}
			return calls(list...), nil
		}
	}
	f := newFixture(t, spread(50))
	run, _ := f.run("", "go")
	if run.Failure == nil || run.Failure.Code != "step_limit" || int(turns.Load()) > f.setup.Limits.Steps {
		t.Errorf("got %v after %d turns, want step_limit after %d at most", run.Failure, turns.Load(), f.setup.Limits.Steps)
	}
	if most.Load() > int32(f.setup.Limits.ParallelCalls) {
		t.Errorf("%d turns at once, want %d at most", most.Load(), f.setup.Limits.ParallelCalls)
	}
	f.setup.Model = spread(500)
	f.configure()
	if run, _ := f.run("", "go"); run.Failure == nil || run.Failure.Code != "model_bad_response" || !strings.Contains(run.Failure.Message, "the model") {
		t.Errorf("500 calls in one message: got %v, want model_bad_response", run.Failure)
	}
}

func TestLabelsStayOverDelegationsAndTurns(t *testing.T) {
	f := newFixture(t, modelFunc(func(_ context.Context, req model.Request, say func(string)) (model.Response, error) {
		last := req.Messages[len(req.Messages)-1]
		switch {
		case last.Role == model.RoleTool:
			return answer(say, "it is "+last.Content), nil
		case req.Agent == "core":
			return calls(call("echo", `{"text":"42"}`)), nil
		case strings.HasPrefix(last.Content, "again"):
			return answer(say, "still 42"), nil
		}
		return calls(call("delegate", `{"agent":"core","task":"look"}`)), nil
	}), echo())
	run, _ := f.run("", "what is it?")
	f.events(f.start("", run.Thread, "again").ID)
	messages, err := f.store.Messages(t.Context(), run.Thread, -1)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{3, len(messages) - 1} {
		if labels := strings.Join(messages[n].Labels, " "); !strings.Contains(labels, "tool:echo") {
			t.Errorf("message %d, %q: labels %s, want the tool that the sub-agent used among them", n, messages[n].Content, labels)
		}
	}
}

func TestNoCredentialInTheNameOfATool(t *testing.T) {
	f := newFixture(t, callThenAnswer(call("password=hunter2hunter2", "{}")))
	_, events := f.run("core", "go")
	for _, e := range events {
		if strings.Contains(e.Name, "hunter2") {
			t.Errorf("event %d names the tool %q", e.Seq, e.Name)
		}
	}
}
