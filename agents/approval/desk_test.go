package approval_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
)

func (r *rig) decide(p policy.Principal, id string, v approval.Verdict) error {
	r.t.Helper()
	_, err := r.desk.Decide(r.t.Context(), p, id, v)
	return err
}

// code is the code of a refusal, or the error.
func code(err error) string {
	if refusal, ok := errors.AsType[*approval.Refusal](err); ok {
		return refusal.Code
	}
	return fmt.Sprint(err)
}

func TestDecisions(t *testing.T) {
	for _, tc := range []struct {
		name    string
		verdict approval.Verdict // without a decision: nobody decides in time
		ran     []string
		answer  string
		decided string // what the stream tells
		records string
		told    string
	}{
		{
			"approved",
			approval.Verdict{Decision: approval.Approve, Comment: "fine"},
			[]string{erase},
			"success: did rm -rf build approved=true", "approved: approved by root: fine",
			"tool.wait waiting, approval.decision approved, tool.start started, tool.end success", "requested pending, decided approved",
		},
		{
			"rejected",
			approval.Verdict{Decision: approval.Reject, Comment: "not today"},
			nil,
			"rejected: rejected by root: not today. Approval was needed: This deletes a folder with all that is in it.", "rejected: rejected by root: not today",
			"tool.wait waiting, approval.decision rejected, tool.denied rejected", "requested pending, decided rejected",
		},
		{
			"expired",
			approval.Verdict{},
			nil,
			"expired: expired: nobody approved it in time. Approval was needed: This deletes a folder with all that is in it.", "expired: nobody approved it in time",
			"tool.wait waiting, approval.decision expired, tool.denied expired", "requested pending, decided expired",
		},
		{
			"edited",
			approval.Verdict{Decision: approval.EditFirst, Patch: json.RawMessage(`{"text":"rm -rf build/cache"}`)},
			[]string{"rm -rf build/cache"},
			`success: [A person (root) changed the arguments of this call before approving it. You asked for {"text":"rm -rf build"}. Changed to {"text":"rm -rf build/cache"}.]` +
				"\ndid rm -rf build/cache approved=true",
			"edited: edited and approved by root",
			"tool.wait waiting, approval.decision edited, tool.start started, tool.end success", "requested pending, decided edited",
		},
	} {
		for _, restart := range []bool{false, true} {
			t.Run(fmt.Sprint(tc.name, " restart=", restart), func(t *testing.T) {
				r := newRig(t, erase)
				run := r.ask(ada)
				a := r.pending(run.ID, 1)[0]
				if restart {
					r.close()
					r.open("other", erase)
				}
				if tc.verdict.Decision == "" {
					r.clock.add(15 * time.Minute)
					if err := r.desk.Sweep(t.Context()); err != nil {
						t.Fatal(err)
					}
				} else if err := r.decide(root, a.ID, tc.verdict); err != nil {
					t.Fatalf("Decide: %v", err)
				}
				if got := r.answer(run.ID); got != tc.answer {
					t.Errorf("answer:\ngot  %s\nwant %s", got, tc.answer)
				}
				if got := r.ran(); !slices.Equal(got, tc.ran) {
					t.Errorf("ran %q, want %q", got, tc.ran)
				}
				events := r.events(run.ID)
				events = slices.DeleteFunc(events, func(e eventlog.Event) bool { return e.Type == eventlog.Message || e.Type == eventlog.Paused })
				if e := events[0]; e.Type != eventlog.Wait || e.Leave != a.ID || e.Digest != a.Digest || e.Expires.IsZero() || e.Where != "nowhere" {
					t.Errorf("the first event of the call is %+v", e)
				}
				if e := events[1]; e.Type != eventlog.Decided || e.Leave != a.ID || e.Status+": "+e.Content != tc.decided {
					t.Errorf("the second event of the call is %+v, want %s", e, tc.decided)
				}
				got, want := strings.Split(r.records(run.ID), ", "), strings.Split(tc.records, ", ")
				if tc.verdict.Decision == "" { // who expires it and who acts on that are two
					slices.Sort(got)
					slices.Sort(want)
				}
				if !slices.Equal(got, want) {
					t.Errorf("records:\ngot  %s\nwant %s", got, want)
				}
				if got := r.told.all(); got != tc.told {
					t.Errorf("told: got %s, want %s", got, tc.told)
				}
				if after, err := r.store.Approval(t.Context(), a.ID); err != nil || after.State != approval.Consumed {
					t.Errorf("the approval is %s, %v, want consumed", after.State, err)
				}
			})
		}
	}
}

