package agents_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/retention"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
)

// gated is a model that answers like recall, and stops before it where the last word is "wait" until
// it is let go, or cancelled.
func gated() (m modelFunc, reached chan string, release chan struct{}) {
	reached, release = make(chan string, 100), make(chan struct{})
	m = func(ctx context.Context, req model.Request, say func(string)) (model.Response, error) {
		last := req.Messages[len(req.Messages)-1].Content
		reached <- last
		if strings.HasSuffix(last, "wait") {
			select {
			case <-release:
			case <-ctx.Done():
				return model.Response{}, context.Cause(ctx)
			}
		}
		return recall()(ctx, req, say)
	}
	return m, reached, release
}

func TestEnqueuedRunsKeepTheirOrder(t *testing.T) {
	m, reached, release := gated()
	f := newFixture(t, m)
	th := f.thread(agents.ThreadRequest{})
	first := f.ask(agents.Request{Thread: th.ID, Input: user("0 wait")})
	<-reached
	var ids []string
	for i := range 3 {
		h := f.ask(agents.Request{Thread: th.ID, Input: user(fmt.Sprint(i + 1)), Multitask: agents.MultitaskEnqueue})
		if h.Status != agents.Pending {
			t.Errorf("run %d is %s, want pending", i, h.Status)
		}
		ids = append(ids, h.ID)
	}
	if _, err := f.rt.As(ada).Start(t.Context(), agents.Request{Assistant: "core", Thread: th.ID, Input: user("x")}); !errors.Is(err, agents.ErrBusy) {
		t.Errorf("without waiting: got %v, want %v", err, agents.ErrBusy)
	}
	if err := f.rt.As(ada).DeleteThread(t.Context(), th.ID); !errors.Is(err, agents.ErrBusy) {
		t.Errorf("deleting the thread: got %v, want %v", err, agents.ErrBusy)
	}
	if got := contents(f.state(th.ID, "")); !cmp.Equal(got, []string{"0 wait"}) {
		t.Errorf("meanwhile: got %q", got)
	}
	if err := f.find(ids[1]).Cancel(t.Context()); err != nil { // one that waits
		t.Errorf("Cancel: %v", err)
	}
	close(release)
	for _, id := range append([]string{first.ID}, ids...) {
		f.events(id)
	}
	want := []string{"0 wait", "heard 0 wait", "1", "heard 0 wait, 1", "3", "heard 0 wait, 1, 3"}
	if got := contents(f.state(th.ID, "")); !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
	if got := f.find(ids[1]); got.Status != agents.Cancelled || got.Multitask != agents.MultitaskEnqueue {
		t.Errorf("the one that was cancelled: got %+v", got.RunInfo)
	}
	if got := len(f.records(ids[0], audit.RunQueued, audit.RunStart, audit.RunEnd)); got != 3 {
		t.Errorf("%d records, want 3", got)
	}
}

func TestDisplacing(t *testing.T) {
	for _, tc := range []struct {
		multitask agents.Multitask
		want      []string
		listed    int
	}{
		{agents.MultitaskInterrupt, []string{"0", "heard 0", "1 wait", "3", "heard 0, 1 wait, 3"}, 4},
		{agents.MultitaskRollback, []string{"0", "heard 0", "3", "heard 0, 3"}, 2},
	} {
		t.Run(string(tc.multitask), func(t *testing.T) {
			m, reached, _ := gated()
			f := newFixture(t, m)
			th := f.thread(agents.ThreadRequest{})
			f.done(agents.Request{Thread: th.ID, Input: user("0")})
			<-reached
			active := f.ask(agents.Request{Thread: th.ID, Input: user("1 wait")})
			<-reached
			waits := f.ask(agents.Request{Thread: th.ID, Input: user("2"), Multitask: agents.MultitaskEnqueue})
			last := f.ask(agents.Request{Thread: th.ID, Input: user("3"), Multitask: tc.multitask})
			f.events(last.ID)
			if got := contents(f.state(th.ID, "")); !cmp.Equal(got, tc.want) {
				t.Error(cmp.Diff(tc.want, got))
			}
			runs, err := f.rt.As(ada).Runs(t.Context(), agents.RunFilter{Thread: th.ID, Limit: 10})
			if err != nil || len(runs) != tc.listed {
				t.Errorf("got %d runs, %v, want %d", len(runs), err, tc.listed)
			}
			for _, id := range []string{active.ID, waits.ID} {
				info, err := f.store.RunInfo(t.Context(), id)
				if err != nil || info.Status != agents.Cancelled || info.Hidden != (tc.listed == 2) {
					t.Errorf("got %+v, %v", info, err)
				}
				if got := len(f.records(id, audit.RunRolledBack)); got > 0 != (tc.listed == 2) {
					t.Errorf("%d records of a rollback", got)
				}
			}
			for _, c := range f.history(th.ID) {
				if tc.listed == 2 && slices.Contains(contents(c), "1 wait") {
					t.Errorf("the history shows what was taken back: %q", contents(c))
				}
			}
		})
	}
}

