// Package approvaltest is what every implementation of [approval.Store] must pass.
//
// Call [Conformance] from the implementation's own tests, with the store of runs that the approvals are
// kept beside. It is not safe to share one store between two calls.
package approvaltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/policy"
)

// Store is both halves of what is tested.
type Store interface {
	agents.Store
	approval.Store
}

// Conformance runs the suite; open gives each test an empty store.
func Conformance(t *testing.T, open func(t *testing.T) Store) {
	t.Helper()
	for _, tc := range []struct {
		name string
		run  func(t *testing.T, s Store)
	}{
		{"an approval is read back as it was created, with the owner of its run", roundTrip},
		{"there is one approval for a call", once},
		{"a save with an old version is a conflict and changes nothing", compareAndSwap},
		{"one of many that use an approval does", contention},
		{"approvals are listed by owner, run, state and time, newest first, in pages", listing},
		{"the end of a run cancels what is not final", runEnds},
		{"a run that is over or unknown gets none", over},
		{"a thread is removed with its approvals", removal},
		{"a store that cannot be used says so", unavailable},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.run(t, open(t)) })
	}
}

var now = time.Date(2026, 3, 1, 12, 0, 0, 5e6, time.UTC)

func newID(t *testing.T) string {
	t.Helper()
	v, err := uuid.NewV7()
	if err != nil {
		t.Fatal(err)
	}
	return v.String()
}

// Run creates a run of a user in a thread of its own.
func Run(t *testing.T, s agents.Store, user string) *agents.Run {
	t.Helper()
	r := &agents.Run{
		ID: newID(t), Thread: newID(t), Assistant: "core", Status: agents.Running, Created: now, Updated: now, Input: 1,
		Principal: policy.Principal{User: user, Role: policy.User},
		Frames:    []agents.Frame{{Agent: "core", Messages: []model.Message{{Role: "user", Content: "hello"}}}},
	}
	thread := agents.Thread{ID: r.Thread, Owner: user, Created: now, Updated: now, Status: agents.ThreadBusy}
	if err := s.CreateRun(t.Context(), r, r.Frames[0].Messages, &thread); err != nil {
		t.Fatalf("CreateRun: %v", err)
	}
	return r
}

func finish(t *testing.T, s agents.Store, r *agents.Run) {
	t.Helper()
	r.Status = agents.Cancelled
	if err := s.FinishRun(t.Context(), r, nil, nil); err != nil {
		t.Fatalf("FinishRun: %v", err)
	}
}

// Pending is an approval of a call of the run that nobody has decided on.
func Pending(t *testing.T, r *agents.Run) approval.Approval {
	t.Helper()
	return approval.Approval{
		ID: "call_" + strings.ReplaceAll(newID(t), "-", ""), Run: r.ID, Thread: r.Thread, Agent: "core", Tool: "run_command",
		Requester: r.Principal.User, Digest: strings.Repeat("ab", 32), Arguments: json.RawMessage(`{"command":"reboot"}`), Where: "on the host",
		Rule: "hitl-reload", Message: "This reloads.", Severity: "high", Reasons: []string{"rule hitl-reload: category reload"}, PolicyHash: "00",
		Approvers: 1, State: approval.Pending, Created: now, Expires: now.Add(15 * time.Minute),
	}
}

func create(t *testing.T, s approval.Store, a approval.Approval) approval.Approval {
	t.Helper()
	stored, err := s.CreateApproval(t.Context(), a)
	if err != nil {
		t.Fatalf("CreateApproval: %v", err)
	}
	return stored
}

func roundTrip(t *testing.T, s Store) {
	want := Pending(t, Run(t, s, "ada"))
	want.OnBehalfOf, want.OtherPerson, want.Auto = "bob", true, "x"
	want.Edit = &approval.Edit{Patch: json.RawMessage(`{"a":null}`), Digest: "cd", Arguments: json.RawMessage(`{}`)}
	want.Votes = []approval.Vote{{User: "eve", Address: "192.0.2.1", TokenID: "t", Decision: approval.EditFirst, Comment: "ok", Digest: "cd", At: now}}
	stored := create(t, s, want)
	want.Owner, want.Version = "ada", 1
	if d := cmp.Diff(want, stored); d != "" {
		t.Errorf("as created (-want +got):\n%s", d)
	}
	want.State, want.Outcome, want.Decided = approval.Edited, approval.Edited, now
	if err := s.SaveApproval(t.Context(), &want); err != nil || want.Version != 2 {
		t.Fatalf("SaveApproval: %v, version %d", err, want.Version)
	}
	got, err := s.Approval(t.Context(), want.ID)
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("as saved: %v (-want +got):\n%s", err, d)
	}
	if _, err := s.Approval(t.Context(), "call_none"); !errors.Is(err, approval.ErrNotFound) {
		t.Errorf("none: got %v, want %v", err, approval.ErrNotFound)
	}
}

func once(t *testing.T, s Store) {
	a := Pending(t, Run(t, s, "ada"))
	first := create(t, s, a)
	first.State = approval.Rejected
	if err := s.SaveApproval(t.Context(), &first); err != nil {
		t.Fatal(err)
	}
	if again := create(t, s, a); again.State != approval.Rejected || again.Version != 2 {
		t.Errorf("once more: got %s in version %d, want the one that is there", again.State, again.Version)
	}
}