// What does not count changes nothing, has a stable code and is on record.
func TestRefusals(t *testing.T) {
	approve := approval.Verdict{Decision: approval.Approve}
	edit := func(patch string) approval.Verdict {
		return approval.Verdict{Decision: approval.EditFirst, Patch: json.RawMessage(patch)}
	}
	for _, tc := range []struct {
		name    string
		who     policy.Principal
		before  func(r *rig, run agents.Handle, a approval.Approval)
		verdict approval.Verdict
		want    string
		waits   bool // the call waits as before
	}{
		{"the owner, who is no admin", ada, nil, approve, "forbidden", true},
		{"another user", bob, nil, approve, "forbidden", true},
		{"a reader", look, nil, approval.Verdict{Decision: approval.Reject}, "forbidden", true},
		{"an admin for somebody else", policy.Principal{User: "root", Role: policy.Admin, OnBehalfOf: "ada"}, nil, approve, "forbidden", true},
		{"an admin who was demoted", root, func(r *rig, _ agents.Handle, _ approval.Approval) { r.users.set("root", policy.User) }, approve, "forbidden", true},
		{"twice", eve, func(r *rig, _ agents.Handle, a approval.Approval) {
			if err := r.decide(root, a.ID, approve); err != nil {
				r.t.Fatal(err)
			}
		}, approve, "approval_decided", false},
		{"late", root, func(r *rig, _ agents.Handle, _ approval.Approval) { r.clock.add(15 * time.Minute) }, approve, "approval_expired", false},
		{"of a run that was cancelled", root, func(r *rig, run agents.Handle, _ approval.Approval) {
			if err := run.Cancel(r.t.Context()); err != nil {
				r.t.Fatal(err)
			}
			r.events(run.ID)
		}, approve, "run_over", false},
		{"of another digest", root, nil, approval.Verdict{Decision: approval.Approve, Digest: strings.Repeat("0", 64)}, "approval_changed", true},
		{"an edit that is no object", root, nil, edit(`["x"]`), "invalid_edit", true},
		{"an edit of what is shown redacted", root, nil, edit(`{"text":"login REDACTED"}`), "invalid_edit", true},
		{"an edit that changes nothing", root, nil, edit(`{"text":"rm -rf build"}`), "invalid_edit", true},
		{"an empty edit", root, nil, edit(`{}`), "invalid_edit", true},
		{"an edit against the schema", root, nil, edit(`{"text":null}`), "invalid_edit", true},
		{"an edit of the tool", root, nil, edit(`{"tool":"other"}`), "invalid_edit", true},
		{"an edit with a name twice", root, nil, edit(`{"text":"ls","text":"rm -rf /"}`), "invalid_edit", true},
		{"an edit in a run whose user was revoked", root, func(r *rig, _ agents.Handle, _ approval.Approval) { r.users.set("ada", "") }, edit(`{"text":"ls"}`), "run_over", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, erase)
			run := r.ask(ada)
			a := r.pending(run.ID, 1)[0]
			if tc.before != nil {
				tc.before(r, run, a)
			}
			if got := code(r.decide(tc.who, a.ID, tc.verdict)); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			if got := r.records(run.ID); !strings.Contains(got, "approval.refused "+tc.want) {
				t.Errorf("records: got %s", got)
			}
			after, err := r.store.Approval(t.Context(), a.ID)
			if err != nil || tc.waits != (after.State == approval.Pending) || tc.waits && after.Version != a.Version {
				t.Errorf("the approval is %s in version %d, %v", after.State, after.Version, err)
			}
			if tc.waits && len(r.ran()) > 0 {
				t.Error("the call was made")
			}
		})
	}
	r := newRig(t)
	if err := r.decide(root, "call_00000000000000000000000000000000", approve); !errors.Is(err, approval.ErrNotFound) {
		t.Errorf("none: got %v", err)
	}
	if got := code(r.decide(ada, "call_00000000000000000000000000000000", approve)); !strings.HasPrefix(got, "forbidden") {
		t.Errorf("none, by a user: got %s: whether there is one is not told", got)
	}
}

