package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents/model/fakeanthropic"
)

const claude = "claude-sonnet-4-5"

func connectAnthropic(t testing.TB, s *fakeanthropic.Server, c Config) (*anthropicModel, *[]time.Duration) {
	t.Helper()
	t.Cleanup(s.Close)
	c.BaseURL, c.Model, c.APIKey = s.URL(), claude, testKey
	m, err := NewAnthropic(c)
	if err != nil {
		t.Fatal(err)
	}
	a, waits := m.(*anthropicModel), &[]time.Duration{}
	a.wait = func(_ context.Context, d time.Duration) error {
		*waits = append(*waits, d)
		return nil
	}
	return a, waits
}

func TestAnthropicText(t *testing.T) {
	for name, whole := range map[string]bool{"streamed": false, "not streamed": true} {
		t.Run(name, func(t *testing.T) {
			s := fakeanthropic.Start(fakeanthropic.Always(fakeanthropic.Turn{Text: []string{"The disk ", "is half full."}, CacheRead: 900, CacheWritten: 80, Whole: whole}))
			s.Key = testKey
			m, _ := connectAnthropic(t, s, Config{})
			var shown strings.Builder
			res, err := m.Turn(t.Context(), request("How full?"), func(p string) { shown.WriteString(p) })
			if err != nil {
				t.Fatal(err)
			}
			want := Response{
				Message: Message{Role: RoleAssistant, Content: "The disk is half full."},
				Usage:   Usage{PromptTokens: 990, CompletionTokens: 3, TotalTokens: 993, CacheRead: 900, CacheWritten: 80},
				Model:   claude,
			}
			if diff := cmp.Diff(want, res); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
			if shown.String() != want.Message.Content {
				t.Errorf("shown: %q", shown.String())
			}
			got := s.Requests()[0]
			if got.System[0].Text != "You are core." || got.Messages[0].Content[0].Text != "How full?" || got.MaxTokens != anthropicOutput || got.Thinking.Type != "" {
				t.Errorf("request arrived as %s", got.Body)
			}
			if got.System[0].CacheControl == nil || got.Tools[1].CacheControl == nil || got.Tools[0].CacheControl != nil || got.Messages[0].Content[0].CacheControl == nil {
				t.Errorf("what is the same at each turn is not marked: %s", got.Body)
			}
		})
	}
}

// Thoughts go back to the model that had them, whole and signed, over as many turns as there are; the fake checks
// the signatures and the place.
func TestAnthropicKeepsThoughts(t *testing.T) {
	df := fakeanthropic.Call{Name: "run_command", Input: `{"command":"df -h"}`}
	for name, c := range map[string]Config{"a number of tokens": {Thinking: 2048}, "adaptive": {Adaptive: true}} {
		t.Run(name, func(t *testing.T) {
			s := fakeanthropic.Start(fakeanthropic.Sequence(
				fakeanthropic.Turn{Thinking: "The user asks for disks. df shows them – ünïcode too.", Calls: []fakeanthropic.Call{df, df}},
				fakeanthropic.Turn{Thinking: "One more look.", Redacted: true, Text: []string{"One ", "moment."}, Calls: []fakeanthropic.Call{df}},
				fakeanthropic.Turn{Thinking: "Done.", Text: []string{"Half full."}},
			))
			m, _ := connectAnthropic(t, s, c)
			req := request("How full?")
			for range 3 {
				res, err := m.Turn(t.Context(), req, nil)
				if err != nil {
					t.Fatal(err, s.Refused())
				}
				answer := stored(t, res.Message)
				for i := range answer.ToolCalls { // as the runtime does
					answer.ToolCalls[i].ID = fmt.Sprintf("call_%d_%d", len(req.Messages), i)
				}
				req.Messages = append(req.Messages, answer)
				for _, call := range answer.ToolCalls {
					req.Messages = append(req.Messages, Message{Role: RoleTool, ToolCallID: call.ID, Name: call.Name, Status: "success", Content: "50%"})
				}
			}
			last := s.Requests()[2]
			var kinds []string
			for _, b := range last.Messages[3].Content {
				kinds = append(kinds, b.Type)
			}
			if diff := cmp.Diff([]string{"thinking", "redacted_thinking", "text", "tool_use"}, kinds); diff != "" {
				t.Errorf("blocks (-want +got):\n%s", diff)
			}
			if want := "One moment."; last.Messages[3].Content[2].Text != want {
				t.Errorf("got %q, want %q", last.Messages[3].Content[2].Text, want)
			}
			if got := last.MaxTokens; c.Thinking > 0 && got != anthropicOutput+2048 {
				t.Errorf("max_tokens: got %d, want the thoughts beside the answer", got)
			}
		})
	}
}

