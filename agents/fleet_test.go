package agents_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/state"
	"github.com/svc-gateway/svc/audit"
)

// beside is another host on the fixture's files and bus, as another process would have it.
func (f *fixture) beside(node string) *fixture {
	f.t.Helper()
	other := *f
	var err error
	if other.store, err = state.Open(f.t.Context(), filepath.Join(f.dir, "state.db")); err != nil {
		f.t.Fatal(err)
	}
	other.host = agents.Open(agents.HostConfig{
		Store: other.store, Audit: f.audit, Identity: f.users, Bus: f.bus, Node: node, Log: zap.NewNop(),
	})
	f.t.Cleanup(func() { other.host.Close() })
	other.configure()
	return &other
}

func TestARunIsWatchedFromAnotherProcess(t *testing.T) {
	step := make(chan string)
	f := newFixture(t, modelFunc(func(_ context.Context, _ model.Request, say func(string)) (model.Response, error) {
		var all string
		for piece := range step {
			all += piece
			say(piece)
		}
		return model.Response{Message: model.Message{Content: all}, Model: "test"}, nil
	}))
	other := f.beside("other")
	run := f.start("quick", "", "go")
	seen := make(chan eventlog.Event, 100)
	go func() {
		defer close(seen)
		for events, err := range other.find(run.ID).Follow(t.Context(), 0) {
			if err != nil {
				t.Error(err)
			}
			for _, e := range events {
				seen <- e
			}
		}
	}()
	for _, piece := range []string{"one ", "two ", "three "} { // each is seen before there is another
		step <- piece
		if e := <-seen; e.Content != piece {
			t.Errorf("got %q, want %q", e.Content, piece)
		}
	}
	close(step)
	var last eventlog.Event
	for e := range seen {
		last = e
	}
	if last.Type != eventlog.Done {
		t.Errorf("the last event is %s, want done", last.Type)
	}
}

func TestARunIsCancelledFromAnotherProcess(t *testing.T) {
	started := make(chan struct{})
	f := newFixture(t, modelFunc(func(ctx context.Context, _ model.Request, _ func(string)) (model.Response, error) {
		close(started)
		<-ctx.Done()
		return model.Response{}, ctx.Err()
	}))
	other := f.beside("other")
	run := f.start("quick", "", "go")
	<-started
	if err := other.find(run.ID).Cancel(t.Context()); err != nil {
		t.Fatalf("Cancel: %v", err)
	}
	events := other.events(run.ID)
	if last := events[len(events)-1]; last.Status != string(agents.Cancelled) {
		t.Errorf("got %s, want cancelled", last.Status)
	}
	if err := other.find(run.ID).Cancel(t.Context()); !errors.Is(err, agents.ErrOver) {
		t.Errorf("once more: got %v, want %v", err, agents.ErrOver)
	}
}

func TestARunGoesOnInAnotherProcess(t *testing.T) {
	f, l, ran := newHeld(t, danger(erase))
	other := f.beside("other")
	run := f.start("core", "", "go")
	patient := make(chan []eventlog.Event, 1)
	go func() { patient <- f.events(run.ID) }()
	f.waits(run.ID, 1)
	l.give(erase, agents.LeaveGranted, "by eve")
	other.wake(run.ID)
	events := other.events(run.ID)
	if last := events[len(events)-1]; last.Status != "success" || len(ran) != 1 {
		t.Errorf("got %s, the tool ran %d times", last.Status, len(ran))
	}
	if got := <-patient; types(got) != types(events) {
		t.Errorf("the reader of the first process got %s, want %s", types(got), types(events))
	}
}

// desk is a desk on the fixture's host and store, in the place of its Holds.
func (f *fixture) desk() *approval.Desk {
	f.t.Helper()
	d := approval.Open(approval.DeskConfig{Store: f.store.(approval.Store), Runs: f.host, Audit: f.audit, Identity: f.users, Log: zap.NewNop()})
	f.t.Cleanup(d.Close)
	f.setup.Holds = d
	f.configure()
	f.t.Cleanup(d.Serve(approval.Config{}))
	return d
}