func TestTwoCallsAreDecidedApart(t *testing.T) {
	r := newRig(t, erase, reboot)
	run := r.ask(ada)
	list := r.pending(run.ID, 2)
	if err := r.decide(root, list[1].ID, approval.Verdict{Decision: approval.Approve}); err != nil {
		t.Fatal(err)
	}
	for r.ran() == nil { // until then the run waits for both
	}
	r.pending(run.ID, 1)
	r.close()
	r.open("other", erase, reboot)
	if err := r.decide(eve, list[0].ID, approval.Verdict{Decision: approval.Reject}); err != nil {
		t.Fatal(err)
	}
	got := r.answer(run.ID)
	if !strings.Contains(got, "success: did "+reboot) || !strings.Contains(got, "rejected by eve") || !slices.Equal(r.ran(), []string{reboot}) {
		t.Errorf("got %q, ran %q", got, r.ran())
	}
}

// The principal is resolved again after the approval.
func TestWhoAskedMustStillBeAllowed(t *testing.T) {
	for name, role := range map[string]policy.Role{"revoked": "", "demoted": policy.Readonly} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, erase)
			run := r.ask(ada)
			a := r.pending(run.ID, 1)[0]
			r.users.set("ada", role)
			if err := r.decide(root, a.ID, approval.Verdict{Decision: approval.Approve}); err != nil {
				t.Fatal(err)
			}
			events := r.events(run.ID)
			if last := events[len(events)-1]; last.Status != string(agents.Error) || len(r.ran()) > 0 {
				t.Errorf("the run ended as %s, ran %q", last.Status, r.ran())
			}
		})
	}
}

// TestUsedOnce has many people decide, many wake the run, and two processes do so at once: the call is
// made at most once, and exactly once if it was approved.
func TestUsedOnce(t *testing.T) {
	r := newRig(t, erase)
	beside := *r
	beside.open("beside", erase)
	for i := range 15 {
		run := r.ask(ada)
		a := r.pending(run.ID, 1)[0]
		var group sync.WaitGroup
		var mu sync.Mutex
		counted := map[approval.Decision]int{}
		for n := range 8 {
			group.Go(func() {
				v := approval.Verdict{Decision: approval.Approve}
				if n%4 == i%4 {
					v.Decision = approval.Reject
				}
				desk := r.desk
				if n%2 == 1 {
					desk = beside.desk
				}
				p := root
				p.User = fmt.Sprint("admin", n)
				_, err := desk.Decide(t.Context(), p, a.ID, v)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					counted[v.Decision]++
				} else if c := code(err); c != approval.CodeDecided {
					t.Errorf("Decide: %v", err)
				}
			})
			group.Go(func() {
				host := []*agents.Host{r.host, beside.host}[n%2]
				if err := host.Wake(t.Context(), run.ID); err != nil && !errors.Is(err, agents.ErrUnreachable) {
					t.Errorf("Wake: %v", err)
				}
			})
		}
		group.Wait()
		r.events(run.ID)
		if n := counted[approval.Approve] + counted[approval.Reject]; n != 1 {
			t.Errorf("%d decisions counted, want one", n)
		}
		if starts := strings.Count(r.records(run.ID), "tool.start"); starts != counted[approval.Approve] {
			t.Errorf("the call was made %d times, %d approvals counted", starts, counted[approval.Approve])
		}
	}
}