// stored is a message as it comes back from the store.
func stored(t *testing.T, m Message) (back Message) {
	t.Helper()
	doc, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(doc, &back); err != nil {
		t.Fatal(err)
	}
	return back
}

// Thoughts stay behind where they do not belong: at another model, another server, with a message that was changed.
func TestAnthropicThoughtsOfOthers(t *testing.T) {
	think := func(m Message, by string, blocks ...string) Message {
		m.Thinking = &Thinking{By: by}
		for _, b := range blocks {
			m.Thinking.Blocks = append(m.Thinking.Blocks, json.RawMessage(b))
		}
		return m
	}
	call := Message{Role: RoleAssistant, Content: "look", ToolCalls: []ToolCall{{"c", "run_command", "{}"}}}
	for _, tt := range []struct {
		name string
		m    func(by string) Message
	}{
		{"none", func(string) Message { return call }},
		{"another model's", func(string) Message { return think(call, "anthropic other", `{"type":"thinking","thinking":"x"}`) }},
		{"a changed text", func(by string) Message {
			return think(call, by, `{"type":"thinking","thinking":"x"}`, `{"type":"text","bytes":3}`, `{"type":"tool_use"}`)
		}},
		{"a text that is gone", func(by string) Message {
			return think(call, by, `{"type":"thinking","thinking":"x"}`, `{"type":"text","bytes":30}`, `{"type":"tool_use"}`)
		}},
		{"a call that is gone", func(by string) Message {
			return think(call, by, `{"type":"thinking","thinking":"x"}`, `{"type":"text","bytes":4}`, `{"type":"tool_use"}`, `{"type":"tool_use"}`)
		}},
		{"planted", func(by string) Message { return think(call, by, `{"type":"image"}`, `nonsense`) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := fakeanthropic.Start(fakeanthropic.Always(fakeanthropic.Turn{Text: []string{"fine"}}))
			m, _ := connectAnthropic(t, s, Config{Thinking: 1024})
			req := request("go")
			req.Messages = append(req.Messages, tt.m(m.by), Message{Role: RoleTool, ToolCallID: "c", Content: "x", Status: "denied"})
			if _, err := m.Turn(t.Context(), req, nil); err != nil {
				t.Fatal(err, s.Refused())
			}
			got := s.Requests()[0]
			if got.Thinking.Type != "" || got.Messages[1].Content[0].Type != "text" || !got.Messages[2].Content[0].IsError {
				t.Errorf("got %s", got.Body)
			}
		})
	}
}

