package agents_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner/redact"
)

func TestAnswerWithoutTools(t *testing.T) {
	f := newFixture(t, modelFunc(func(_ context.Context, _ model.Request, say func(string)) (model.Response, error) {
		return answer(say, "hello |there, |ada"), nil
	}))
	run, events := f.run("quick", "hi")
	if got, want := text(events), "hello there, ada"; got != want {
		t.Errorf("answer: got %q, want %q", got, want)
	}
	for i, e := range events {
		if e.Seq != i {
			t.Errorf("event %d has number %d", i, e.Seq)
		}
	}
	if last := events[len(events)-1]; last.Type != eventlog.Done || last.Status != "success" {
		t.Errorf("last event: got %+v, want done, success", last)
	}
	if run.Status != agents.Success || run.Steps != 1 || run.Tokens != 7 || run.Harness != "0.4.12" {
		t.Errorf("got %s after %d steps and %d tokens, harness %s", run.Status, run.Steps, run.Tokens, run.Harness)
	}
	messages, err := f.store.Messages(t.Context(), run.Thread, -1)
	if err != nil || len(messages) != 2 || messages[1].Content != "hello there, ada" {
		t.Errorf("thread: got %v, %v", messages, err)
	}
	if got := messages[1].Labels; !cmp.Equal(got, []string{"user"}) {
		t.Errorf("labels of the answer: got %v, want user", got)
	}
}

