package agents_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/state"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/audit/sqlite"
	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/policy"
)

// The test binary is also the program that is killed: with these in the environment it opens a host
// on the folder's files, does what is asked and prints what came of it.
const (
	childDir = "SVC_TEST_HOST_DIR"
	childRun = "SVC_TEST_HOST_RUN" // a run to go on with; empty: start one
	childAdd = "SVC_TEST_HOST_ADD" // a thread: start a run that waits for the others in it
	childTo  = "SVC_TEST_HOST_TO"  // a run to wake, beside the one to go on with
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := child(context.Background(), dir, os.Getenv(childRun)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// leaveFile gives leave for every call as soon as the file is there.
type leaveFile string

func (l leaveFile) Ask(context.Context, agents.HeldCall) (agents.Leave, error) {
	switch _, err := os.Stat(string(l)); {
	case err == nil:
		return agents.Leave{State: agents.LeaveGranted, Reason: "the file is there"}, nil
	case errors.Is(err, fs.ErrNotExist):
		return agents.Leave{}, nil
	default:
		return agents.Leave{}, err
	}
}

// child starts or goes on with a run and prints its events, one JSON object a line, until it ends.
// The tool adds a line to the file ran.
func child(ctx context.Context, dir, run string) error {
	engine, err := policy.New()
	if err != nil {
		return err
	}
	records, err := sqlite.Open(ctx, filepath.Join(dir, "audit.db"))
	if err != nil {
		return err
	}
	log := audit.New(records, "child")
	store, err := state.Open(ctx, filepath.Join(dir, "state.db"))
	if err != nil {
		return err
	}
	host := agents.Open(agents.HostConfig{
		Store: store, Audit: log, Identity: &users{}, Bus: bus.NewMemory(), Node: fmt.Sprint("child-", os.Getpid()), Log: zap.NewNop(),
	})
	rt, err := host.Runtime(agents.Setup{
		Model: callThenAnswer(danger(erase)), Policy: policy.NewLive(engine), Log: zap.NewNop(), Holds: leaveFile(filepath.Join(dir, "leave")),
		Agents: []agents.Agent{{Name: agents.Default, Tools: []string{"command"}}},
		Tools: []agents.Tool{agents.NewTool(commandTool().ToolDef, func(context.Context, agents.ToolContext, map[string]any) (agents.Result, error) {
			f, err := os.OpenFile(filepath.Join(dir, "ran"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				return agents.Result{}, err
			}
			_, err = fmt.Fprintln(f, os.Getpid())
			return agents.Result{Text: "done"}, errors.Join(err, f.Close())
		})},
		Limits: agents.Limits{Steps: 5, Run: 1 << 40, Tool: 1 << 40, ParallelCalls: 2, ParallelRuns: 5, RunsPerMinute: 100},
	})
	if err != nil {
		return err
	}
	defer rt.Serve()()
	if err := host.Recover(ctx); err != nil {
		return err
	}
	handle, err := handleOf(ctx, rt, run)
	if err != nil {
		return err
	}
	fmt.Println(handle.ID)
	for _, id := range []string{handle.ID, os.Getenv(childTo)} {
		if err := host.Wake(ctx, id); id != "" && err != nil {
			return err
		}
	}
	for events, err := range handle.Follow(ctx, 0) {
		if err != nil {
			return err
		}
		for _, e := range events {
			line, err := json.Marshal(e)
			if err != nil {
				return err
			}
			fmt.Println(string(line))
		}
	}
	return errors.Join(host.Close(), log.Close())
}

func handleOf(ctx context.Context, rt *agents.Runtime, run string) (agents.Handle, error) {
	if run != "" {
		return rt.As(ada).Run(ctx, "", run)
	}
	return rt.As(ada).Start(ctx, agents.Request{
		Thread: os.Getenv(childAdd), Multitask: agents.MultitaskEnqueue, Input: []model.Message{{Role: "user", Content: "go"}},
	})
}

// process is a child under way.
type process struct {
	t   *testing.T
	cmd *exec.Cmd
	out *bufio.Scanner
	run string
}

func startChild(t *testing.T, dir, run string, env ...string) *process {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(append(os.Environ(), childDir+"="+dir, childRun+"="+run), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: cmd, out: bufio.NewScanner(out)}
	if !p.out.Scan() {
		t.Fatalf("the process said nothing: %v", cmd.Wait())
	}
	p.run = p.out.Text()
	return p
}

// until reads events up to one of a type.
func (p *process) until(typ eventlog.Type) (seen []eventlog.Event) {
	p.t.Helper()
	for p.out.Scan() {
		var e eventlog.Event
		if err := json.Unmarshal(p.out.Bytes(), &e); err != nil {
			p.t.Fatalf("reading %q: %v", p.out.Text(), err)
		}
		if seen = append(seen, e); e.Type == typ {
			return seen
		}
	}
	p.t.Fatalf("the process ended after %s, before %s", types(seen), typ)
	return nil
}

// kill9 ends the process without giving it a chance to do anything.
func (p *process) kill9() {
	p.t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		p.t.Fatal(err)
	}
	_ = p.cmd.Wait() // killed, as it says
}

// TestARunWaitsThroughKill9 kills the process that has a waiting run, and then the one that waits on
// after it; the third finds leave and does the call, once.
func TestARunWaitsThroughKill9(t *testing.T) {
	dir := t.TempDir()
	f := newFixture(t, callThenAnswer())
	store, err := state.Open(t.Context(), filepath.Join(dir, "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	f.store = store

	first := startChild(t, dir, "")
	first.until(eventlog.Wait)
	f.waits(first.run, 1)
	first.kill9()

	second := startChild(t, dir, first.run)
	second.until(eventlog.Wait)
	f.waits(first.run, 1)
	second.kill9()

	if err := os.WriteFile(filepath.Join(dir, "leave"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	third := startChild(t, dir, first.run)
	events := third.until(eventlog.Done)
	if err := third.cmd.Wait(); err != nil {
		t.Errorf("the third process: %v", err)
	}
	for i, e := range events {
		if e.Seq != i {
			t.Errorf("event %d has number %d", i, e.Seq)
		}
	}
	if got, want := types(events), "message tool_wait paused paused tool_use tool_result message_chunk message done"; got != want {
		t.Errorf("events: got %s, want %s", got, want)
	}
	ran, err := os.ReadFile(filepath.Join(dir, "ran"))
	if want := fmt.Sprintln(third.cmd.Process.Pid); err != nil || string(ran) != want {
		t.Errorf("the tool ran in %q, %v, want once, in %q", ran, err, want)
	}
	log, err := sqlite.OpenReader(t.Context(), filepath.Join(dir, "audit.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	_, rows, err := log.Query(t.Context(), audit.Filter{}, `SELECT decision, status FROM tool_calls`, audit.Limits{})
	if got := strings.TrimSpace(fmt.Sprint(rows)); err != nil || got != "[[approve success]]" {
		t.Errorf("tool_calls: got %s, %v", got, err)
	}
}

// TestAQueueSurvivesKill9 kills the process that has a waiting run, and the one that has another run wait
// for it; the third goes on with both, in their order and once.
func TestAQueueSurvivesKill9(t *testing.T) {
	dir := t.TempDir()
	f := newFixture(t, callThenAnswer())
	store, err := state.Open(t.Context(), filepath.Join(dir, "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	f.store = store

	first := startChild(t, dir, "")
	first.until(eventlog.Wait)
	thread := f.waits(first.run, 1).Thread
	first.kill9()

	second := startChild(t, dir, "", childAdd+"="+thread)
	if r, err := store.RunInfo(t.Context(), second.run); err != nil || r.Status != agents.Pending {
		t.Fatalf("got %v, %v, want pending", r.Status, err)
	}
	second.kill9()

	if err := os.WriteFile(filepath.Join(dir, "leave"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	third := startChild(t, dir, second.run, childTo+"="+first.run)
	third.until(eventlog.Done)
	if err := third.cmd.Wait(); err != nil {
		t.Errorf("the third process: %v", err)
	}
	ran, err := os.ReadFile(filepath.Join(dir, "ran"))
	if want := fmt.Sprintln(third.cmd.Process.Pid); err != nil || string(ran) != want {
		t.Errorf("the tool ran in %q, %v, want once, in %q", ran, err, want)
	}
	var roles []string
	messages, err := store.Messages(t.Context(), thread, -1)
	for _, m := range messages {
		roles = append(roles, m.Role)
	}
	if got, want := strings.Join(roles, " "), "user assistant tool assistant user assistant"; err != nil || got != want {
		t.Errorf("messages: got %s, %v, want %s", got, err, want)
	}
	for _, id := range []string{first.run, second.run} {
		if r, err := store.RunInfo(t.Context(), id); err != nil || r.Status != agents.Success {
			t.Errorf("run %s: got %v, %v", id, r.Status, err)
		}
	}
}
