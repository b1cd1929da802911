package approval_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/agents/approval/approvaltest"
	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/audit/audittest"
	"github.com/svc-gateway/svc/internal/bus"
)

// The test binary is also the program that is killed: with these in the environment it starts a run on
// the folder's files, approves its call and follows it to its end, and kills itself on the way.
const (
	childDir = "SVC_TEST_APPROVAL_DIR"
	childDie = "SVC_TEST_APPROVAL_DIE" // "before N", "after N": around the Nth write; "effect": in the tool
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := child(context.Background(), dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// die ends the process as kill -9 does.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// mortal is a store whose process dies at one of its writes.
type mortal struct {
	approvaltest.Store
	n    *atomic.Int32
	when string
	at   int32
}

func newMortal(s approvaltest.Store) approvaltest.Store {
	m := mortal{Store: s, n: new(atomic.Int32)}
	if _, err := fmt.Sscanf(os.Getenv(childDie), "%s %d", &m.when, &m.at); err != nil {
		m.at = -1
	}
	return m
}

func (m mortal) around(write func() error) error {
	n := m.n.Add(1)
	if n == m.at && m.when == "before" {
		die()
	}
	err := write()
	if n == m.at && m.when == "after" {
		die()
	}
	return err
}

func (m mortal) SaveRun(ctx context.Context, r *agents.Run) error {
	return m.around(func() error { return m.Store.SaveRun(ctx, r) })
}

func (m mortal) SuspendRun(ctx context.Context, r *agents.Run) error {
	return m.around(func() error { return m.Store.SuspendRun(ctx, r) })
}

func (m mortal) ResumeRun(ctx context.Context, r *agents.Run) error {
	return m.around(func() error { return m.Store.ResumeRun(ctx, r) })
}

func (m mortal) FinishRun(ctx context.Context, r *agents.Run, messages []model.Message, events []eventlog.Event) error {
	return m.around(func() error { return m.Store.FinishRun(ctx, r, messages, events) })
}

func (m mortal) SaveApproval(ctx context.Context, a *approval.Approval) error {
	return m.around(func() error { return m.Store.SaveApproval(ctx, a) })
}

func (m mortal) CreateApproval(ctx context.Context, a approval.Approval) (b approval.Approval, err error) {
	err = m.around(func() error { b, err = m.Store.CreateApproval(ctx, a); return err })
	return b, err
}

// child does it all once.
func child(ctx context.Context, dir string) error {
	r := &rig{dir: dir, bus: bus.NewMemory(), told: &told{}, clock: &clock{now: time.Now()}, users: &users{}}
	var err error
	if r.audit, err = openAudit(ctx, dir); err != nil {
		return err
	}
	if err := r.start(ctx, "child", newMortal, erase); err != nil {
		return err
	}
	run, err := r.rt.As(ada).Start(ctx, agents.Request{Input: []model.Message{{Role: "user", Content: "go"}}})
	if err != nil {
		return err
	}
	for events, err := range run.Follow(ctx, 0) {
		if err != nil {
			return err
		}
		for _, e := range events {
			if e.Type != eventlog.Wait {
				continue
			}
			if _, err := r.desk.Decide(ctx, root, e.Leave, approval.Verdict{Decision: approval.Approve, Digest: e.Digest}); err != nil {
				return err
			}
		}
	}
	r.close()
	return r.audit.Close()
}

// TestCrashAtEachStep kills the process before and after each of its writes, and within the call. The
// call is made at most once; what was not decided can still be, and no approval is used twice.
func TestCrashAtEachStep(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	crash := func(t *testing.T, how string) (died bool) {
		dir := t.TempDir()
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), childDir+"="+dir, childDie+"="+how)
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		switch {
		case err == nil:
		case errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL:
			died = true
		default:
			t.Fatalf("%v: %s", err, out)
		}
		afterwards(t, dir)
		return died
	}
	steps := 0
	for _, when := range []string{"before", "after"} {
		for n, died := 1, true; died; n++ {
			t.Run(fmt.Sprintf("%s write %d", when, n), func(t *testing.T) { died = crash(t, fmt.Sprintf("%s %d", when, n)) })
			steps = max(steps, n-1)
		}
	}
	if steps < 6 {
		t.Errorf("died at %d writes, want a handful", steps)
	}
	t.Run("in the call", func(t *testing.T) {
		if !crash(t, "effect") {
			t.Error("the process did not die")
		}
	})
}

// afterwards starts the service on what a dead one left, approves what waits, and looks at what came of
// it all.
func afterwards(t *testing.T, dir string) {
	t.Helper()
	r := &rig{t: t, dir: dir, bus: bus.NewMemory(), told: &told{}, clock: &clock{now: time.Now()}, users: &users{}}
	r.audit = audittest.Open(t, filepath.Join(dir, "audit.db"))
	r.open("next", erase)
	runs, err := r.rt.As(root).Runs(t.Context(), agents.RunFilter{Limit: 2})
	if err != nil || len(runs) > 1 {
		t.Fatalf("got %d runs, %v", len(runs), err)
	}
	if len(runs) == 0 {
		return
	}
	run := runs[0].ID
	list, err := r.store.Approvals(t.Context(), approval.Filter{Run: run, State: []approval.State{approval.Pending}, Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		if _, err := r.desk.Decide(t.Context(), root, a.ID, approval.Verdict{Decision: approval.Approve, Digest: a.Digest}); err != nil {
			t.Errorf("approving what still waits: %v", err)
		}
	}
	r.events(run)
	info, err := r.store.RunInfo(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	made, records := len(r.ran()), r.records(run)
	if starts := strings.Count(records, "tool.start"); made > 1 || starts > 1 || made > starts {
		t.Errorf("the call was made %d times and started %d times: %s", made, starts, records)
	}
	if info.Status == agents.Success && made != 1 {
		t.Errorf("the run succeeded without the call: %s", records)
	}
	if made == 1 && !strings.Contains(records, "approval.decision approved") {
		t.Errorf("the call was made without a decision on record: %s", records)
	}
	all, err := r.store.Approvals(t.Context(), approval.Filter{Run: run, Limit: 5})
	if err != nil || len(all) > 1 {
		t.Errorf("got %d approvals, %v", len(all), err)
	}
	for _, a := range all {
		if a.State != approval.Consumed && a.State != approval.Cancelled || made == 1 && a.State != approval.Consumed {
			t.Errorf("the approval is %s, the call was made %d times", a.State, made)
		}
	}
}