func TestRollback(t *testing.T) {
	f := newFixture(t, recall())
	th := f.thread(agents.ThreadRequest{})
	f.done(agents.Request{Thread: th.ID, Input: user("0")})
	before := f.state(th.ID, "")
	run := f.done(agents.Request{Thread: th.ID, Input: user("1"), Values: map[string]any{"n": 1}})
	h, err := f.rt.As(ada).Run(t.Context(), th.ID, run.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if now := f.state(th.ID, ""); !cmp.Equal(now, before) {
		t.Error(cmp.Diff(before, now))
	}
	if _, err := f.rt.As(ada).Run(t.Context(), th.ID, run.ID); !errors.Is(err, agents.ErrRunNotFound) {
		t.Errorf("got %v, want %v", err, agents.ErrRunNotFound)
	}
	if got := f.records(run.ID, audit.RunRolledBack, audit.RunEnd); len(got) != 3 {
		t.Errorf("on record: %+v", got)
	}
}

func TestARunStartsLater(t *testing.T) {
	f := newFixture(t, recall())
	th := f.thread(agents.ThreadRequest{})
	began := time.Now()
	h := f.ask(agents.Request{Thread: th.ID, Input: user("1"), After: 50 * time.Millisecond})
	if h.Status != agents.Pending {
		t.Errorf("got %s, want pending", h.Status)
	}
	f.events(h.ID)
	if took := time.Since(began); took < 50*time.Millisecond {
		t.Errorf("it started after %s", took)
	}
	alone := f.ask(agents.Request{Input: user("2"), After: time.Millisecond, DeleteThread: true})
	f.events(alone.ID)
	if got := f.find(alone.ID).Status; got != agents.Success {
		t.Errorf("alone: got %s", got)
	}
	if err := f.host.Sweep(t.Context(), retention.Policy{}, time.Now().Add(2*time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.rt.As(ada).Thread(t.Context(), alone.Thread); !errors.Is(err, agents.ErrThreadNotFound) {
		t.Errorf("its thread: got %v, want %v", err, agents.ErrThreadNotFound)
	}
}

// What waits is started by whoever comes after a process that has gone, and once.
func TestQueueSurvivesARestart(t *testing.T) {
	m, reached, _ := gated()
	f := newFixture(t, m)
	th := f.thread(agents.ThreadRequest{})
	f.ask(agents.Request{Thread: th.ID, Input: user("0 wait")})
	<-reached
	h := f.ask(agents.Request{Thread: th.ID, Input: user("1"), Multitask: agents.MultitaskEnqueue})
	over, cancel := context.WithCancel(t.Context())
	cancel()
	f.host.Drain(over)
	if got, err := f.store.RunInfo(t.Context(), h.ID); err != nil || got.Status != agents.Pending {
		t.Fatalf("got %v, %v, want pending", got.Status, err)
	}
	if err := f.host.Close(); err != nil {
		t.Fatal(err)
	}
	f.open()
	f.events(h.ID)
	if got, want := contents(f.state(th.ID, "")), []string{"0 wait", "1", "heard 0 wait, 1"}; !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
	if got := f.records(h.ID, audit.RunStart, audit.RunEnd); len(got) != 2 {
		t.Errorf("on record: %+v", got)
	}
}

func TestAQueuedRunOfARevokedUserDoesNotStart(t *testing.T) {
	m, reached, release := gated()
	f := newFixture(t, m)
	th := f.thread(agents.ThreadRequest{})
	f.ask(agents.Request{Thread: th.ID, Input: user("0 wait")})
	<-reached
	h := f.ask(agents.Request{Thread: th.ID, Input: user("1"), Multitask: agents.MultitaskEnqueue})
	f.users.set("", policy.ErrRevoked)
	close(release)
	f.events(h.ID)
	info := f.find(h.ID)
	if info.Status != agents.Error || info.Failure == nil || info.Failure.Code != "principal_revoked" {
		t.Errorf("got %+v, %v", info.RunInfo, info.Failure)
	}
	if got := f.records(h.ID, audit.RunStart); len(got) != 0 {
		t.Errorf("on record: %+v", got)
	}
	if th, err := f.rt.As(ada).Thread(t.Context(), th.ID); err != nil || th.Status != agents.ThreadIdle {
		t.Errorf("the thread is %s, %v", th.Status, err)
	}
}

// Many who want the same thread at once all get their turn, one after the other.
func TestManyWaitForAThread(t *testing.T) {
	var mu sync.Mutex
	active, most := 0, 0
	f := newFixture(t, modelFunc(func(ctx context.Context, req model.Request, say func(string)) (model.Response, error) {
		mu.Lock()
		active++
		most = max(most, active)
		mu.Unlock()
		defer func() { mu.Lock(); active--; mu.Unlock() }()
		return recall()(ctx, req, say)
	}))
	th := f.thread(agents.ThreadRequest{})
	ids := make([]string, 20)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			h, err := f.rt.As(ada).Start(t.Context(), agents.Request{Assistant: "core", Thread: th.ID, Input: user(fmt.Sprint(i)), Multitask: agents.MultitaskEnqueue})
			if err != nil {
				t.Errorf("Start: %v", err)
				return
			}
			ids[i] = h.ID
		})
	}
	wg.Wait()
	for _, id := range ids {
		f.events(id)
	}
	if got := len(contents(f.state(th.ID, ""))); got != 2*len(ids) || most != 1 {
		t.Errorf("%d messages, %d at once, want %d and 1", got, most, 2*len(ids))
	}
}

