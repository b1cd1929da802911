package agents_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/model"
)

// memories recalls what it is made with, and keeps what it is told.
type memories struct {
	known agents.Recalled
	err   error

	mu        sync.Mutex
	asked     []agents.Invocation
	completed []agents.Completed
	told      chan struct{}
}

func (m *memories) Recall(_ context.Context, in agents.Invocation) (agents.Recalled, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, in)
	return m.known, m.err
}

func (m *memories) Capture(_ agents.Invocation, c agents.Completed) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.completed = append(m.completed, c)
	m.told <- struct{}{}
}

// delegator hands its task to core once, and notes the system prompts of all turns.
func delegator(mu *sync.Mutex, prompts *[]string) modelFunc {
	return func(_ context.Context, req model.Request, say func(string)) (model.Response, error) {
		mu.Lock()
		*prompts = append(*prompts, req.Agent+": "+req.System)
		mu.Unlock()
		if last := req.Messages[len(req.Messages)-1]; req.Agent == agents.Default && last.Role == model.RoleUser {
			return calls(call(agents.Delegate, `{"agent":"core","task":"look closer"}`)), nil
		}
		return answer(say, "done"), nil
	}
}

func TestMemory(t *testing.T) {
	var mu sync.Mutex
	var prompts []string
	m := &memories{known: agents.Recalled{Text: "\nknown: the lab is in Oslo", Labels: []string{"memory"}, Entries: 1}, told: make(chan struct{}, 8)}
	f := newFixture(t, delegator(&mu, &prompts))
	f.setup.Memory = m
	f.configure()
	run, _ := f.run(agents.Default, "what is new?")
	<-m.told
	<-m.told

	var asked []string
	for _, in := range m.asked {
		asked = append(asked, strings.Join([]string{in.Agent, in.Owner, in.Task}, "/"))
	}
	if diff := cmp.Diff([]string{agents.Default + "/ada/what is new?", "core/ada/look closer"}, asked); diff != "" {
		t.Error("asked once for each task:\n" + diff)
	}
	if len(prompts) != 3 || slices.ContainsFunc(prompts, func(p string) bool { return !strings.HasSuffix(p, m.known.Text) }) {
		t.Errorf("got the prompts %q, want three that end with what is known", prompts)
	}
	if last := run.Frames[0].Messages[len(run.Frames[0].Messages)-1]; !slices.Contains(last.Labels, "memory") {
		t.Errorf("the answer has the labels %v, want memory among them", last.Labels)
	}
	for _, c := range m.completed {
		if got := c.Messages[len(c.Messages)-1].Content; got != "done" {
			t.Errorf("told of the answer %q", got)
		}
	}
	if _, err := m.completed[1].Ask(t.Context(), model.Request{Messages: []model.Message{{Role: model.RoleUser, Content: "facts?"}}}); err != nil {
		t.Errorf("asking after the run's end: %v", err)
	}
}

// Who cannot remember works all the same, and a task that failed is not captured.
func TestMemoryFails(t *testing.T) {
	m := &memories{err: errors.New("the store is away"), told: make(chan struct{}, 8)}
	f := newFixture(t, modelFunc(func(_ context.Context, req model.Request, say func(string)) (model.Response, error) {
		if strings.Contains(req.Messages[0].Content, "fail") {
			return model.Response{}, model.ErrUnavailable
		}
		return answer(say, "done"), nil
	}))
	f.setup.Memory = m
	f.configure()
	if run, _ := f.run("quick", "hello"); run.Status != agents.Success {
		t.Errorf("got %s, want success", run.Status)
	}
	if run, _ := f.run("quick", "fail"); run.Status != agents.Error {
		t.Errorf("got %s, want error", run.Status)
	}
	f.host.Close()
	if len(m.completed) != 1 {
		t.Errorf("told of %d tasks, want the one that was completed", len(m.completed))
	}
}