// held is a call of a run that is in the store, as the gate would ask for it.
func (r *rig) held(p policy.Principal, d policy.Decision) agents.HeldCall {
	r.t.Helper()
	run := r.ask(p)
	a := r.pending(run.ID, 1)[0]
	d.Rule, d.Effect = "two-people", policy.Approve
	return agents.HeldCall{
		Run: run.ID, Thread: run.Thread, Agent: a.Agent, Call: "call_" + strings.Repeat("0", 31) + "1", Tool: a.Tool, Principal: p,
		Digest: strings.Repeat("ab", 32), Arguments: json.RawMessage(`{"text":"rm -rf build"}`), Decision: d,
	}
}

func (r *rig) mustAsk(c agents.HeldCall) agents.Leave {
	r.t.Helper()
	l, err := r.desk.Ask(r.t.Context(), c)
	if err != nil {
		r.t.Fatalf("Ask: %v", err)
	}
	return l
}

func TestTwoPeopleAndNotTheOneWhoAsked(t *testing.T) {
	r := newRig(t, erase)
	c := r.held(root, policy.Decision{Approvers: 2, OtherPerson: true})
	if l := r.mustAsk(c); l.State != agents.LeavePending || l.People != 2 || !l.Other {
		t.Fatalf("got %+v", l)
	}
	approve := approval.Verdict{Decision: approval.Approve}
	third := eve
	third.User = "mallory"
	for _, step := range []struct {
		who  policy.Principal
		want string
	}{
		{root, approval.CodeOwn}, {eve, "<nil>"}, {eve, approval.CodeRepeated}, {third, "<nil>"}, {third, approval.CodeDecided},
	} {
		if l := r.mustAsk(c); step.want != approval.CodeDecided && l.State != agents.LeavePending {
			t.Errorf("before %s: got %+v", step.who.User, l)
		} else if step.want == approval.CodeDecided && (l.State != agents.LeaveGranted || !slices.Equal(l.By, []string{"eve", "mallory"})) {
			t.Errorf("in the end: got %+v", l)
		}
		if got := code(r.decide(step.who, c.Call, approve)); got != step.want {
			t.Errorf("%s: got %s, want %s", step.who.User, got, step.want)
		}
	}
	if l := r.mustAsk(c); l.State != agents.LeaveRefused {
		t.Errorf("once more: got %+v", l)
	}
	if got := r.records(c.Run); !strings.HasSuffix(got, "approval.refused "+approval.CodeDecided) || !strings.Contains(got, "approval.decision agreed") {
		t.Errorf("records: %s", got)
	}
}

// An admin who loses the account, the role or the token after approving a call has not approved it: neither with
// others who come later nor when the run comes to make it.
func TestAnApprovalIsOfWhoStillMayDecide(t *testing.T) {
	approve := approval.Verdict{Decision: approval.Approve}
	for name, change := range map[string]func(*users){
		"revoked": func(u *users) { u.set("root", "") }, "demoted": func(u *users) { u.set("root", policy.User) }, "token revoked": func(u *users) { u.set("t2", "") },
	} {
		t.Run(name+" before the second one", func(t *testing.T) {
			r := newRig(t, erase)
			c := r.held(ada, policy.Decision{Approvers: 2})
			r.mustAsk(c)
			if err := r.decide(root, c.Call, approve); err != nil {
				t.Fatal(err)
			}
			change(r.users)
			if err := r.decide(eve, c.Call, approve); err != nil {
				t.Fatal(err)
			}
			if l := r.mustAsk(c); l.State != agents.LeavePending {
				t.Errorf("with one who may still decide: got %+v", l)
			}
			third := eve
			third.User = "mallory"
			if err := r.decide(third, c.Call, approve); err != nil {
				t.Fatal(err)
			}
			if l := r.mustAsk(c); l.State != agents.LeaveGranted || !slices.Equal(l.By, []string{"eve", "mallory"}) {
				t.Errorf("in the end: got %+v", l)
			}
			if got := r.records(c.Run); !strings.Contains(got, "approval.refused "+approval.CodeForbidden) {
				t.Errorf("records: %s", got)
			}
		})
		t.Run(name+" before the call", func(t *testing.T) {
			r := newRig(t, erase)
			c := r.held(ada, policy.Decision{})
			r.mustAsk(c)
			if err := r.decide(root, c.Call, approve); err != nil {
				t.Fatal(err)
			}
			change(r.users)
			if l := r.mustAsk(c); l.State != agents.LeavePending {
				t.Errorf("got %+v", l)
			}
			if err := r.decide(eve, c.Call, approve); err != nil {
				t.Fatal(err)
			}
			if l := r.mustAsk(c); l.State != agents.LeaveGranted || !slices.Equal(l.By, []string{"eve"}) {
				t.Errorf("approved by another: got %+v", l)
			}
		})
	}
}

