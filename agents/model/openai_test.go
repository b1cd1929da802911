package model

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents/model/fakeopenai"
	"github.com/svc-gateway/svc/internal/tcpport"
)

const testKey = "sk-test-0123456789abcdef"

// connect makes a model for a fake whose waits between attempts are recorded and
// not waited.
func connect(t *testing.T, s *fakeopenai.Server, c Config) (*openAI, *[]time.Duration) {
	t.Helper()
	t.Cleanup(s.Close)
	c.BaseURL, c.Model, c.APIKey = s.BaseURL(), "gpt-4o", testKey
	m, err := NewOpenAI(c)
	if err != nil {
		t.Fatal(err)
	}
	o, waits := m.(*openAI), &[]time.Duration{}
	o.wait = func(_ context.Context, d time.Duration) error {
		*waits = append(*waits, d)
		return nil
	}
	return o, waits
}

func request(text string) Request {
	return Request{
		Agent:    "core",
		System:   "You are core.",
		Messages: []Message{{Role: RoleUser, Content: text}},
		Tools: []ToolSpec{
			{Name: "run_command", Description: "runs", Parameters: []byte(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`)},
			{Name: "read_file", Description: "reads", Parameters: []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
		},
	}
}

func TestOpenAIText(t *testing.T) {
	s := fakeopenai.Start(fakeopenai.Always(fakeopenai.Turn{Text: []string{"The disk ", "is ", "half full."}}))
	s.Key = testKey
	m, _ := connect(t, s, Config{})
	var pieces []string
	res, err := m.Turn(t.Context(), request("How full?"), func(p string) { pieces = append(pieces, p) })
	if err != nil {
		t.Fatal(err)
	}
	want := Response{
		Message: Message{Role: RoleAssistant, Content: "The disk is half full."},
		Usage:   Usage{PromptTokens: 13, CompletionTokens: 3, TotalTokens: 16},
		Model:   "gpt-4o",
	}
	if diff := cmp.Diff(want, res); diff != "" {
		t.Errorf("response (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"The disk ", "is ", "half full."}, pieces); diff != "" {
		t.Errorf("pieces (-want +got):\n%s", diff)
	}
	got := s.Requests()[0]
	if got.Messages[0].Role != "system" || got.Messages[1].Content != "How full?" || len(got.Tools) != 2 {
		t.Errorf("request arrived as %+v", got)
	}
	for name := range got.Header {
		if strings.HasPrefix(name, "Openai-") {
			t.Errorf("header %s was sent and not configured", name)
		}
	}
}

func TestOpenAITakesNothingFromTheEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-from-environment")
	t.Setenv("OPENAI_ORG_ID", "org-from-environment")
	t.Setenv("OPENAI_PROJECT_ID", "proj-from-environment")
	s := fakeopenai.Start(fakeopenai.Always(fakeopenai.Turn{Text: []string{"hi"}}))
	t.Cleanup(s.Close)
	m, err := NewOpenAI(Config{BaseURL: s.BaseURL(), Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Turn(t.Context(), request("x"), nil); err != nil {
		t.Fatal(err)
	}
	if h := fmt.Sprint(s.Requests()[0].Header); strings.Contains(h, "environment") || strings.Contains(h, "Authorization") {
		t.Errorf("headers hold what was not configured: %s", h)
	}
}

func TestOpenAIToolCalls(t *testing.T) {
	two := []fakeopenai.Call{
		{ID: "a", Name: "run_command", Arguments: `{"command":"df -h"}`},
		{ID: "b", Name: "read_file", Arguments: `{"path":"README.md"}`},
	}
	broken := []fakeopenai.Call{{ID: "a", Name: "no_such_tool", Arguments: `{"x":`}}
	ab := []ToolCall{{"a", "run_command", `{"command":"df -h"}`}, {"b", "read_file", `{"path":"README.md"}`}}
	tests := []struct {
		name string
		turn fakeopenai.Turn
		want []ToolCall
		ids  bool // ids are made here
	}{
		{"standard", fakeopenai.Turn{Calls: two}, ab, false},
		{"one chunk a call", fakeopenai.Turn{Calls: two, OneChunk: true}, ab, false},
		{"repeated index", fakeopenai.Turn{Calls: two, RepeatIndex: true}, ab, false},
		{"repeated index without ids", fakeopenai.Turn{Calls: two, RepeatIndex: true, NoIDs: true}, ab, true},
		{"repeated index, same tool, without ids", fakeopenai.Turn{Calls: []fakeopenai.Call{two[0], two[0]}, RepeatIndex: true, NoIDs: true}, []ToolCall{ab[0], ab[0]}, true},
		{"no ids", fakeopenai.Turn{Calls: two, NoIDs: true}, ab, true},
		{"names repeated", fakeopenai.Turn{Calls: two, RepeatNames: true}, ab, false},
		{"names repeated without ids", fakeopenai.Turn{Calls: two, RepeatNames: true, NoIDs: true}, ab, true},
		{"arguments as an object", fakeopenai.Turn{Calls: two, ObjectArguments: true}, ab, false},
		{"text and calls", fakeopenai.Turn{Text: []string{"Let me look."}, Calls: two}, ab, false},
		{"no finish reason", fakeopenai.Turn{Calls: two, NoFinish: true}, ab, false},
		{"no [DONE]", fakeopenai.Turn{Calls: two, NoDone: true}, ab, false},
		{"not streamed", fakeopenai.Turn{Calls: two, Whole: true}, ab, false},
		{"unknown tool, broken arguments", fakeopenai.Turn{Calls: broken}, []ToolCall{{"a", "no_such_tool", `{"x":`}}, false},
		{"no arguments", fakeopenai.Turn{Calls: []fakeopenai.Call{{ID: "a", Name: "now"}}}, []ToolCall{{"a", "now", "{}"}}, false},
		{"the same id twice", fakeopenai.Turn{Calls: []fakeopenai.Call{two[0], {ID: "a", Name: "read_file", Arguments: `{"path":"README.md"}`}}}, ab, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, _ := connect(t, fakeopenai.Start(fakeopenai.Always(tt.turn)), Config{})
			res, err := m.Turn(t.Context(), request("go"), nil)
			if err != nil {
				t.Fatal(err)
			}
			got := append([]ToolCall(nil), res.Message.ToolCalls...)
			seen := map[string]bool{}
			for i, c := range got {
				if c.ID == "" || seen[c.ID] {
					t.Errorf("call %d has the id %q, which is empty or taken", i, c.ID)
				}
				seen[c.ID] = true
				if tt.ids && i < len(tt.want) {
					got[i].ID = tt.want[i].ID
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if want := strings.Join(tt.turn.Text, ""); res.Message.Content != want {
				t.Errorf("content %q, want %q", res.Message.Content, want)
			}
		})
	}
}

// A conversation that holds a call to a tool that does not exist with arguments
// that are no JSON must be accepted by servers that check both.
func TestOpenAIHistoryIsAcceptable(t *testing.T) {
	s := fakeopenai.Start(fakeopenai.Sequence(
		fakeopenai.Turn{Calls: []fakeopenai.Call{{ID: "a", Name: "no such tool!", Arguments: `{"x":`}}},
		fakeopenai.Turn{Text: []string{"sorry"}},
	))
	m, _ := connect(t, s, Config{})
	req := request("go")
	res, err := m.Turn(t.Context(), req, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Messages = append(req.Messages, res.Message, Message{Role: RoleTool, ToolCallID: "a", Status: "error", Content: "there is no such tool"})
	if res, err = m.Turn(t.Context(), req, nil); err != nil || res.Message.Content != "sorry" {
		t.Fatalf("got %+v, %v", res, err)
	}
	call := s.Requests()[1].Messages[2].ToolCalls[0]
	if want := (fakeopenai.Call{ID: "a", Name: "no_such_tool_", Arguments: `{"invalid_arguments":"{\"x\":"}`}); call != want {
		t.Errorf("sent %+v, want %+v", call, want)
	}
}

func TestOpenAIFaults(t *testing.T) {
	text := []string{"one ", "two ", "three"}
	html := "<html>502 " + testKey + " internal-host-7</html>"
	tests := []struct {
		name  string
		turn  fakeopenai.Turn
		want  error
		says  string
		asked int // requests, with MaxRetries 2
	}{
		{"cut before the first piece", fakeopenai.Turn{Text: text, Fault: fakeopenai.Cut, After: 0}, ErrUnavailable, "broke off", 3},
		{"cut after a piece", fakeopenai.Turn{Text: text, Fault: fakeopenai.Cut, After: 2}, ErrUnavailable, "broke off", 1},
		{"ended after a piece", fakeopenai.Turn{Text: text, Fault: fakeopenai.End, After: 2}, ErrUnavailable, "broke off", 1},
		{"cut inside a tool call", fakeopenai.Turn{Calls: []fakeopenai.Call{{Name: "run_command", Arguments: `{"command":"df -h"}`}}, Fault: fakeopenai.Cut, After: 3}, ErrUnavailable, "broke off", 3},
		{"stall", fakeopenai.Turn{Text: text, Fault: fakeopenai.Stall, After: 2}, ErrUnavailable, "fell silent", 1},
		{"error in the stream", fakeopenai.Turn{Text: text, Fault: fakeopenai.Report, After: 2}, ErrUnavailable, "reported an error", 1},
		{"malformed JSON", fakeopenai.Turn{Text: text, Fault: fakeopenai.Garbage, After: 2, Raw: "data: {\"choices\":[{" + testKey + "\n\n"}, ErrBadResponse, "not a stream", 1},
		{"HTML with status 200", fakeopenai.Turn{Text: text, Fault: fakeopenai.Garbage, Raw: html}, ErrBadResponse, "not a stream", 1},
		{"other JSON", fakeopenai.Turn{Text: text, Fault: fakeopenai.Garbage, Raw: "data: {\"hello\":\"world\"}\n\ndata: [DONE]\n\n"}, ErrBadResponse, "not a stream", 1},
		{"500", fakeopenai.Turn{Status: 500}, ErrUnavailable, "500 Internal Server Error", 3},
		{"502 of a proxy", fakeopenai.Turn{Status: 502, Body: html}, ErrUnavailable, "502 Bad Gateway", 3},
		{"503", fakeopenai.Turn{Status: 503}, ErrUnavailable, "503", 3},
		{"504 is not asked again", fakeopenai.Turn{Status: 504}, ErrUnavailable, "504", 1},
		{"429", fakeopenai.Turn{Status: 429, RetryAfter: "7"}, ErrUnavailable, "limiting", 3},
		{"429 for a long time", fakeopenai.Turn{Status: 429, RetryAfter: "3600"}, ErrUnavailable, "1h0m0s", 1},
		{"429 without quota", fakeopenai.Turn{Status: 429, Body: `{"error":{"code":"insufficient_quota"}}`}, ErrUnavailable, "quota", 1},
		{"no such model", fakeopenai.Turn{Status: 404}, ErrBadResponse, "model.name", 1},
		{"no such page", fakeopenai.Turn{Status: 404, Body: "404 page not found"}, ErrBadResponse, "/v1", 1},
		{"too long", fakeopenai.Turn{Status: 400, Body: `{"error":{"code":"context_length_exceeded","message":"` + testKey + `"}}`}, ErrBadResponse, "too long", 1},
		{"no tools", fakeopenai.Turn{Status: 400, Body: `registry.ollama.ai/x does not support tools`}, ErrBadResponse, "cannot call tools", 1},
		{"invalid", fakeopenai.Turn{Status: 422, Body: html}, ErrBadResponse, "invalid (422)", 1},
		{"redirect", fakeopenai.Turn{Status: 307, Body: html}, ErrBadResponse, "redirects", 1},
		{"dropped", fakeopenai.Turn{Drop: true}, ErrUnavailable, "without an answer", 3},
		{"out of tokens", fakeopenai.Turn{Finish: "length"}, ErrBadResponse, "used up its tokens", 1},
		{"announced call", fakeopenai.Turn{Finish: "tool_calls"}, ErrBadResponse, "made none", 1},
		{"too many calls", fakeopenai.Turn{Calls: make([]fakeopenai.Call, 100)}, ErrBadResponse, "more than 64", 1},
		{"arguments too long", fakeopenai.Turn{OneChunk: true, Calls: []fakeopenai.Call{{Name: "x", Arguments: strings.Repeat("x", 2<<20)}}}, ErrBadResponse, "longer than", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := Config{MaxRetries: 2, Timeout: time.Minute}
			if tt.turn.Fault == fakeopenai.Stall {
				c.IdleTimeout = 50 * time.Millisecond
			}
			s := fakeopenai.Start(fakeopenai.Always(tt.turn))
			m, waits := connect(t, s, c)
			var shown strings.Builder
			res, err := m.Turn(t.Context(), request("go"), func(p string) { shown.WriteString(p) })
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
				t.Fatalf("got %+v, %v; want %v with %q", res, err, tt.want, tt.says)
			}
			for _, leak := range []string{testKey, "html", "127.0.0.1", "CUDA", "internal-host"} {
				if strings.Contains(err.Error()+ClientMessage(err), leak) {
					t.Errorf("the error tells %q: %v", leak, err)
				}
			}
			if got := len(s.Requests()); got != tt.asked {
				t.Errorf("asked %d times, want %d", got, tt.asked)
			}
			if tt.turn.RetryAfter == "7" && !cmp.Equal(*waits, []time.Duration{7 * time.Second, 7 * time.Second}) {
				t.Errorf("waited %v, want what Retry-After says", *waits)
			}
		})
	}
}

func TestOpenAIRecovers(t *testing.T) {
	ok := fakeopenai.Turn{Text: []string{"fine"}}
	for name, bad := range map[string]fakeopenai.Turn{
		"429": {Status: 429, RetryAfter: "1"}, "500": {Status: 500}, "502": {Status: 502, Body: "<html>"}, "503": {Status: 503},
		"dropped": {Drop: true}, "cut before the first piece": {Text: []string{"x"}, Fault: fakeopenai.Cut},
	} {
		t.Run(name, func(t *testing.T) {
			s := fakeopenai.Start(fakeopenai.Sequence(bad, bad, ok))
			m, waits := connect(t, s, Config{MaxRetries: 2})
			res, err := m.Turn(t.Context(), request("go"), nil)
			if err != nil || res.Message.Content != "fine" || len(*waits) != 2 {
				t.Errorf("got %+v, %v after waits %v", res.Message, err, *waits)
			}
		})
	}
}

func TestOpenAIRefusedConnection(t *testing.T) {
	m, err := NewOpenAI(Config{BaseURL: "http://" + tcpport.ForTest(t).Addr() + "/v1", Model: "m", MaxRetries: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Turn(t.Context(), request("go"), nil)
	if want := "the model is not available: its server refused the connection; is it running? (asked 2 times)"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestOpenAIKeyRefused(t *testing.T) {
	s := fakeopenai.Start(fakeopenai.Always(fakeopenai.Turn{}))
	s.Key = "another"
	m, _ := connect(t, s, Config{})
	_, err := m.Turn(t.Context(), request("go"), nil)
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "model.api_key_env") || strings.Contains(err.Error(), testKey) {
		t.Errorf("got %v", err)
	}
}

func TestOpenAIWithoutStreamOptions(t *testing.T) {
	s := fakeopenai.Start(fakeopenai.Always(fakeopenai.Turn{Text: []string{"Four token", "s or so"}}))
	s.RefuseStreamOptions = true
	m, _ := connect(t, s, Config{})
	for range 2 {
		res, err := m.Turn(t.Context(), request("go"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if u := res.Usage; !u.Estimated || u.CompletionTokens != 5 || u.TotalTokens != u.PromptTokens+5 {
			t.Errorf("usage %+v", u)
		}
	}
	if !m.usageRefused.Load() {
		t.Error("the refusal was not remembered")
	}
}

func TestOpenAIUsageEstimated(t *testing.T) {
	m, _ := connect(t, fakeopenai.Start(fakeopenai.Always(fakeopenai.Turn{Text: []string{"abcdefgh"}, NoUsage: true})), Config{})
	res, err := m.Turn(t.Context(), request("go"), nil)
	if err != nil || !res.Usage.Estimated || res.Usage.CompletionTokens != 2 {
		t.Errorf("got %+v, %v", res.Usage, err)
	}
}

func TestOpenAITurnDeadline(t *testing.T) {
	m, _ := connect(t, fakeopenai.Start(fakeopenai.Always(fakeopenai.Turn{Text: []string{"x"}, Fault: fakeopenai.Stall})), Config{Timeout: 50 * time.Millisecond, MaxRetries: 5})
	_, err := m.Turn(t.Context(), request("go"), nil)
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "50ms (model.timeout)") {
		t.Errorf("got %v", err)
	}
}

func TestOpenAICancel(t *testing.T) {
	hold := make(chan struct{}, 2)
	hold <- struct{}{}
	hold <- struct{}{}
	m, _ := connect(t, fakeopenai.Start(fakeopenai.Always(fakeopenai.Turn{Text: []string{"x", "y"}, Hold: hold})), Config{MaxRetries: 5})
	why := errors.New("the token was revoked")
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := m.Turn(ctx, request("go"), func(string) { cancel(why) })
	if !errors.Is(err, context.Canceled) || !errors.Is(err, why) {
		t.Errorf("got %v, want the context's error and its cause", err)
	}
}

// A server that gives its finish reason and then neither [DONE] nor the end of the
// stream has answered.
func TestOpenAIStallAfterTheEnd(t *testing.T) {
	turn := fakeopenai.Turn{Text: []string{"x"}, NoUsage: true, Fault: fakeopenai.Stall, After: 3}
	m, _ := connect(t, fakeopenai.Start(fakeopenai.Always(turn)), Config{IdleTimeout: 50 * time.Millisecond})
	res, err := m.Turn(t.Context(), request("go"), nil)
	if err != nil || res.Message.Content != "x" {
		t.Errorf("got %+v, %v", res, err)
	}
}

func TestOpenAIConcurrent(t *testing.T) {
	m, _ := connect(t, fakeopenai.Start(func(_ int, r fakeopenai.Request) fakeopenai.Turn {
		return fakeopenai.Turn{Text: []string{r.Messages[1].Content}}
	}), Config{})
	errs := make(chan error)
	for i := range 8 {
		go func() {
			text := fmt.Sprint("question ", i)
			res, err := m.Turn(context.WithoutCancel(t.Context()), request(text), nil)
			if err == nil && res.Message.Content != text {
				err = fmt.Errorf("got %q, want %q", res.Message.Content, text)
			}
			errs <- err
		}()
	}
	for range 8 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

func TestNewOpenAIRefuses(t *testing.T) {
	for _, tt := range []struct {
		c    Config
		says string
	}{
		{Config{Model: "m"}, "model.base_url is empty"},
		{Config{BaseURL: "localhost:11434", Model: "m"}, "http://"},
		{Config{BaseURL: "ftp://x/v1", Model: "m"}, "http://"},
		{Config{BaseURL: "http://%zz" + testKey, Model: "m"}, "not a URL"},
		{Config{BaseURL: "https://me:" + testKey + "@x/v1", Model: "m"}, "credentials"},
		{Config{BaseURL: "https://x/v1?key=" + testKey, Model: "m"}, "query"},
		{Config{BaseURL: "https://x/v1/chat/completions", Model: "m"}, "before /chat/completions"},
		{Config{BaseURL: "https://x/v1"}, "model.name"},
		{Config{BaseURL: "https://x/v1", Model: "m", APIKey: "a\nb"}, "line break"},
		{Config{BaseURL: "https://x/v1", Model: "m", Timeout: -1}, "model.timeout"},
		{Config{BaseURL: "https://x/v1", Model: "m", MaxRetries: -1}, "model.max_retries"},
	} {
		_, err := NewOpenAI(tt.c)
		if err == nil || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), testKey) {
			t.Errorf("%+v: got %v, want %q", tt.c, err, tt.says)
		}
	}
}

func TestSecretPrintsNothing(t *testing.T) {
	c := Config{APIKey: testKey}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		if got := fmt.Sprintf(verb, c) + fmt.Sprintf(verb, c.APIKey); strings.Contains(got, testKey) || strings.Contains(got, fmt.Sprintf("%x", testKey)) {
			t.Errorf("%s prints %s", verb, got)
		}
	}
}
