package agents_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/retention"
	"github.com/svc-gateway/svc/audit"
)

func answering() modelFunc {
	return func(_ context.Context, _ model.Request, say func(string)) (model.Response, error) {
		say("yes")
		return model.Response{Message: model.Message{Content: "yes"}, Model: "test"}, nil
	}
}

// recorded are the records of a type, and what their inputs say.
func (f *fixture) recorded(typ string) (events []audit.Event, said []map[string]any) {
	f.t.Helper()
	if err := f.audit.Flush(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	all, err := f.audit.Events(f.t.Context(), audit.Filter{})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, e := range all {
		if e.Type != typ {
			continue
		}
		var input map[string]any
		if e.Input != "" {
			if err := json.Unmarshal([]byte(e.Input), &input); err != nil {
				f.t.Errorf("the input %s: %v", e.Input, err)
			}
		}
		events, said = append(events, e), append(said, input)
	}
	return events, said
}

func (f *fixture) exists(thread string) bool {
	f.t.Helper()
	_, err := f.store.Thread(f.t.Context(), thread)
	if err != nil && !errors.Is(err, agents.ErrThreadNotFound) {
		f.t.Fatal(err)
	}
	return err == nil
}

func TestDeletingAThreadIsOnRecord(t *testing.T) {
	f := newFixture(t, answering())
	run, _ := f.run("quick", "hello")
	if err := f.rt.As(root).DeleteThread(t.Context(), run.Thread); err != nil {
		t.Fatal(err)
	}
	got, _ := f.recorded(audit.ThreadDeleted)
	if len(got) != 2 || got[0].Status != "started" || got[1].Status != "success" {
		t.Fatalf("got %+v, want its start and its end", got)
	}
	for _, e := range got {
		if e.Thread != run.Thread || e.User != "root" || e.OnBehalfOf != "ada" {
			t.Errorf("got %+v", e)
		}
	}
	if f.exists(run.Thread) {
		t.Error("the thread is still there")
	}
	if start := f.records(run.ID, audit.RunStart, audit.RunEnd); len(start) != 2 {
		t.Errorf("got %d records of the run, want those of before", len(start))
	}
	// What cannot be recorded is not done.
	kept, _ := f.run("quick", "hello")
	if err := f.audit.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.rt.As(ada).DeleteThread(t.Context(), kept.Thread); !errors.Is(err, audit.ErrUnavailable) || !f.exists(kept.Thread) {
		t.Errorf("without a log: got %v, want %v and the thread", err, audit.ErrUnavailable)
	}
}

func TestSweep(t *testing.T) {
	f := newFixture(t, answering())
	single, _ := f.run("quick", "hello")
	talk, err := f.rt.As(ada).CreateThread(t.Context(), agents.ThreadRequest{})
	if err != nil {
		t.Fatal(err)
	}
	inTalk := f.start("quick", talk.ID, "hello")
	f.events(inTalk.ID)
	now := time.Now()
	sweep := func(r retention.Policy, at time.Time) {
		t.Helper()
		if err := f.host.Sweep(t.Context(), r, at); err != nil {
			t.Fatal(err)
		}
	}
	all := retention.Policy{Threads: time.Hour, Ephemeral: time.Hour, Events: time.Hour}

	sweep(all, now)
	sweep(retention.Policy{}, now.Add(time.Hour*24*365))
	if got, _ := f.recorded(audit.Retention); len(got) != 0 || !f.exists(single.Thread) || !f.exists(talk.ID) {
		t.Fatalf("nothing is old: got %+v", got)
	}

	sweep(retention.Policy{Events: time.Hour}, now.Add(2*time.Hour))
	if n, err := f.store.NextEvent(t.Context(), inTalk.ID); err != nil || n != 0 {
		t.Errorf("got the next event %d, %v, want none left", n, err)
	}
	if events := f.events(inTalk.ID); len(events) != 1 || events[0].Type != eventlog.Done || events[0].Status != "success" {
		t.Errorf("a reader of events that are gone: got %+v, want how the run ended", events)
	}
	if said, err := f.rt.As(ada).Messages(t.Context(), talk.ID); err != nil || len(said) != 2 {
		t.Errorf("got %d messages, %v, want two", len(said), err)
	}

	sweep(retention.Policy{Ephemeral: time.Hour}, now.Add(2*time.Hour))
	if f.exists(single.Thread) || !f.exists(talk.ID) {
		t.Error("want the thread of a single run gone, and the other not")
	}
	sweep(all, now.Add(2*time.Hour))
	if f.exists(talk.ID) {
		t.Error("the thread is still there")
	}

	got, said := f.recorded(audit.Retention)
	want := []string{"events", "events", "ephemeral threads", "ephemeral threads", "threads", "threads"}
	if len(got) != len(want) {
		t.Fatalf("got %d records, want %d", len(got), len(want))
	}
	for i, e := range got {
		status := []string{"started", "success"}[i%2]
		if e.Status != status || said[i]["what"] != want[i] || i%2 == 1 && said[i]["count"].(float64) < 1 {
			t.Errorf("record %d: got %s %s, want %s of %s", i, e.Status, e.Input, status, want[i])
		}
	}
}

func TestSweepBySize(t *testing.T) {
	f := newFixture(t, modelFunc(func(context.Context, model.Request, func(string)) (model.Response, error) {
		text := make([]byte, 4<<10) // so that a thread has pages of its own
		_, _ = rand.Read(text)
		return model.Response{Message: model.Message{Content: hex.EncodeToString(text)}, Model: "test"}, nil
	}))
	var threads []string
	for range 60 {
		run, _ := f.run("quick", "hello")
		threads = append(threads, run.Thread)
	}
	size, err := f.store.Size(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	limit := size * 3 / 4
	if err := f.host.Sweep(t.Context(), retention.Policy{Size: limit}, time.Now().Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if size, err = f.store.Size(t.Context()); err != nil || size > limit {
		t.Errorf("got %d bytes, %v, want at most %d", size, err, limit)
	}
	if f.exists(threads[0]) {
		t.Error("the oldest thread is still there")
	}
	if !f.exists(threads[len(threads)-1]) {
		t.Error("the newest thread is gone")
	}
}

// A thread that a run has stays, however old it is.
func TestSweepLeavesActiveRuns(t *testing.T) {
	release := make(chan struct{})
	f := newFixture(t, modelFunc(func(ctx context.Context, _ model.Request, _ func(string)) (model.Response, error) {
		select {
		case <-release:
		case <-ctx.Done():
		}
		return model.Response{Message: model.Message{Content: "yes"}, Model: "test"}, ctx.Err()
	}))
	run := f.start("quick", "", "hello")
	all := retention.Policy{Threads: time.Hour, Ephemeral: time.Hour, Events: time.Hour, Size: 1}
	if err := f.host.Sweep(t.Context(), all, time.Now().Add(24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	close(release)
	if events := f.events(run.ID); events[len(events)-1].Status != "success" {
		t.Errorf("got %+v", events)
	}
	if !f.exists(run.Thread) {
		t.Error("the thread is gone")
	}
}

// Only the process that has the lease sweeps, and it does by itself.
func TestSweepGoesByItself(t *testing.T) {
	f := newFixture(t, answering())
	run, _ := f.run("quick", "hello")
	f.setup.Retention = retention.Policy{Ephemeral: time.Nanosecond}
	if err := f.host.Close(); err != nil {
		t.Fatal(err)
	}
	f.open()
	for deadline := time.After(30 * time.Second); f.exists(run.Thread); {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-deadline:
			t.Fatal("the thread is still there")
		}
	}
}

// worn is a store that has no list of half removed threads, and is slow with what comes after it.
type worn struct{ agents.Store }

func (worn) HalfRemoved(context.Context, int) ([]string, error) { return nil, errBroken }

func (worn) Close() error { return nil } // it is the fixture's

func (worn) StaleEvents(ctx context.Context, _ time.Time) (bool, error) {
	<-ctx.Done()
	return false, ctx.Err()
}

// A sweep that runs out of time is for the next time to end. What failed before is told.
func TestSweepTellsOfTroubleBeforeItsTimeIsOver(t *testing.T) {
	f := newFixture(t, answering())
	host := agents.Open(agents.HostConfig{Store: worn{f.store}, Audit: f.audit, Identity: f.users, Bus: f.bus, Node: "node", Log: zap.NewNop()})
	defer host.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := host.Sweep(ctx, retention.Policy{Events: time.Hour}, time.Now()); !errors.Is(err, errBroken) || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got error %v, want %v", err, errBroken)
	}
}