func TestThreadKeepsItsContextOverRestarts(t *testing.T) {
	f := newFixture(t, modelFunc(func(_ context.Context, req model.Request, say func(string)) (model.Response, error) {
		var seen []string
		for _, m := range req.Messages {
			seen = append(seen, m.Content)
		}
		return answer(say, fmt.Sprintf("%d:%s", len(seen), seen[0])), nil
	}))
	first, _ := f.run("quick", "one")
	if err := f.host.Close(); err != nil {
		t.Fatal(err)
	}
	f.open()
	second := f.start("quick", first.Thread, "two")
	if got, want := text(f.events(second.ID)), "3:one"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestParallelCallsRunSideBySide(t *testing.T) {
	met := make(chan string, 2)
	meet := func(name string) agents.Tool {
		return tool(name, func(ctx context.Context, _ agents.ToolContext, _ map[string]any) (agents.Result, error) {
			met <- name
			for len(met) < 2 { // both must be in here at once
				select {
				case <-ctx.Done():
					return agents.Result{}, ctx.Err()
				case <-time.After(time.Millisecond):
				}
			}
			return agents.Result{Text: name}, nil
		})
	}
	f := newFixture(t, callThenAnswer(call("left", "{}"), call("right", "")), meet("left"), meet("right"))
	run, events := f.run("core", "go")
	if got, want := text(events), "success: left\nsuccess: right"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	ids := map[string]bool{}
	for _, e := range f.records(run.ID, audit.ToolStart) {
		ids[e.Call] = true
	}
	if len(ids) != 2 {
		t.Errorf("the model gave both calls one id, and the records have %d, want 2", len(ids))
	}
}

func TestDelegationKeepsMessagesApart(t *testing.T) {
	f := newFixture(t, modelFunc(func(_ context.Context, req model.Request, say func(string)) (model.Response, error) {
		last := req.Messages[len(req.Messages)-1]
		switch {
		case req.Agent == "core" && last.Role == model.RoleTool:
			return answer(say, "sub says "+last.Content), nil
		case req.Agent == "core":
			if len(req.Messages) != 1 || last.Content != "look" {
				return model.Response{}, fmt.Errorf("the sub-agent saw %v", req.Messages)
			}
			return calls(call("echo", `{"text":"42"}`)), nil
		case last.Role == model.RoleTool:
			return answer(say, "top: "+last.Content), nil
		}
		return calls(call("delegate", `{"agent":"core","task":"look"}`)), nil
	}), echo())
	run, events := f.run("", "what is it?")
	if got, want := text(events), "top: sub says 42"; got != want {
		t.Errorf("answer: got %q, want %q", got, want)
	}
	var names []string
	for _, e := range events {
		if e.Type == eventlog.ToolUse {
			names = append(names, e.Agent+"/"+e.Name)
		}
	}
	if want := []string{agents.Default + "/delegate", "core/echo"}; !cmp.Equal(names, want) {
		t.Errorf("calls: got %v, want %v", names, want)
	}
	for _, e := range f.records(run.ID, audit.ToolEnd) {
		if e.Status != "success" {
			t.Errorf("outcome of %s: got %s", e.Tool, e.Status)
		}
	}
	if n := len(f.records(run.ID, audit.ToolStart, audit.ToolEnd)); n != 4 {
		t.Errorf("got %d records of calls, want 4", n)
	}
	messages, _ := f.store.Messages(t.Context(), run.Thread, -1)
	if len(messages) != 4 { // user, assistant with the call, result, answer
		t.Errorf("the thread has %d messages, want 4 and none of the sub-agent's", len(messages))
	}
	if got, want := messages[3].Labels, []string{"user", "tool:delegate", "tool:echo"}; !cmp.Equal(got, want) {
		t.Errorf("labels of the answer: got %v, want %v", got, want)
	}
}

func TestRunsThatDoNotSucceed(t *testing.T) {
	endless := modelFunc(func(context.Context, model.Request, func(string)) (model.Response, error) {
		return calls(call("echo", `{"text":"again"}`)), nil
	})
	failing := func(err error) modelFunc {
		return func(_ context.Context, _ model.Request, say func(string)) (model.Response, error) {
			say("part of an ans")
			return model.Response{}, err
		}
	}
	stalling := modelFunc(func(ctx context.Context, _ model.Request, _ func(string)) (model.Response, error) {
		<-ctx.Done()
		return model.Response{}, ctx.Err()
	})
	for _, tc := range []struct {
		name   string
		model  model.Model
		limits func(*agents.Limits)
		status agents.Status
		code   string
	}{
		{"calls for ever", endless, nil, agents.Error, "step_limit"},
		{"token limit", endless, func(l *agents.Limits) { l.Tokens = 11 }, agents.Error, "token_limit"},
		{"model down", failing(model.ErrUnavailable), nil, agents.Error, "model_unavailable"},
		{"garbage", failing(model.ErrBadResponse), nil, agents.Error, "model_bad_response"},
		{"unknown trouble", failing(errBroken), nil, agents.Error, "model_error"},
		{"stalling model", stalling, func(l *agents.Limits) { l.Run = 50 * time.Millisecond }, agents.Timeout, "run_timeout"},
		{"panicking model", modelFunc(func(context.Context, model.Request, func(string)) (model.Response, error) {
			panic("boom")
		}), nil, agents.Error, "model_error"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFixture(t, tc.model, echo())
			if tc.limits != nil {
				tc.limits(&f.setup.Limits)
				f.configure()
			}
			run, events := f.run("core", "go")
			if run.Status != tc.status || run.Failure == nil || run.Failure.Code != tc.code {
				t.Errorf("got %s, %v, want %s, %s", run.Status, run.Failure, tc.status, tc.code)
			}
			n := len(events)
			if n < 2 || events[n-1].Type != eventlog.Done || events[n-2].Type != eventlog.Error || events[n-2].Code != tc.code {
				t.Errorf("the log ends with %s, want error and done", types(events))
			}
			if thread, err := f.store.Thread(t.Context(), run.Thread); err != nil || thread.Status != agents.ThreadError {
				t.Errorf("thread: got %s, %v, want error", thread.Status, err)
			}
			next := f.start("core", run.Thread, "again") // the thread is usable
			f.events(next.ID)
		})
	}
}

func TestCancelEndsTheRunAndItsCall(t *testing.T) {
	started := make(chan struct{})
	wait := tool("wait", func(ctx context.Context, _ agents.ToolContext, _ map[string]any) (agents.Result, error) {
		close(started)
		<-ctx.Done()
		return agents.Result{}, ctx.Err()
	})
	f := newFixture(t, callThenAnswer(call("wait", "{}")), wait)
	run := f.start("core", "", "go")
	<-started
	if err := run.Cancel(t.Context()); err != nil {
		t.Fatalf("Cancel: %v", err)
	}
	events := f.events(run.ID)
	if last := events[len(events)-1]; last.Status != string(agents.Cancelled) {
		t.Errorf("got %s, want cancelled", last.Status)
	}
	ends := f.records(run.ID, audit.ToolError)
	if len(ends) != 1 || ends[0].Status != string(agents.CallCancelled) {
		t.Errorf("outcomes: got %+v, want one, cancelled", ends)
	}
	if err := run.Cancel(t.Context()); !errors.Is(err, agents.ErrOver) {
		t.Errorf("cancelling a finished run: got %v, want %v", err, agents.ErrOver)
	}
	messages, _ := f.store.Messages(t.Context(), run.Thread, -1)
	if last := messages[len(messages)-1]; last.Role != model.RoleTool {
		t.Errorf("the thread ends with a %s message, want the call's result", last.Role)
	}
}