// TestApprovedOnAnotherNode starts a run on one node, watches it on a second and approves its two calls
// on a third, one while the other still works.
func TestApprovedOnAnotherNode(t *testing.T) {
	f, _, ran := newHeld(t, danger(erase), danger(reboot))
	second, third := f.beside("second"), f.beside("third")
	f.desk()
	second.desk()
	desk := third.desk()
	run := f.start("core", "", "go")
	watched := make(chan []eventlog.Event, 1)
	go func() { watched <- second.events(run.ID) }()
	f.waits(run.ID, 2)
	list, err := desk.Approvals(t.Context(), root, approval.Filter{Run: run.ID, Limit: 5})
	if err != nil || len(list) != 2 {
		t.Fatalf("got %d approvals, %v", len(list), err)
	}
	for i, decision := range []approval.Decision{approval.Approve, approval.Reject} {
		if _, err := desk.Decide(t.Context(), root, list[i].ID, approval.Verdict{Decision: decision, Digest: list[i].Digest}); err != nil {
			t.Fatal(err)
		}
	}
	events := f.events(run.ID)
	if last := events[len(events)-1]; last.Status != "success" || len(ran) != 1 {
		t.Errorf("got %s, the tool ran %d times", last.Status, len(ran))
	}
	if got := <-watched; types(got) != types(events) {
		t.Errorf("the second node saw %s, want %s", types(got), types(events))
	}
}

// TestParallelRunsAreCountedOverProcesses holds a user to one run at a time.
func TestParallelRunsAreCountedOverProcesses(t *testing.T) {
	release := make(chan struct{})
	f := newFixture(t, modelFunc(func(_ context.Context, _ model.Request, say func(string)) (model.Response, error) {
		<-release
		return answer(say, "ok"), nil
	}))
	f.setup.Limits.ParallelRuns = 1
	f.configure()
	other := f.beside("other")
	run := f.start("quick", "", "go")
	req := agents.Request{Assistant: "quick", Input: []model.Message{{Role: "user", Content: "x"}}}
	var limit *agents.LimitError
	if _, err := other.rt.As(ada).Start(t.Context(), req); !errors.As(err, &limit) || limit.Limit != "limits.parallel_runs" {
		t.Errorf("a second run in another process: got %v, want limits.parallel_runs", err)
	}
	close(release)
	f.events(run.ID)
	for deadline := time.Now().Add(10 * time.Second); ; {
		if _, err := other.rt.As(ada).Start(t.Context(), req); err == nil {
			return
		} else if time.Now().After(deadline) {
			t.Fatalf("after the first has ended: %v", err)
		}
	}
}

// TestWhoHasLostTheLeaseDoesNothing takes the lease away while a model thinks: the call that it then
// asks for is not made, and the run is the other's.
func TestWhoHasLostTheLeaseDoesNothing(t *testing.T) {
	ran := make(chan string, 1)
	thinking, release := make(chan struct{}), make(chan struct{})
	f := newFixture(t, modelFunc(func(context.Context, model.Request, func(string)) (model.Response, error) {
		close(thinking)
		<-release
		return calls(call("touch", "{}")), nil
	}), tool("touch", func(context.Context, agents.ToolContext, map[string]any) (agents.Result, error) {
		ran <- "touched"
		return agents.Result{}, nil
	}))
	other := f.beside("other")
	run := f.start("core", "", "go")
	<-thinking
	key := "run." + run.ID
	holder, err := f.bus.Holder(t.Context(), key)
	if err != nil || holder == "" {
		t.Fatalf("nobody has the run's lease: %q, %v", holder, err)
	}
	if err := f.bus.Release(t.Context(), key, holder); err != nil {
		t.Fatal(err)
	}
	if err := other.host.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	events := other.events(run.ID)
	if e := events[len(events)-2]; e.Code != "interrupted_by_restart" {
		t.Errorf("got %+v, want interrupted_by_restart", e)
	}
	close(release)
	if err := f.host.Close(); err != nil { // waits for the driver
		t.Fatal(err)
	}
	if len(ran) > 0 {
		t.Error("the tool ran although the run was another process's")
	}
	if starts, ends := f.records(run.ID, audit.ToolStart), f.records(run.ID, audit.RunEnd); len(starts) > 0 || len(ends) != 1 {
		t.Errorf("got %d records of calls and %d of the end, want none and one", len(starts), len(ends))
	}
	if got := other.events(run.ID); types(got) != types(events) {
		t.Errorf("the log changed from %s to %s", types(events), types(got))
	}
}

