package agents_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/audit"
)

// relay delegates down a chain of agents, as far as it may, and answers with what came back.
func relay(next map[string]string) modelFunc {
	return func(_ context.Context, req model.Request, say func(string)) (model.Response, error) {
		last := req.Messages[len(req.Messages)-1]
		if to := next[req.Agent]; to != "" && last.Role == model.RoleUser {
			return calls(call("delegate", fmt.Sprintf(`{"agent":%q,"task":"go on"}`, to))), nil
		}
		return answer(say, req.Agent+"("+last.Content+")"), nil
	}
}

func chain(names ...string) (list []agents.Agent) {
	for i, name := range names {
		a := agents.Agent{Name: name, Description: name}
		if i+1 < len(names) {
			a.Delegates = names[i+1 : i+2]
		}
		list = append(list, a)
	}
	return list
}

func TestDepthOfDelegation(t *testing.T) {
	next := map[string]string{"a": "b", "b": "c", "c": "d"}
	for _, tc := range []struct {
		name   string
		most   int
		own    map[string]int // limits.depth by agent
		want   string         // answer
		denied string         // reason
	}{
		{"as deep as it likes", 0, nil, "a(b(c(d(go on))))", ""},
		{"as deep as it may", 3, nil, "a(b(c(d(go on))))", ""},
		{"of the runtime", 2, nil, "a(b(c(denied", "a task is handed down 2 times at most (setting runtime.max_depth)"},
		{"of the top-level agent", 8, map[string]int{"a": 1}, "a(b(denied", "a task of the agent a is handed down 1 times at most (limits.depth in its AGENT.md)"},
		{"of one between", 8, map[string]int{"a": 5, "b": 1}, "a(b(c(denied", "a task of the agent b is handed down 1 times at most"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFixture(t, relay(next))
			f.setup.Agents, f.setup.Limits.Depth = chain("a", "b", "c", "d"), tc.most
			for i, a := range f.setup.Agents {
				f.setup.Agents[i].Limits.Depth = tc.own[a.Name]
			}
			f.configure()
			run, events := f.run("a", "go")
			if got := text(events); !strings.HasPrefix(got, tc.want) || run.Status != agents.Success {
				t.Errorf("got %s, %s %v, want %s", got, run.Status, run.Failure, tc.want)
			}
			denied := f.records(run.ID, audit.ToolDenied)
			if (len(denied) == 1) != (tc.denied != "") || tc.denied != "" && !strings.Contains(strings.Join(denied[0].Reasons, " "), "delegation_depth: "+tc.denied) {
				t.Errorf("got %+v", denied)
			}
		})
	}
}

// A run was begun with other agents than it goes on with: those of now would hand the task round.
func TestCircleAtRunTime(t *testing.T) {
	f := newFixture(t, relay(map[string]string{"a": "b", "b": "a"}))
	f.setup.Agents = []agents.Agent{{Name: "a", Delegates: []string{"b"}}, {Name: "b", Delegates: []string{"a"}}}
	f.configure()
	run, events := f.run("a", "go")
	if got, want := text(events), "a(b(denied: delegation_cycle: the agent a is at work on the task that this one is part of"; !strings.HasPrefix(got, want) {
		t.Errorf("got %s (%v), want %s", got, run.Failure, want)
	}
}

// A sub-agent that reaches a limit of its own is over, and who gave it the task learns why.
func TestLimitsOfAgents(t *testing.T) {
	endless := func(_ context.Context, req model.Request, say func(string)) (model.Response, error) {
		last := req.Messages[len(req.Messages)-1]
		switch {
		case req.Agent == "core":
			return calls(call("echo", `{"text":"again"}`)), nil
		case last.Role == model.RoleTool:
			return answer(say, last.Status+": "+last.Content), nil
		}
		return calls(call("delegate", `{"agent":"core","task":"go"}`)), nil
	}
	stalling := func(ctx context.Context, req model.Request, say func(string)) (model.Response, error) {
		if req.Agent == "core" {
			say("well, ")
			<-ctx.Done()
			return model.Response{}, ctx.Err()
		}
		return endless(ctx, req, say)
	}
	hanging := tool("hang", func(ctx context.Context, _ agents.ToolContext, _ map[string]any) (agents.Result, error) {
		<-ctx.Done()
		return agents.Result{}, ctx.Err()
	})
	hang := func(ctx context.Context, req model.Request, say func(string)) (model.Response, error) {
		if req.Agent == "core" {
			return calls(call("hang", `{}`)), nil
		}
		return endless(ctx, req, say)
	}
	for _, tc := range []struct {
		name   string
		model  modelFunc
		limits agents.AgentLimits
		want   string // answer of the delegating agent
		code   string // of the failure, when the agent is asked itself
		status agents.Status
	}{
		{"steps", endless, agents.AgentLimits{Steps: 2}, "error: error: delegate: the agent core took 2 model turns without an answer (limits.steps in its AGENT.md)", "step_limit", agents.Error},
		{"tokens", endless, agents.AgentLimits{Tokens: 9}, "error: error: delegate: the agent core used 10 tokens of 9 for its task (limits.tokens in its AGENT.md)", "token_limit", agents.Error},
		{"time of a turn", stalling, agents.AgentLimits{Time: 30 * time.Millisecond}, "timeout: timeout: delegate: the agent core did not end its task in 30ms (limits.time in its AGENT.md)", "run_timeout", agents.Timeout},
		{"time of a call", hang, agents.AgentLimits{Time: 30 * time.Millisecond}, "timeout: timeout: delegate: the agent core did not end its task in 30ms (limits.time in its AGENT.md)", "run_timeout", agents.Timeout},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFixture(t, tc.model, echo(), hanging)
			f.setup.Agents[1].Limits = tc.limits
			f.configure()
			run, events := f.run("", "go")
			if got := text(events); got != tc.want || run.Status != agents.Success {
				t.Errorf("got %s, %v, want %s", got, run.Failure, tc.want)
			}
			last := run.Frames[0].Messages[len(run.Frames[0].Messages)-1]
			if want := []string{"user", "tool:delegate"}; !cmp.Equal(last.Labels[:2], want) {
				t.Errorf("got labels %v", last.Labels)
			}
			var status string
			for _, e := range f.records(run.ID, audit.ToolEnd, audit.ToolError) {
				if e.Tool == "delegate" {
					status += e.Status
				}
			}
			if want, _, _ := strings.Cut(tc.want, ":"); status != want {
				t.Errorf("the delegation is on record as %q, want %q", status, want)
			}
			run, _ = f.run("core", "go")
			if run.Status != tc.status || run.Failure == nil || run.Failure.Code != tc.code {
				t.Errorf("asked itself: got %s, %v, want %s", run.Status, run.Failure, tc.code)
			}
		})
	}
}