func TestAnthropicFaults(t *testing.T) {
	look := []fakeanthropic.Call{{Name: "run_command", Input: "{}"}}
	tests := []struct {
		name  string
		turn  fakeanthropic.Turn
		want  error
		says  string
		asked int
	}{
		{"cut", fakeanthropic.Turn{Text: []string{"some"}, Fault: fakeanthropic.Cut, After: 4}, ErrUnavailable, "broke off", 1},
		{"cut before the first piece", fakeanthropic.Turn{Fault: fakeanthropic.Cut}, ErrUnavailable, "broke off", 3},
		{"ends early", fakeanthropic.Turn{Text: []string{"some"}, Fault: fakeanthropic.End, After: 4}, ErrUnavailable, "broke off", 1},
		{"ends in a call", fakeanthropic.Turn{Calls: look, Fault: fakeanthropic.End, After: 4}, ErrUnavailable, "broke off", 3},
		{"stalls", fakeanthropic.Turn{Text: []string{"some"}, Fault: fakeanthropic.Stall, After: 4}, ErrTimeout, "fell silent", 1},
		{"garbage", fakeanthropic.Turn{Text: []string{"some"}, Fault: fakeanthropic.Garbage, After: 4}, ErrBadResponse, "not a stream", 1},
		{"overloaded in the stream", fakeanthropic.Turn{Text: []string{"some"}, Fault: fakeanthropic.Overload, After: 4}, ErrUnavailable, "reported an error", 1},
		{"overloaded before the first piece", fakeanthropic.Turn{Fault: fakeanthropic.Overload}, ErrUnavailable, "reported an error", 3},
		{"529", fakeanthropic.Turn{Status: 529, Message: "Overloaded"}, ErrUnavailable, "overloaded (529)", 3},
		{"500", fakeanthropic.Turn{Status: 500}, ErrUnavailable, "500", 3},
		{"429", fakeanthropic.Turn{Status: 429, RetryAfter: "7"}, ErrUnavailable, "limiting", 3},
		{"401", fakeanthropic.Turn{Status: 401, Message: "invalid x-api-key " + testKey}, ErrUnavailable, "model.api_key_env", 1},
		{"403", fakeanthropic.Turn{Status: 403}, ErrUnavailable, "model.api_key_env", 1},
		{"no credit", fakeanthropic.Turn{Status: 400, Message: "Your credit balance is too low to access the Anthropic API."}, ErrUnavailable, "no credit", 1},
		{"no such model", fakeanthropic.Turn{Status: 404, Message: "model: claude-x"}, ErrBadResponse, "model.name", 1},
		{"no such page", fakeanthropic.Turn{Status: 404, Body: "nothing here"}, ErrBadResponse, "model.base_url is often the name", 1},
		{"too long", fakeanthropic.Turn{Status: 400, Message: "prompt is too long: 210000 tokens > 200000 maximum"}, ErrBadResponse, "too long", 1},
		{"too large", fakeanthropic.Turn{Status: 413}, ErrBadResponse, "too long", 1},
		{"invalid", fakeanthropic.Turn{Status: 400, Message: "messages: no"}, ErrBadResponse, "invalid (400)", 1},
		{"redirect", fakeanthropic.Turn{Status: 307, Location: "http://127.0.0.1:1/"}, ErrBadResponse, "redirects", 1},
		{"dropped", fakeanthropic.Turn{Drop: true}, ErrUnavailable, "without an answer", 3},
		{"out of tokens", fakeanthropic.Turn{Thinking: "hm", Stop: "max_tokens"}, ErrBadResponse, "used up its tokens", 1},
		{"refusal", fakeanthropic.Turn{Stop: "refusal"}, ErrBadResponse, "refused to answer", 1},
		{"announced call", fakeanthropic.Turn{Stop: "tool_use"}, ErrBadResponse, "made none", 1},
		{"window", fakeanthropic.Turn{Stop: "model_context_window_exceeded"}, ErrBadResponse, "too long", 1},
		{"too many calls", fakeanthropic.Turn{Calls: make([]fakeanthropic.Call, 100)}, ErrBadResponse, "more than 64", 1},
		{"arguments too long", fakeanthropic.Turn{Events: events(
			`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"x","input":{}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"`+strings.Repeat("x", 2<<20)+`"}}`)}, ErrBadResponse, "longer than", 1},
		{"thoughts too long", fakeanthropic.Turn{Events: events(
			`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"`+strings.Repeat("x", 2<<20)+`"}}`)}, ErrBadResponse, "thoughts are longer", 1},
		{"a block that did not begin", fakeanthropic.Turn{Events: events(
			`{"type":"content_block_delta","index":7,"delta":{"type":"text_delta","text":"x"}}`)}, ErrBadResponse, "did not begin", 1},
		{"a block twice", fakeanthropic.Turn{Events: events(
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)}, ErrBadResponse, "out of order", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := Config{MaxRetries: 2, Timeout: time.Minute}
			if tt.turn.Fault == fakeanthropic.Stall {
				c.IdleTimeout = 50 * time.Millisecond
			}
			s := fakeanthropic.Start(fakeanthropic.Always(tt.turn))
			m, waits := connectAnthropic(t, s, c)
			res, err := m.Turn(t.Context(), request("go"), nil)
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
				t.Fatalf("got %+v, %v; want %v with %q", res, err, tt.want, tt.says)
			}
			for _, leak := range []string{testKey, "127.0.0.1", "internal-host", "nothing here"} {
				if strings.Contains(err.Error()+ClientMessage(err), leak) {
					t.Errorf("the error tells %q: %v", leak, err)
				}
			}
			if got := len(s.Requests()); got != tt.asked {
				t.Errorf("asked %d times, want %d: %v", got, tt.asked, s.Refused())
			}
			if tt.turn.RetryAfter == "7" && !cmp.Equal(*waits, []time.Duration{7 * time.Second, 7 * time.Second}) {
				t.Errorf("waited %v, want what Retry-After says", *waits)
			}
		})
	}
}

func events(all ...string) (raw []json.RawMessage) {
	for _, e := range all {
		raw = append(raw, json.RawMessage(e))
	}
	return raw
}