func nothing(context.Context, agents.ToolContext, map[string]any) (agents.Result, error) {
	return agents.Result{}, nil
}

// losing is a model that calls the tool touch once, and before that loses the run's lease to the next
// holder, if there is one.
func losing(f *fixture, next string) modelFunc {
	return func(ctx context.Context, r model.Request, say func(string)) (model.Response, error) {
		if len(r.Messages) > 1 {
			return answer(say, "touched it"), nil
		}
		runs, err := f.store.Runs(ctx, agents.RunFilter{Limit: 1})
		if err != nil {
			return model.Response{}, err
		}
		key := "run." + runs[0].ID
		holder, err := f.bus.Holder(ctx, key)
		if err == nil {
			err = f.bus.Release(ctx, key, holder)
		}
		if err == nil && next != "" {
			_, err = f.bus.Lease(ctx, key, next, time.Minute)
		}
		return calls(call("touch", "{}")), err
	}
}

// TestALostLeaseIsNoticedBeforeTheCall gives it to another process while a call waits to be made.
// That process does not touch the run, which therefore ends here.
func TestALostLeaseIsNoticedBeforeTheCall(t *testing.T) {
	f := newFixture(t, nil, tool("touch", nothing))
	f.setup.Model = losing(f, "other#1")
	f.configure()
	run, events := f.run("core", "go")
	if run.Failure == nil || run.Failure.Code != "lease_lost" || len(f.records(run.ID, audit.ToolStart)) > 0 {
		t.Errorf("got %v; want lease_lost and no call", run.Failure)
	}
	if last := events[len(events)-1]; last.Status != "error" {
		t.Errorf("got %s, want error", last.Status)
	}
}

// TestAForgottenLeaseIsTakenAgain has the bus forget it, as a Redis does that was started anew. Nobody
// else has touched the run.
func TestAForgottenLeaseIsTakenAgain(t *testing.T) {
	f := newFixture(t, nil, tool("touch", nothing))
	f.setup.Model = losing(f, "")
	f.configure()
	if run, _ := f.run("core", "go"); run.Status != agents.Success || len(f.records(run.ID, audit.ToolEnd)) != 1 {
		t.Errorf("got %s, %v; want success and a call", run.Status, run.Failure)
	}
}

// TestLeaveIsNotSpentOnALostRun has the lease lost while a call gets leave: the run does not wait for
// a leave that has been given already.
func TestLeaveIsNotSpentOnALostRun(t *testing.T) {
	f, l, ran := newHeld(t, danger(erase))
	l.give(erase, agents.LeaveGranted, "by eve")
	l.during = func(run string) {
		key := "run." + run
		holder, err := f.bus.Holder(t.Context(), key)
		if err == nil {
			err = f.bus.Release(t.Context(), key, holder)
		}
		if err == nil {
			_, err = f.bus.Lease(t.Context(), key, "other#1", time.Minute)
		}
		if err != nil {
			t.Error(err)
		}
	}
	run, _ := f.run("core", "go")
	if run.Failure == nil || run.Failure.Code != "lease_lost" || len(ran) > 0 {
		t.Errorf("got %s, %v, the tool ran %d times; want lease_lost and no call", run.Status, run.Failure, len(ran))
	}
}

