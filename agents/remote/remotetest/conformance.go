// Package remotetest has what tests of remote agents need: the suite that every implementation of
// [remote.Store] must pass, and an agent server that does what a test says.
//
// Call [Conformance] from the implementation's own tests. [NewServer] is safe for concurrent use.
package remotetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/remote"
)

// Store is what the suite tests; it is closed by one of the tests.
type Store interface {
	remote.Store
	Close() error
}

// Conformance runs the suite; open gives each test an empty store.
func Conformance(t *testing.T, open func(t *testing.T) Store) {
	t.Helper()
	for _, tc := range []struct {
		name string
		run  func(t *testing.T, s Store)
	}{
		{"a task is read back as it was created", roundTrip},
		{"how many a user has is bounded", bounded},
		{"of many saves of one version one counts", contention},
		{"tasks are listed by what they are", listing},
		{"a store that cannot be used says so", unavailable},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.run(t, open(t)) })
	}
}

var now = time.Date(2026, 3, 1, 12, 0, 0, 5e6, time.UTC)

func made(n int, owner string, s remote.Status) remote.Task {
	at := now.Add(time.Duration(n) * time.Second)
	return remote.Task{
		ID: fmt.Sprintf("net-%08d", n), Owner: owner, Thread: "t1", Agent: "core", Remote: "net", Text: "what?", RemoteThread: "rt", RemoteRun: "rr",
		LastEvent: "7", Sent: 2, Status: s, Steps: 3, Answer: "so far", Failure: "none",
		Asks:    &remote.Asks{List: []remote.Ask{{Interrupt: "i", Action: "rm", Args: json.RawMessage(`{"path":"/x"}`), Allowed: []string{"approve"}}}},
		Created: at, Began: at, Updated: at, Version: 1,
	}
}

func create(t *testing.T, s Store, k remote.Task) remote.Task {
	t.Helper()
	if err := s.CreateTask(t.Context(), k); err != nil {
		t.Fatalf("CreateTask: %v", err)
	}
	return k
}

func roundTrip(t *testing.T, s Store) {
	want := create(t, s, made(1, "ada", remote.Waiting))
	got, err := s.RemoteTask(t.Context(), want.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := s.RemoteTask(t.Context(), "net-none"); !errors.Is(err, remote.ErrNotFound) {
		t.Errorf("no task: got %v, want ErrNotFound", err)
	}
	if err := s.CreateTask(t.Context(), want); err == nil {
		t.Error("a second task has the same id")
	}
}

func bounded(t *testing.T, s Store) {
	for n := range remote.MaxOpen {
		create(t, s, made(n, "ada", remote.Running))
	}
	create(t, s, made(100, "bob", remote.Running))
	if err := s.CreateTask(t.Context(), made(101, "ada", remote.Running)); !errors.Is(err, remote.ErrFull) {
		t.Errorf("one more: got %v, want ErrFull", err)
	}
	if _, err := s.RemoteTask(t.Context(), made(101, "", "").ID); !errors.Is(err, remote.ErrNotFound) {
		t.Errorf("the refused task: got %v, want ErrNotFound", err)
	}
	for n := range remote.MaxKept {
		create(t, s, made(200+n, "ada", remote.Success))
	}
	list, err := s.RemoteTasks(t.Context(), remote.Filter{Owner: "ada", Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	open := 0
	for _, k := range list {
		if !k.Status.Final() {
			open++
		}
	}
	if len(list) != remote.MaxKept+open || open != remote.MaxOpen {
		t.Errorf("got %d tasks, %d of them under way, want %d beside %d", len(list), open, remote.MaxKept, remote.MaxOpen)
	}
}

func contention(t *testing.T, s Store) {
	create(t, s, made(1, "ada", remote.Running))
	results := make(chan error, 8)
	var all sync.WaitGroup
	for range cap(results) {
		all.Go(func() {
			k := made(1, "ada", remote.Success)
			results <- s.SaveTask(t.Context(), &k)
		})
	}
	all.Wait()
	close(results)
	saved := 0
	for err := range results {
		switch {
		case err == nil:
			saved++
		case !errors.Is(err, remote.ErrConflict):
			t.Errorf("got %v, want ErrConflict", err)
		}
	}
	if k, err := s.RemoteTask(t.Context(), "net-00000001"); saved != 1 || err != nil || k.Version != 2 {
		t.Errorf("%d saves counted, version %d, %v, want 1 and 2", saved, k.Version, err)
	}
	gone := made(2, "ada", remote.Running)
	if err := s.SaveTask(t.Context(), &gone); !errors.Is(err, remote.ErrConflict) {
		t.Errorf("a task that is not there: got %v, want ErrConflict", err)
	}
}

func listing(t *testing.T, s Store) {
	create(t, s, made(1, "ada", remote.Running))
	create(t, s, made(2, "ada", remote.Success))
	other := made(3, "bob", remote.Waiting)
	other.Thread, other.Unread = "t2", true
	create(t, s, other)
	for _, tc := range []struct {
		f    remote.Filter
		want []string
	}{
		{remote.Filter{}, []string{"net-00000003", "net-00000002", "net-00000001"}},
		{remote.Filter{Owner: "ada"}, []string{"net-00000002", "net-00000001"}},
		{remote.Filter{Open: true}, []string{"net-00000003", "net-00000001"}},
		{remote.Filter{Thread: "t2", Unread: true}, []string{"net-00000003"}},
		{remote.Filter{Thread: "t1", Unread: true}, nil},
		{remote.Filter{Limit: 1}, []string{"net-00000003"}},
	} {
		if tc.f.Limit == 0 {
			tc.f.Limit = 10
		}
		list, err := s.RemoteTasks(t.Context(), tc.f)
		var got []string
		for _, k := range list {
			got = append(got, k.ID)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
			t.Errorf("%+v: %v (-want +got):\n%s", tc.f, err, diff)
		}
	}
}

func unavailable(t *testing.T, s Store) {
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	k := made(1, "ada", remote.Running)
	_, reading := s.RemoteTask(t.Context(), k.ID)
	_, looking := s.RemoteTasks(t.Context(), remote.Filter{Limit: 1})
	for what, err := range map[string]error{
		"CreateTask": s.CreateTask(t.Context(), k), "SaveTask": s.SaveTask(t.Context(), &k), "RemoteTask": reading, "RemoteTasks": looking,
	} {
		if !errors.Is(err, agents.ErrUnavailable) {
			t.Errorf("%s: got %v, want ErrUnavailable", what, err)
		}
	}
}