func TestCancelDuringDelegationGivesTheDelegationAnOutcome(t *testing.T) {
	started := make(chan struct{})
	f := newFixture(t, modelFunc(func(ctx context.Context, req model.Request, _ func(string)) (model.Response, error) {
		if req.Agent == agents.Default {
			return calls(call("delegate", `{"agent":"core","task":"think"}`)), nil
		}
		close(started)
		<-ctx.Done()
		return model.Response{}, ctx.Err()
	}))
	run := f.start("", "", "go")
	<-started
	if err := run.Cancel(t.Context()); err != nil {
		t.Fatalf("Cancel: %v", err)
	}
	f.events(run.ID)
	if n := len(f.records(run.ID, audit.ToolStart)); n != 1 {
		t.Fatalf("got %d intents, want 1", n)
	}
	if ends := f.records(run.ID, audit.ToolError); len(ends) != 1 || ends[0].Status != "cancelled" {
		t.Errorf("outcome of the delegation: got %+v, want one, cancelled", ends)
	}
}

func TestOneRunAThreadAtATime(t *testing.T) {
	release := make(chan struct{})
	f := newFixture(t, modelFunc(func(_ context.Context, _ model.Request, say func(string)) (model.Response, error) {
		<-release
		return answer(say, "ok"), nil
	}))
	first := f.start("quick", "", "one")
	_, err := f.rt.As(ada).Start(t.Context(), agents.Request{Assistant: "quick", Thread: first.Thread, Input: []model.Message{{Role: "user", Content: "two"}}})
	if !errors.Is(err, agents.ErrBusy) {
		t.Errorf("second run: got %v, want %v", err, agents.ErrBusy)
	}
	close(release)
	f.events(first.ID)
	f.events(f.start("quick", first.Thread, "three").ID)
}

func TestStartRefuses(t *testing.T) {
	f := newFixture(t, callThenAnswer())
	ask := func(p policy.Principal, agent, thread string) error {
		_, err := f.rt.As(p).Start(t.Context(), agents.Request{Assistant: agent, Thread: thread, Input: []model.Message{{Role: "user", Content: "x"}}})
		return err
	}
	if err := ask(ada, "nobody", ""); !errors.Is(err, agents.ErrUnknownAssistant) {
		t.Errorf("unknown agent: got %v", err)
	}
	if err := ask(ada, "core", "0190f5a4-7c3e-7b1a-9f6e-2d4c8a1b3e5f"); !errors.Is(err, agents.ErrNotFound) {
		t.Errorf("unknown thread: got %v", err)
	}
	f.users.set("", policy.ErrRevoked)
	if err := ask(ada, "core", ""); !errors.Is(err, policy.ErrRevoked) {
		t.Errorf("revoked: got %v", err)
	}
	f.users.set("guest", nil)
	if err := ask(ada, "core", ""); !errors.Is(err, agents.ErrForbidden) {
		t.Errorf("a role without permissions: got %v", err)
	}
}

