package memory_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/memory"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/state"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/audit/audittest"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner/redact"
)

var (
	ada  = policy.Principal{User: "ada", Role: policy.User}
	bob  = policy.Principal{User: "bob", Role: policy.Readonly}
	root = policy.Principal{User: "root", Role: policy.Admin}
)

// fixture is a keeper on a real store, with a clock that the test moves.
type fixture struct {
	*memory.Keeper
	t     *testing.T
	log   *audit.Log
	warns *observer.ObservedLogs
	now   time.Time
}

func newFixture(t *testing.T, change ...func(*memory.Config)) *fixture {
	t.Helper()
	s, err := state.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	f := &fixture{t: t, log: audittest.Open(t, filepath.Join(t.TempDir(), "audit.db")), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	core, warns := observer.New(zap.WarnLevel)
	f.warns = warns
	c := memory.Config{
		Store: s, Audit: f.log, Log: zap.New(core), Queue: new(memory.Queue), Secrets: redact.NewSecrets(),
		Now: func() time.Time { return f.now },
	}
	for _, f := range change {
		f(&c)
	}
	f.Keeper = memory.New(c)
	t.Cleanup(func() { f.Queue.Close(context.Background()) })
	return f
}

func by(p policy.Principal, agent, task string) agents.Invocation {
	return agents.Invocation{Run: "run", Thread: "thread", Agent: agent, Principal: p, Owner: p.User, Task: task}
}

// done is a conversation: what the user said, then what tools returned.
func done(said string, results ...model.Message) []model.Message {
	list := []model.Message{{Role: model.RoleUser, Content: said, Labels: []string{"user"}}}
	list = append(list, results...)
	return append(list, model.Message{Role: model.RoleAssistant, Content: "done"})
}

func result(tool, status, text string) model.Message {
	return model.Message{Role: model.RoleTool, Name: tool, Status: status, Content: text, Labels: []string{"tool:" + tool}}
}

// learn has a conversation captured in which a model answers what it is asked, and waits for the end of it.
func (f *fixture) learn(in agents.Invocation, answer string, messages []model.Message) (asked bool) {
	f.t.Helper()
	labels := []string{}
	for _, m := range messages {
		labels = append(labels, m.Labels...)
	}
	f.Capture(in, agents.Completed{Messages: messages, Labels: memory.Sources(labels...), Ask: func(_ context.Context, req model.Request) (model.Response, error) {
		asked = true
		if req.System != model.MemorySystem {
			f.t.Errorf("asked with the system prompt %q", req.System)
		}
		return model.Response{Message: model.Message{Content: answer}}, nil
	}})
	f.settle(in.Owner)
	return asked
}

// settle waits until nothing is left to do for a user.
func (f *fixture) settle(owner string) {
	f.t.Helper()
	settled := make(chan struct{})
	if !f.Queue.Add(owner, func(context.Context) { close(settled) }) {
		f.t.Fatal("the queue is full")
	}
	<-settled
}

func memories(texts ...string) string {
	lines := make([]string, len(texts))
	for i, text := range texts {
		category, text, ok := strings.Cut(text, ": ")
		if !ok {
			category, text = "fact", category
		}
		line, err := json.Marshal(map[string]string{"category": category, "text": text})
		if err != nil {
			panic(err) // strings always encode
		}
		lines[i] = string(line)
	}
	return `{"memories":[` + strings.Join(lines, ",") + `]}`
}

// said has a user say something that is remembered word for word.
func (f *fixture) said(p policy.Principal, text string) {
	f.t.Helper()
	f.learn(by(p, "core", text), memories(text), done("Remember: "+strings.TrimPrefix(text, "preference: ")))
}

// all are a user's memories, each as category, agent, text and labels.
func (f *fixture) all(p policy.Principal) (lines []string) {
	f.t.Helper()
	list, err := f.List(f.t.Context(), p, memory.Filter{Limit: 100})
	if err != nil {
		f.t.Fatal(err)
	}
	for _, e := range list {
		lines = append(lines, fmt.Sprintf("%s %q %s %s", e.Category, e.Agent, e.Text, strings.Join(e.Labels, ",")))
	}
	return lines
}

func (f *fixture) recall(p policy.Principal, agent, task string) agents.Recalled {
	f.t.Helper()
	r, err := f.Recall(f.t.Context(), by(p, agent, task))
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

func (f *fixture) events(types ...string) []audit.Event {
	f.t.Helper()
	return audittest.Events(f.t, f.log, audit.Filter{}, types...)
}