func compareAndSwap(t *testing.T, s Store) {
	a := create(t, s, Pending(t, Run(t, s, "ada")))
	mine, theirs := a, a
	mine.State = approval.Approved
	if err := s.SaveApproval(t.Context(), &mine); err != nil {
		t.Fatal(err)
	}
	theirs.State = approval.Rejected
	if err := s.SaveApproval(t.Context(), &theirs); !errors.Is(err, approval.ErrConflict) || theirs.Version != 1 {
		t.Errorf("got %v and version %d, want %v and 1", err, theirs.Version, approval.ErrConflict)
	}
	if got, err := s.Approval(t.Context(), a.ID); err != nil || got.State != approval.Approved {
		t.Errorf("got %s, %v, want approved", got.State, err)
	}
}

func contention(t *testing.T, s Store) {
	a := create(t, s, Pending(t, Run(t, s, "ada")))
	var used atomic.Int32
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			mine := a
			mine.State = approval.Consumed
			switch err := s.SaveApproval(t.Context(), &mine); {
			case err == nil:
				used.Add(1)
			case !errors.Is(err, approval.ErrConflict):
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := used.Load(); n != 1 {
		t.Errorf("used %d times, want once", n)
	}
}

func listing(t *testing.T, s Store) {
	ada, bob := Run(t, s, "ada"), Run(t, s, "bob")
	var ids []string
	for i, r := range []*agents.Run{ada, ada, bob, ada} {
		a := Pending(t, r)
		a.Expires = now.Add(time.Duration(i) * time.Minute)
		if i == 1 {
			a.State = approval.Approved
		}
		ids = append(ids, create(t, s, a).ID)
	}
	for _, tc := range []struct {
		name   string
		filter approval.Filter
		want   []int
	}{
		{"all", approval.Filter{Limit: 10}, []int{3, 2, 1, 0}},
		{"owner", approval.Filter{Owner: "ada", Limit: 10}, []int{3, 1, 0}},
		{"run", approval.Filter{Run: bob.ID, Limit: 10}, []int{2}},
		{"state", approval.Filter{State: []approval.State{approval.Pending}, Limit: 10}, []int{3, 2, 0}},
		{"states", approval.Filter{State: []approval.State{approval.Approved, approval.Consumed}, Limit: 10}, []int{1}},
		{"expired", approval.Filter{State: []approval.State{approval.Pending}, Expired: now.Add(2 * time.Minute), Limit: 10}, []int{2, 0}},
		{"a page", approval.Filter{Limit: 2}, []int{3, 2}},
		{"the next", approval.Filter{Limit: 2, Before: ids[2]}, []int{1, 0}},
		{"owner and run of another", approval.Filter{Owner: "ada", Run: bob.ID, Limit: 10}, nil},
	} {
		list, err := s.Approvals(t.Context(), tc.filter)
		var got []int
		for _, a := range list {
			got = append(got, slices.Index(ids, a.ID))
		}
		if err != nil || !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %v, %v, want %v", tc.name, got, err, tc.want)
		}
	}
}

func runEnds(t *testing.T, s Store) {
	r, other := Run(t, s, "ada"), Run(t, s, "ada")
	beside := create(t, s, Pending(t, other))
	all := map[approval.State]approval.Approval{}
	for _, state := range approval.States() {
		a := Pending(t, r)
		a.State = state
		all[state] = create(t, s, a)
	}
	finish(t, s, r)
	for state, a := range all {
		want := approval.Cancelled
		if state == approval.Consumed {
			want = state
		}
		if got, err := s.Approval(t.Context(), a.ID); err != nil || got.State != want {
			t.Errorf("%s: got %s, %v, want %s", state, got.State, err, want)
		}
		if want == approval.Cancelled && state != want {
			a.State = approval.Approved
			if err := s.SaveApproval(t.Context(), &a); !errors.Is(err, approval.ErrConflict) {
				t.Errorf("%s: a decision beside the end: got %v, want %v", state, err, approval.ErrConflict)
			}
		}
	}
	if got, err := s.Approval(t.Context(), beside.ID); err != nil || got.State != approval.Pending {
		t.Errorf("of another run: got %s, %v, want pending", got.State, err)
	}
}

func over(t *testing.T, s Store) {
	r := Run(t, s, "ada")
	a := Pending(t, r)
	finish(t, s, r)
	for name, a := range map[string]approval.Approval{"over": a, "unknown": Pending(t, &agents.Run{ID: newID(t), Thread: newID(t)})} {
		if _, err := s.CreateApproval(t.Context(), a); !errors.Is(err, approval.ErrRunOver) {
			t.Errorf("%s: got %v, want %v", name, err, approval.ErrRunOver)
		}
	}
}

func removal(t *testing.T, s Store) {
	r, other := Run(t, s, "ada"), Run(t, s, "ada")
	gone, stays := create(t, s, Pending(t, r)), create(t, s, Pending(t, other))
	finish(t, s, r)
	if err := s.DeleteThread(t.Context(), r.Thread, time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Approval(t.Context(), gone.ID); !errors.Is(err, approval.ErrNotFound) {
		t.Errorf("got %v, want %v", err, approval.ErrNotFound)
	}
	if _, err := s.Approval(t.Context(), stays.ID); err != nil {
		t.Errorf("of another thread: %v", err)
	}
}

func unavailable(t *testing.T, s Store) {
	a := create(t, s, Pending(t, Run(t, s, "ada")))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, created := s.CreateApproval(t.Context(), a)
	_, read := s.Approval(t.Context(), a.ID)
	_, listed := s.Approvals(t.Context(), approval.Filter{Limit: 1})
	for i, err := range []error{created, read, listed, s.SaveApproval(t.Context(), &a)} {
		if !errors.Is(err, agents.ErrUnavailable) {
			t.Errorf("%s: got %v, want %v", fmt.Sprint("operation ", i), err, agents.ErrUnavailable)
		}
	}
}