// Nobody's approval of one call counts for another one.
func TestLeaveIsForThisCallOnly(t *testing.T) {
	for name, change := range map[string]func(*agents.HeldCall){
		"arguments": func(c *agents.HeldCall) { c.Digest = strings.Repeat("cd", 32) },
		"run":       func(c *agents.HeldCall) { c.Run = "0190f5a4-7c3e-7b1a-9f6e-2d4c8a1b3e5f" },
		"agent":     func(c *agents.HeldCall) { c.Agent = "audit" },
		"tool":      func(c *agents.HeldCall) { c.Tool = "other" },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, erase)
			c := r.held(ada, policy.Decision{})
			r.mustAsk(c)
			if err := r.decide(root, c.Call, approval.Verdict{Decision: approval.Approve}); err != nil {
				t.Fatal(err)
			}
			other := c
			change(&other)
			if l := r.mustAsk(other); l.State != agents.LeaveRefused {
				t.Errorf("got %+v, want refused", l)
			}
			if l := r.mustAsk(c); l.State != agents.LeaveGranted {
				t.Errorf("the call itself: got %+v, want granted", l)
			}
		})
	}
}

// An approval that is not used in time expires, and one that a stricter rule came after is not enough.
func TestAnApprovalMustHoldWhenItIsUsed(t *testing.T) {
	r := newRig(t, erase)
	c := r.held(ada, policy.Decision{})
	r.mustAsk(c)
	if err := r.decide(root, c.Call, approval.Verdict{Decision: approval.Approve}); err != nil {
		t.Fatal(err)
	}
	strict := c
	strict.Decision.Approvers = 2
	if l := r.mustAsk(strict); l.State != agents.LeavePending || l.People != 2 {
		t.Errorf("under a stricter rule: got %+v", l)
	}
	if err := r.decide(eve, c.Call, approval.Verdict{Decision: approval.Approve}); err != nil {
		t.Fatal(err)
	}
	r.clock.add(15 * time.Minute)
	if l := r.mustAsk(strict); l.State != agents.LeaveExpired {
		t.Errorf("too late: got %+v", l)
	}
}

func TestAutoApprove(t *testing.T) {
	builtin := policy.Decision{Builtin: true}
	admin := root
	admin.OnBehalfOf = "ada"
	for _, tc := range []struct {
		name    string
		who     policy.Principal
		auto    bool // of the run
		service bool // of the service
		d       policy.Decision
		want    agents.LeaveState
	}{
		{"nobody asked for it", root, false, false, builtin, agents.LeavePending},
		{"the run of an admin", root, true, false, builtin, agents.LeaveGranted},
		{"the service, the run of an admin", root, false, true, builtin, agents.LeaveGranted},
		{"the run of a user", ada, true, true, builtin, agents.LeavePending},
		{"an admin for a user", admin, true, true, builtin, agents.LeavePending},
		{"an operator's rule", root, true, true, policy.Decision{}, agents.LeavePending},
		{"two people", root, true, true, policy.Decision{Builtin: true, Approvers: 2}, agents.LeavePending},
		{"another person", root, true, true, policy.Decision{Builtin: true, OtherPerson: true}, agents.LeavePending},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, erase)
			c := r.held(tc.who, tc.d)
			c.Auto = tc.auto
			defer r.desk.Serve(approval.Config{Auto: tc.service})()
			if l := r.mustAsk(c); l.State != tc.want {
				t.Errorf("got %+v", l)
			}
			if tc.want == agents.LeaveGranted {
				if l := r.mustAsk(c); l.State != agents.LeaveRefused {
					t.Errorf("once more: got %+v, want refused", l)
				}
				e := r.last(c.Run, audit.ApprovalDecision)
				if !strings.Contains(strings.Join(e.Reasons, " "), "auto_approve") || e.User != "root" {
					t.Errorf("the record is %+v", e)
				}
			}
		})
	}
}