func TestLimitsOnRuns(t *testing.T) {
	release := make(chan struct{})
	f := newFixture(t, modelFunc(func(_ context.Context, _ model.Request, say func(string)) (model.Response, error) {
		<-release
		return answer(say, "ok"), nil
	}))
	f.setup.Limits.ParallelRuns, f.setup.Limits.RunsPerMinute = 2, 3
	f.configure()
	try := func() error {
		_, err := f.rt.As(ada).Start(t.Context(), agents.Request{Assistant: "quick", Input: []model.Message{{Role: "user", Content: "x"}}})
		return err
	}
	first := f.start("quick", "", "x")
	f.start("quick", "", "x")
	var limit *agents.LimitError
	if err := try(); !errors.As(err, &limit) || limit.Limit != "limits.parallel_runs" {
		t.Errorf("a third at once: got %v", err)
	}
	close(release)
	f.events(first.ID)
	for err := try(); ; err = try() { // until the finished ones are counted out
		if !errors.As(err, &limit) {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	for {
		if err := try(); errors.As(err, &limit) && limit.Limit == "limits.runs_per_minute" {
			break
		}
	}
	if limit.RetryAfter <= 0 || limit.RetryAfter > time.Minute {
		t.Errorf("retry after: got %s, want up to a minute", limit.RetryAfter)
	}
}

func TestDrainWaitsAndThenCloses(t *testing.T) {
	for _, patient := range []bool{true, false} {
		t.Run(fmt.Sprint("patient=", patient), func(t *testing.T) {
			begun, release := make(chan struct{}), make(chan struct{})
			f := newFixture(t, modelFunc(func(ctx context.Context, _ model.Request, say func(string)) (model.Response, error) {
				close(begun)
				select {
				case <-release:
					return answer(say, "made it"), nil
				case <-ctx.Done():
					return model.Response{}, ctx.Err()
				}
			}))
			run := f.start("quick", "", "go")
			<-begun
			ctx, cancel := context.WithCancel(t.Context())
			if patient {
				close(release)
			} else {
				cancel()
			}
			f.host.Drain(ctx)
			cancel()
			if _, err := f.rt.As(ada).Start(t.Context(), agents.Request{Assistant: "quick"}); !errors.Is(err, agents.ErrStopping) {
				t.Errorf("starting afterwards: got %v, want %v", err, agents.ErrStopping)
			}
			events := f.events(run.ID)
			if patient {
				if got := text(events); got != "made it" {
					t.Errorf("got %q, want the answer", got)
				}
				return
			}
			if e := events[len(events)-2]; e.Code != "interrupted_by_restart" {
				t.Errorf("got %+v, want interrupted_by_restart", e)
			}
		})
	}
}

func TestSecretsInAnswersDoNotReachTheLog(t *testing.T) {
	secret := "hunter2hunter2"
	f := newFixture(t, modelFunc(func(_ context.Context, _ model.Request, say func(string)) (model.Response, error) {
		return answer(say, "the line is: pass|word: hun|ter2hun|ter2, all |right"), nil
	}))
	run, events := f.run("quick", "go")
	for _, e := range append(events, f.eventsFrom(run.ID, 0)...) {
		if strings.Contains(e.Content, "hunter2") {
			t.Errorf("event %d holds the secret: %q", e.Seq, e.Content)
		}
	}
	got := text(events)
	if strings.Contains(got, secret) || strings.Contains(got, "ter2") || !strings.Contains(got, "REDACTED") || !strings.HasSuffix(got, "all right") {
		t.Errorf("got %q", got)
	}
}

// TestKnownSecretsDoNotReachReadersModelsOrTheLog lets a tool and a model tell the model's own API
// key, which nothing announces.
func TestKnownSecretsDoNotReachReadersModelsOrTheLog(t *testing.T) {
	const key = "tiger-lion-42"
	f := newFixture(t, callThenAnswer(call("look", `{"text":"find `+key+`"}`)), tool("look", func(context.Context, agents.ToolContext, map[string]any) (agents.Result, error) {
		return agents.Result{Text: "MODEL=" + key}, nil
	}))
	f.setup.Secrets = redact.NewSecrets().With(key)
	f.configure()
	run, events := f.run("core", "go")
	if got, want := text(events), "success: MODEL=REDACTED"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, e := range append(events, f.eventsFrom(run.ID, 0)...) {
		if strings.Contains(e.Content+string(e.Input), key) {
			t.Errorf("event %d holds the key: %+v", e.Seq, e)
		}
	}
	for _, r := range append(f.records(run.ID, audit.ToolStart), f.records(run.ID, audit.ToolEnd)...) {
		if strings.Contains(r.Input+r.Output, key) {
			t.Errorf("the record of %s holds the key: %s %s", r.Type, r.Input, r.Output)
		}
	}
}
