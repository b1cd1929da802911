package probe_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/model/fakeanthropic"
	"github.com/svc-gateway/svc/agents/model/fakeopenai"
	"github.com/svc-gateway/svc/agents/model/probe"
)

func TestOpenAI(t *testing.T) {
	call := func(name, arguments string) fakeopenai.Turn {
		return fakeopenai.Turn{Calls: []fakeopenai.Call{{Name: name, Arguments: arguments}}}
	}
	says := fakeopenai.Turn{Text: []string{"It said ", "pong."}}
	for _, tt := range []struct {
		name                    string
		turns                   []fakeopenai.Turn
		answers, calls, streams bool
		want                    error
		says                    string
	}{
		{"works", []fakeopenai.Turn{call("echo", `{"text":"ping"}`), says}, true, true, true, nil, ""},
		{"does not stream", []fakeopenai.Turn{call("echo", `{"text":"ping"}`), {Text: []string{"pong"}, Whole: true}}, true, true, false, nil, ""},
		{"answers only", []fakeopenai.Turn{says}, true, false, true, probe.ErrNoCall, "take another model"},
		{"another tool", []fakeopenai.Turn{call("shout", `{"text":"ping"}`)}, false, false, false, probe.ErrWrongCall, "do not fit"},
		{"other arguments", []fakeopenai.Turn{call("echo", `{"txt":"ping"}`)}, false, false, false, probe.ErrWrongCall, "do not fit"},
		{"no JSON", []fakeopenai.Turn{call("echo", `<args>`)}, false, false, false, probe.ErrWrongCall, "do not fit"},
		{"knows no tools", []fakeopenai.Turn{{Status: 400, Body: "this model does not support tools"}, says}, true, false, true, model.ErrBadResponse, "cannot call tools"},
		{"nothing after the call", []fakeopenai.Turn{call("echo", `{"text":"ping"}`), {}}, false, true, false, probe.ErrEmptyAnswer, "max_output_tokens"},
		{"away", []fakeopenai.Turn{{Status: 503}}, false, false, false, model.ErrUnavailable, "503"},
		{"no such model", []fakeopenai.Turn{{Status: 404}}, false, false, false, model.ErrBadResponse, "model of the model local"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := fakeopenai.Start(fakeopenai.Sequence(tt.turns...))
			t.Cleanup(s.Close)
			m, err := model.NewOpenAI(model.Config{Called: "local", BaseURL: s.BaseURL(), Model: "m"})
			if err != nil {
				t.Fatal(err)
			}
			got := probe.Run(t.Context(), m)
			if got.Answers != tt.answers || got.CallsTools != tt.calls || got.Streams != tt.streams || !errors.Is(got.Err, tt.want) {
				t.Errorf("got %+v", got)
			}
			if got.Err != nil && !strings.Contains(got.Err.Error(), tt.says) {
				t.Errorf("got %v, want %q", got.Err, tt.says)
			}
			if tt.answers && (got.Tokens == 0 || got.Took == 0) {
				t.Errorf("got %+v, want figures", got)
			}
		})
	}
}

func TestAnthropic(t *testing.T) {
	s := fakeanthropic.Start(fakeanthropic.Sequence(
		fakeanthropic.Turn{Thinking: "I am to call echo.", Calls: []fakeanthropic.Call{{Name: "echo", Input: `{"text":"ping"}`}}},
		fakeanthropic.Turn{Text: []string{"It ", "said pong."}},
	))
	t.Cleanup(s.Close)
	m, err := model.NewAnthropic(model.Config{BaseURL: s.URL(), Model: "claude-sonnet-4-5", Thinking: 1024})
	if err != nil {
		t.Fatal(err)
	}
	if got := probe.Run(t.Context(), m); got.Err != nil || !got.Answers || !got.CallsTools || !got.Streams || got.Model != "claude-sonnet-4-5" {
		t.Errorf("got %+v, %v", got, s.Refused())
	}
}

func TestDemo(t *testing.T) {
	if got := probe.Run(t.Context(), model.NewDemo()); got.Err != nil || !got.Answers || !got.CallsTools {
		t.Errorf("got %+v", got)
	}
}