// A process that dies when it has saved a run and not cancelled the one that it displaces leaves that to
// the others.
func TestAHalfDoneDisplacementGoesOn(t *testing.T) {
	m, reached, _ := gated()
	f := newFixture(t, m)
	th := f.thread(agents.ThreadRequest{})
	active := f.ask(agents.Request{Thread: th.ID, Input: user("0 wait")})
	<-reached
	stored, err := f.store.Run(t.Context(), active.ID)
	if err != nil {
		t.Fatal(err)
	}
	left := *stored
	left.ID, left.Version, left.Status, left.Multitask = active.ID[:35]+"x", 0, agents.Running, agents.MultitaskRollback
	left.Frames = []agents.Frame{{Agent: "core", Messages: []model.Message{{ID: "m", Role: "user", Content: "1"}}}}
	if err := f.store.CreateRun(t.Context(), &left, left.Frames[0].Messages, nil); err != nil || !left.Queued {
		t.Fatalf("got %v, queued=%t", err, left.Queued)
	}
	f.events(left.ID)
	if got, want := contents(f.state(th.ID, "")), []string{"1", "heard 1"}; !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}

// Two processes with one store and one bus start what waits once.
func TestAQueueOfAFleet(t *testing.T) {
	f := newFixture(t, recall())
	other := agents.Open(agents.HostConfig{
		Store: unclosed{f.store}, Audit: f.audit, Identity: f.users, Bus: f.bus, Node: "other", Log: zap.NewNop(),
	})
	rt, err := other.Runtime(f.setup)
	if err != nil {
		t.Fatal(err)
	}
	rt.Serve()
	defer other.Close()
	th := f.thread(agents.ThreadRequest{})
	var ids []string
	for i := range 12 {
		h, err := []*agents.Runtime{f.rt, rt}[i%2].As(ada).Start(t.Context(), agents.Request{Assistant: "core", Thread: th.ID, Input: user(fmt.Sprint(i)), Multitask: agents.MultitaskEnqueue})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, h.ID)
	}
	for _, id := range ids {
		f.events(id)
		if got := f.records(id, audit.RunStart); len(got) != 1 {
			t.Errorf("run %s started %d times", id, len(got))
		}
	}
	var asked []string
	for _, m := range f.state(th.ID, "").Messages {
		if m.Role == model.RoleUser {
			asked = append(asked, m.Content)
		}
	}
	if got, want := strings.Join(asked, " "), "0 1 2 3 4 5 6 7 8 9 10 11"; got != want {
		t.Errorf("the order: got %s, want %s", got, want)
	}
}

// unclosed is a store that somebody else closes.
type unclosed struct{ agents.Store }

func (unclosed) Close() error { return nil }