// last is a run's last record of a type.
func (r *rig) last(run, typ string) (last audit.Event) {
	r.t.Helper()
	all, err := r.audit.Events(r.t.Context(), audit.Filter{Run: run})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, e := range all {
		if e.Type == typ {
			last = e
		}
	}
	return last
}

// A decision whose maker could not wake the run is found by the next sweep.
func TestADecisionNobodyWasWokenFor(t *testing.T) {
	r := newRig(t, erase)
	run := r.ask(ada)
	a := r.pending(run.ID, 1)[0]
	a.State, a.Outcome = approval.Approved, approval.Approved
	a.Votes = []approval.Vote{{User: "root", Decision: approval.Approve, Digest: a.Digest}}
	if err := r.store.SaveApproval(t.Context(), &a); err != nil {
		t.Fatal(err)
	}
	r.close()
	r.open("next", erase)
	r.events(run.ID)
	if len(r.ran()) != 1 {
		t.Errorf("ran %q", r.ran())
	}
}

// Of two people, the second approves what the first has made of the call, or nothing.
func TestAnEditIsForTheOthersToSee(t *testing.T) {
	r := newRig(t, erase)
	run := r.ask(ada)
	a := r.pending(run.ID, 1)[0]
	a.Approvers = 2
	if err := r.store.SaveApproval(t.Context(), &a); err != nil {
		t.Fatal(err)
	}
	if err := r.decide(root, a.ID, approval.Verdict{Decision: approval.Approve}); err != nil {
		t.Fatal(err)
	}
	edited, err := r.desk.Decide(t.Context(), eve, a.ID, approval.Verdict{Decision: approval.EditFirst, Patch: json.RawMessage(`{"text":"rm -rf build/cache"}`)})
	if err != nil || edited.State != approval.Pending {
		t.Fatalf("got %s, %v: the first approval was of another call", edited.State, err)
	}
	for _, digest := range []string{"", a.Digest} {
		if got := code(r.decide(root, a.ID, approval.Verdict{Decision: approval.Approve, Digest: digest})); got != approval.CodeChanged {
			t.Errorf("with digest %q: got %s, want %s", digest, got, approval.CodeChanged)
		}
	}
	if err := r.decide(root, a.ID, approval.Verdict{Decision: approval.Approve, Digest: r.desk.Show(edited).Digest}); err != nil {
		t.Fatal(err)
	}
	if got := r.answer(run.ID); !strings.Contains(got, "A person (eve, root) changed") || !slices.Equal(r.ran(), []string{"rm -rf build/cache"}) {
		t.Errorf("got %q, ran %q", got, r.ran())
	}
}

func TestWhoSeesWhat(t *testing.T) {
	r := newRig(t, erase)
	run := r.ask(ada)
	a := r.pending(run.ID, 1)[0]
	for _, tc := range []struct {
		who  policy.Principal
		sees bool
	}{{ada, true}, {root, true}, {bob, false}, {look, false}} {
		_, err := r.desk.Approval(t.Context(), tc.who, a.ID)
		list, listErr := r.desk.Approvals(t.Context(), tc.who, approval.Filter{Limit: 10})
		others, othersErr := r.desk.Approvals(t.Context(), tc.who, approval.Filter{Owner: "ada", Limit: 10})
		if (err == nil) != tc.sees || !tc.sees && !errors.Is(err, approval.ErrNotFound) || listErr != nil || othersErr != nil ||
			(len(list) == 1) != tc.sees || (len(others) == 1) != tc.sees {
			t.Errorf("%s: got %v, %d and %d in lists", tc.who.User, err, len(list), len(others))
		}
	}
}