func TestAnthropicToolCalls(t *testing.T) {
	for _, tt := range []struct {
		name string
		turn fakeanthropic.Turn
		want []ToolCall
	}{
		{
			"standard",
			fakeanthropic.Turn{Text: []string{"Let me look."}, Calls: []fakeanthropic.Call{{ID: "a", Name: "run_command", Input: `{"command":"df -h"}`}, {ID: "b", Name: "read_file", Input: `{"path":"x"}`}}},
			[]ToolCall{{"a", "run_command", `{"command":"df -h"}`}, {"b", "read_file", `{"path":"x"}`}},
		},
		{"not streamed", fakeanthropic.Turn{Whole: true, Calls: []fakeanthropic.Call{{ID: "a", Name: "run_command", Input: `{"command":"df -h"}`}}}, []ToolCall{{"a", "run_command", `{"command":"df -h"}`}}},
		{"no arguments", fakeanthropic.Turn{Calls: []fakeanthropic.Call{{ID: "a", Name: "now", Input: ""}}}, []ToolCall{{"a", "now", "{}"}}},
		{"no such tool, cut arguments", fakeanthropic.Turn{Calls: []fakeanthropic.Call{{ID: "a", Name: "no_such", Input: `{"x":`}}, Stop: "max_tokens"}, []ToolCall{{"a", "no_such", `{"x":`}}},
		{"one id twice", fakeanthropic.Turn{Calls: []fakeanthropic.Call{{ID: "a", Name: "x", Input: `{}`}, {ID: "a", Name: "y", Input: `{}`}}}, []ToolCall{{"a", "x", "{}"}, {"", "y", "{}"}}},
		{"an empty answer", fakeanthropic.Turn{}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, _ := connectAnthropic(t, fakeanthropic.Start(fakeanthropic.Always(tt.turn)), Config{})
			res, err := m.Turn(t.Context(), request("go"), nil)
			if err != nil {
				t.Fatal(err)
			}
			got, seen := res.Message.ToolCalls, map[string]bool{}
			for i := range got {
				if got[i].ID == "" || seen[got[i].ID] {
					t.Errorf("call %d has the id %q, which is empty or taken", i, got[i].ID)
				}
				if seen[got[i].ID] = true; tt.want[i].ID == "" {
					got[i].ID = ""
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// The attack: a server that was named, or one that took its place, sends the client on to another host, and the
// environment of the service holds other keys and other addresses. The other host gets nothing, and the named one
// its own key only.
func TestKeysStayAtTheirHosts(t *testing.T) {
	var stolen []string
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		stolen = append(stolen, fmt.Sprint(r.URL, r.Header))
	}))
	t.Cleanup(thief.Close)
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "OPENAI_ORG_ID"} {
		t.Setenv(name, "from-environment")
	}
	t.Setenv("ANTHROPIC_BASE_URL", thief.URL)
	t.Setenv("OPENAI_BASE_URL", thief.URL)
	t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Leak: from-environment")
	for _, status := range []int{301, 302, 303, 307, 308} {
		var headers []http.Header
		named := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			headers = append(headers, r.Header)
			http.Redirect(w, r, thief.URL, status)
		}))
		t.Cleanup(named.Close)
		for what, make := range map[string]func(Config) (Model, error){"anthropic": NewAnthropic, "openai": NewOpenAI} {
			for _, key := range []Secret{testKey, ""} {
				m, err := make(Config{BaseURL: named.URL, Model: "m", APIKey: key, MaxRetries: 1})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := m.Turn(t.Context(), request("go"), nil); err == nil || !strings.Contains(err.Error(), "redirects") {
					t.Errorf("%s, %d: got %v, want a redirect that is not followed", what, status, err)
				}
			}
		}
		for _, h := range headers {
			if text := fmt.Sprint(h); strings.Contains(text, "from-environment") {
				t.Errorf("the server got what was not configured: %s", text)
			}
		}
	}
	if stolen != nil {
		t.Errorf("another host was asked: %v", stolen)
	}
}