// The time of a task counts for whom it was handed down to, and its end ends each of them.
func TestTimeCountsDown(t *testing.T) {
	f := newFixture(t, modelFunc(func(ctx context.Context, req model.Request, say func(string)) (model.Response, error) {
		if req.Agent == "c" {
			<-ctx.Done()
			return model.Response{}, ctx.Err()
		}
		return relay(map[string]string{"a": "b", "b": "c"})(ctx, req, say)
	}))
	f.setup.Agents = chain("a", "b", "c")
	f.setup.Agents[1].Limits.Time = 30 * time.Millisecond
	f.configure()
	run, events := f.run("a", "go")
	if got, want := text(events), "a(timeout: delegate: the agent b did not end its task in 30ms (limits.time in its AGENT.md))"; got != want {
		t.Errorf("got %s, %v, want %s", got, run.Failure, want)
	}
}

// An agent has its own tools, whoever gave it the task: a sub-agent cannot use those of the agent above,
// nor that one those of the sub-agent.
func TestToolsAreNotInherited(t *testing.T) {
	f := newFixture(t, modelFunc(func(_ context.Context, req model.Request, say func(string)) (model.Response, error) {
		last := req.Messages[len(req.Messages)-1]
		var names []string
		for _, spec := range req.Tools {
			names = append(names, spec.Name)
		}
		switch {
		case last.Role == model.RoleTool:
			return answer(say, req.Agent+" has "+strings.Join(names, " ")+"; "+last.Content), nil
		case req.Agent == "above":
			return calls(call("below", `{}`), call("delegate", `{"agent":"sub","task":"use the tool above"}`)), nil
		}
		return calls(call("above", `{}`)), nil
	}), tool("above", nil), tool("below", nil))
	f.setup.Agents = []agents.Agent{{Name: "above", Tools: []string{"above"}, Delegates: []string{"sub"}}, {Name: "sub", Tools: []string{"below"}}}
	f.configure()
	run, events := f.run("above", "go")
	got := text(events)
	for _, want := range []string{"above has above delegate; ", "sub has below; ", `unknown_tool: agent sub has no tool "above"`} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %q", got, want)
		}
	}
	denied := f.records(run.ID, audit.ToolDenied)
	names := []string{}
	for _, e := range denied {
		names = append(names, e.Agent+"/"+e.Tool)
	}
	slices.Sort(names)
	if want := []string{"above/below", "sub/above"}; !cmp.Equal(names, want) {
		t.Errorf("denied: got %v, want %v", names, want)
	}
}

// What a sub-agent says is streamed while it says it.
func TestSubAgentsStreamAsTheySpeak(t *testing.T) {
	spoken, release := make(chan struct{}), make(chan struct{})
	f := newFixture(t, modelFunc(func(ctx context.Context, req model.Request, say func(string)) (model.Response, error) {
		if req.Agent != "b" {
			return relay(map[string]string{"a": "b"})(ctx, req, say)
		}
		say("the first words of a longer answer, ")
		close(spoken)
		select {
		case <-release:
		case <-ctx.Done():
		}
		say("and its end")
		return model.Response{Message: model.Message{Content: "the first words of a longer answer, and its end"}}, nil
	}))
	f.setup.Agents = chain("a", "b")
	f.configure()
	run := f.start("a", "", "go")
	<-spoken
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var heard bool
	for events, err := range f.find(run.ID).Follow(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if e.Type == eventlog.Chunk && e.Agent == "b" && e.Frame == 1 && strings.HasPrefix(e.Content, "the first") && !heard {
				heard = true
				close(release)
			}
		}
	}
	if !heard {
		t.Error("the sub-agent was not heard")
	}
}