// A user has written into a thread, and an admin goes on with it while the service makes calls of admins
// without asking: that is for their own threads.
func TestAutoApproveIsForOnesOwnThreads(t *testing.T) {
	r := newRig(t, erase)
	defer r.desk.Serve(approval.Config{Auto: true})()
	for _, tc := range []struct {
		owner policy.Principal
		ran   []string
	}{{root, []string{erase}}, {ada, nil}} {
		thread, err := r.rt.As(tc.owner).CreateThread(t.Context(), agents.ThreadRequest{})
		if err != nil {
			t.Fatal(err)
		}
		run, err := r.rt.As(root).Start(t.Context(), agents.Request{Thread: thread.ID, Input: []model.Message{{Role: "user", Content: "go"}}})
		if err != nil {
			t.Fatal(err)
		}
		if tc.ran == nil {
			r.pending(run.ID, 1)
			continue
		}
		r.events(run.ID)
		if got := r.ran(); !slices.Equal(got, tc.ran) {
			t.Errorf("a thread of %s: ran %q, want %q", tc.owner.User, got, tc.ran)
		}
	}
	if got := r.ran(); len(got) != 1 {
		t.Errorf("ran %q", got)
	}
}

// A user floods the desk, so that nobody finds what matters: the runs of that user get no more leave, those
// of others do.
func TestAUserCannotBuryOthers(t *testing.T) {
	r := newRig(t, erase)
	run := r.ask(ada)
	a := r.pending(run.ID, 1)[0]
	for i := range 255 {
		more := a
		more.ID = fmt.Sprintf("call_%032x", i)
		if _, err := r.store.CreateApproval(t.Context(), more); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.answer(r.ask(ada).ID); !strings.Contains(got, "denied: ") || !strings.Contains(got, "256 other calls of ada wait") {
		t.Errorf("got %s", got)
	}
	r.pending(r.ask(bob).ID, 1)
	if got := r.ran(); got != nil {
		t.Errorf("ran %q", got)
	}
}

// An approval is for the place that was shown: at another one people are asked anew, and an edited call is not made.
func TestElsewhere(t *testing.T) {
	move := func(r *rig) {
		if err := os.WriteFile(filepath.Join(r.dir, "where"), []byte("elsewhere"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	decide := func(r *rig, id string, v approval.Verdict) { // before the gate looks again
		r.desk.Close()
		move(r)
		if err := r.decide(root, id, v); err != nil {
			t.Fatal(err)
		}
		r.close()
		r.open("other", erase)
	}
	t.Run("approved", func(t *testing.T) {
		r := newRig(t, erase)
		run := r.ask(ada)
		decide(r, r.pending(run.ID, 1)[0].ID, approval.Verdict{Decision: approval.Approve})
		a := r.pending(run.ID, 1)[0]
		if a.Where != "elsewhere" || len(a.Votes) != 0 || r.ran() != nil {
			t.Fatalf("got %+v, ran %q, want one that nobody has approved", a, r.ran())
		}
		if err := r.decide(root, a.ID, approval.Verdict{Decision: approval.Approve}); err != nil {
			t.Fatal(err)
		}
		if got, want := r.answer(run.ID), "success: did rm -rf build approved=true"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
	t.Run("edited", func(t *testing.T) {
		r := newRig(t, erase)
		run := r.ask(ada)
		id := r.pending(run.ID, 1)[0].ID
		r.desk.Close()
		if err := r.decide(root, id, approval.Verdict{Decision: approval.EditFirst, Patch: json.RawMessage(`{"text":"rm -rf build/cache"}`)}); err != nil {
			t.Fatal(err)
		}
		move(r)
		r.close()
		r.open("other", erase)
		if got := r.answer(run.ID); !strings.Contains(got, "the changed call would run elsewhere now") || r.ran() != nil {
			t.Errorf("got %s, ran %q", got, r.ran())
		}
	})
}