func TestNewAnthropicRefuses(t *testing.T) {
	for _, tt := range []struct {
		c    Config
		says string
	}{
		{Config{Model: "m"}, "model.base_url is empty"},
		{Config{BaseURL: "https://x/v1", Model: "m"}, "model.base_url must end before /v1"},
		{Config{BaseURL: "https://x/v1/messages", Model: "m"}, "before /v1/messages"},
		{Config{BaseURL: "https://x", Called: "deep"}, "model of the model deep is empty"},
		{Config{BaseURL: "https://x", Model: "m", Thinking: 5, Called: "deep"}, "thinking of the model deep is too little"},
		{Config{BaseURL: "https://x", Model: "m", Thinking: -1}, "model.thinking is negative"},
		{Config{BaseURL: "https://x", Model: "m", MaxOutput: -1}, "model.max_output_tokens is negative"},
		{Config{BaseURL: "https://x", Model: "m", APIKey: "a\nb"}, "line break"},
	} {
		if _, err := NewAnthropic(tt.c); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%+v: got %v, want %q", tt.c, err, tt.says)
		}
	}
}

// Whatever a conversation holds, as long as calls have their results, the server takes it.
func FuzzAnthropicTakesConversations(f *testing.F) {
	s := fakeanthropic.Start(fakeanthropic.Always(fakeanthropic.Turn{Text: []string{"fine"}}))
	m, _ := connectAnthropic(f, s, Config{Thinking: 1024})
	for seed := range uint64(30) {
		f.Add(seed, "a text", `{"x":1}`)
	}
	f.Add(uint64(1), " \n", "")
	f.Add(uint64(2), "\x00\xff", `["a"]`)
	f.Fuzz(func(t *testing.T, seed uint64, text, arguments string) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		req := Request{Agent: "core", System: []string{"", text}[rnd.IntN(2)]}
		for len(req.Messages) < 1+rnd.IntN(8) {
			said := []string{"", text, "word"}[rnd.IntN(3)]
			switch rnd.IntN(3) {
			case 0:
				req.Messages = append(req.Messages, Message{Role: RoleUser, Content: said})
			case 1:
				req.Messages = append(req.Messages, Message{Role: RoleAssistant, Content: said})
			default:
				a := Message{Role: RoleAssistant, Content: said}
				var results []Message
				for range 1 + rnd.IntN(3) {
					c := ToolCall{ID: fmt.Sprint("call_", len(req.Messages), "_", len(results)), Name: text, Arguments: arguments}
					a.ToolCalls = append(a.ToolCalls, c)
					results = append(results, Message{Role: RoleTool, ToolCallID: c.ID, Content: said, Status: []string{"success", "denied"}[rnd.IntN(2)]})
				}
				req.Messages = append(append(req.Messages, a), results...)
			}
		}
		before := len(s.Refused())
		if _, err := m.Turn(t.Context(), req, nil); err != nil {
			t.Errorf("got %v, %v for %+v", err, s.Refused()[before:], req)
		}
	})
}

// Whatever a server sends, a turn is one whole answer, of which every piece was shown, or an error of this package.
func FuzzAnthropicAnswers(f *testing.F) {
	var body string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte(body))
	}))
	f.Cleanup(s.Close)
	m, err := NewAnthropic(Config{BaseURL: s.URL, Model: claude, APIKey: testKey, Adaptive: true, IdleTimeout: time.Minute})
	if err != nil {
		f.Fatal(err)
	}
	event := func(doc string) string { return "event: x\ndata: " + doc + "\n\n" }
	f.Add(event(`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":-5,"output_tokens":9223372036854775807}}}`) +
		event(`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"a","signature":"b"}}`) +
		event(`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"a"}}`) +
		event(`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"b"}}`) +
		event(`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"i","name":"n","input":{"x":1}}}`) +
		event(`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{"}}`) +
		event(`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":3}}`) + event(`{"type":"message_stop"}`))
	f.Add(event(`{"type":"content_block_delta","index":-1,"delta":{}}`))
	f.Add(event(`{"type":"content_block_start","index":0,"content_block":null}`) + event(`{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`))
	f.Add("event: error\ndata: " + testKey + "\n\n")
	f.Add("\x00\xff\n\n: comment\n\ndata:")
	f.Fuzz(func(t *testing.T, answer string) {
		body = answer
		var shown strings.Builder
		res, err := m.Turn(t.Context(), request("go"), func(p string) { shown.WriteString(p) })
		switch u := res.Usage; {
		case err != nil:
			if !errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrBadResponse) || strings.Contains(ClientMessage(err), testKey) {
				t.Errorf("got %v", err)
			}
		case shown.String() != res.Message.Content:
			t.Errorf("shown %q, answered %q", shown.String(), res.Message.Content)
		case u.PromptTokens < 0 || u.CompletionTokens < 0 || u.TotalTokens < 0:
			t.Errorf("usage %+v", u)
		}
	})
}