// TestARunIsItsThreads has an admin run something in a thread of somebody else.
func TestARunIsItsThreads(t *testing.T) {
	f := newFixture(t, fine())
	thread := f.start("quick", "", "go").Thread
	f.events(f.start("quick", "", "go").ID)
	h, err := f.rt.As(ada).LatestRun(t.Context(), thread)
	if err != nil {
		t.Fatal(err)
	}
	f.events(h.ID)
	run, err := f.rt.As(root).Start(t.Context(), agents.Request{User: "bob", Assistant: "quick", Thread: thread, Input: []model.Message{{Role: "user", Content: "x"}}})
	if err != nil || run.Owner != "ada" {
		t.Fatalf("Start: %q, %v, want ada's", run.Owner, err)
	}
	f.events(run.ID)
	if _, err := f.rt.As(ada).Run(t.Context(), thread, run.ID); err != nil {
		t.Errorf("ada: %v", err)
	}
	bob := ada
	bob.User = "bob"
	if _, err := f.rt.As(bob).Run(t.Context(), "", run.ID); !errors.Is(err, agents.ErrRunNotFound) {
		t.Errorf("bob: got %v, want %v", err, agents.ErrRunNotFound)
	}
}

// TestAViewShowsWhatIsThePrincipals is the isolation that every interface relies on.
func TestAViewShowsWhatIsThePrincipals(t *testing.T) {
	f, _, _ := newHeld(t, danger(erase))
	run := f.start("core", "", "go")
	f.waits(run.ID, 1)
	bob := ada
	bob.User = "bob"
	ctx := t.Context()
	for _, tc := range []struct {
		name string
		view agents.View
		want error
	}{
		{"the owner", f.rt.As(ada), nil},
		{"an admin", f.rt.As(root), nil},
		{"somebody else", f.rt.As(bob), agents.ErrNotFound},
	} {
		var errs []error
		_, err := tc.view.Thread(ctx, run.Thread)
		errs = append(errs, err)
		_, err = tc.view.Messages(ctx, run.Thread)
		errs = append(errs, err)
		_, err = tc.view.Run(ctx, "", run.ID)
		errs = append(errs, err)
		_, err = tc.view.Run(ctx, run.Thread, run.ID)
		errs = append(errs, err)
		_, err = tc.view.LatestRun(ctx, run.Thread)
		errs = append(errs, err)
		for i, err := range errs {
			if !errors.Is(err, tc.want) {
				t.Errorf("%s, look %d: got %v, want %v", tc.name, i, err, tc.want)
			}
		}
		threads, total, err := tc.view.Threads(ctx, agents.ThreadFilter{Owner: "ada", Limit: 10})
		if seen := total > 0 || len(threads) > 0; err != nil || seen {
			t.Errorf("%s: the ephemeral thread is listed: %d, %v", tc.name, total, err)
		}
		runs, err := tc.view.Runs(ctx, agents.RunFilter{Owner: "ada", Limit: 10})
		if seen := len(runs) > 0; err != nil || seen != (tc.want == nil) {
			t.Errorf("%s: runs of ada: got %v, %v", tc.name, runs, err)
		}
		all, err := tc.view.Runs(ctx, agents.RunFilter{Limit: 10})
		if seen := len(all) > 0; err != nil || seen != (tc.want == nil) {
			t.Errorf("%s: all runs: got %v, %v", tc.name, all, err)
		}
		_, err = tc.view.Start(ctx, agents.Request{Assistant: "core", Thread: run.Thread, Input: []model.Message{{Role: "user", Content: "x"}}})
		if want := tc.want; !errors.Is(err, want) || err == nil {
			if want != nil || !errors.Is(err, agents.ErrBusy) {
				t.Errorf("%s: starting on the thread: got %v", tc.name, err)
			}
		}
	}
	if _, err := f.rt.As(ada).Run(ctx, "0190f5a4-7c3e-7b1a-9f6e-2d4c8a1b3e5f", run.ID); !errors.Is(err, agents.ErrRunNotFound) {
		t.Errorf("by way of another thread: got %v, want %v", err, agents.ErrRunNotFound)
	}
	made, err := f.rt.As(ada).CreateThread(ctx, agents.ThreadRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, total, err := f.rt.As(bob).Threads(ctx, agents.ThreadFilter{Limit: 10}); err != nil || total != 0 {
		t.Errorf("bob's threads: got %d, %v", total, err)
	}
	if threads, total, err := f.rt.As(ada).Threads(ctx, agents.ThreadFilter{Limit: 10}); err != nil || total != 1 || threads[0].ID != made.ID {
		t.Errorf("ada's threads: got %v of %d, %v", threads, total, err)
	}
}
