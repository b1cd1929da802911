package fakeanthropic_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/agents/model/fakeanthropic"
)

func post(t *testing.T, s *fakeanthropic.Server, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/v1/messages", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("anthropic-version", "2023-06-01")
	r.Header.Set("x-api-key", "k")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(answer)
}

func TestRefuses(t *testing.T) {
	s := fakeanthropic.Start(fakeanthropic.Always(fakeanthropic.Turn{Text: []string{"hi"}}))
	t.Cleanup(s.Close)
	const (
		user   = `{"role":"user","content":[{"type":"text","text":"x"}]}`
		use    = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}`
		result = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}`
	)
	of := func(rest, messages string) string {
		return `{"model":"m","max_tokens":5,` + rest + `"messages":[` + messages + `]}`
	}
	for _, tt := range []struct{ name, body, says string }{
		{"fine", of("", user+","+use+","+result), ""},
		{"no model", `{"max_tokens":5,"messages":[` + user + `]}`, "model: Field required"},
		{"no bound", `{"model":"m","messages":[` + user + `]}`, "max_tokens: Field required"},
		{"no messages", of("", ""), "at least one message"},
		{"unknown field", of(`"labels":1,`, user), "labels: Extra inputs are not permitted"},
		{"assistant first", of("", use+","+result), "first message"},
		{"assistant last", of("", user+`,{"role":"assistant","content":[{"type":"text","text":"x"}]}`), "prefill"},
		{"call without result", of("", user+","+use+","+user), "without `tool_result` blocks immediately after: a"},
		{"result without call", of("", user+","+result), "unexpected `tool_use_id`"},
		{"empty text", of("", `{"role":"user","content":[{"type":"text","text":" "}]}`), "non-whitespace"},
		{"empty message", of("", `{"role":"user","content":[]}`), "non-empty content"},
		{"input", of("", user+`,{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":"x"}]},`+result), "valid dictionary"},
		{"forged thought", of("", user+`,{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"}]},`+user), "Invalid `signature`"},
		{"forged sealed thought", of("", user+`,{"role":"assistant","content":[{"type":"redacted_thinking","data":"s"}]},`+user), "Invalid `data`"},
		{"no thought before the calls", `{"model":"m","max_tokens":5000,"thinking":{"type":"enabled","budget_tokens":1024},"messages":[` + user + "," + use + "," + result + `]}`, "must start with a thinking block"},
		{"thoughts within the bound", of(`"thinking":{"type":"enabled","budget_tokens":1024},`, user), "must be greater than `thinking.budget_tokens`"},
		{"tool name", of(`"tools":[{"name":"a b","input_schema":{"type":"object"}}],`, user), "tools.0.custom.name"},
		{"tool twice", of(`"tools":[{"name":"a","input_schema":{"type":"object"}},{"name":"a","input_schema":{"type":"object"}}],`, user), "must be unique"},
		{"tool schema", of(`"tools":[{"name":"a","input_schema":{"type":"string"}}],`, user), "Input should be 'object'"},
		{"five marks", of(`"system":[`+strings.Repeat(`{"type":"text","text":"x","cache_control":{"type":"ephemeral"}},`, 4)+`{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}],`, user), "maximum of 4 blocks"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, body := post(t, s, tt.body)
			if tt.says == "" {
				if status != http.StatusOK {
					t.Fatalf("got %d %s", status, body)
				}
				return
			}
			var e struct{ Error struct{ Message string } }
			if err := json.Unmarshal([]byte(body), &e); err != nil || status != http.StatusBadRequest || !strings.Contains(e.Error.Message, tt.says) {
				t.Errorf("got %d %s, want 400 with %q", status, body, tt.says)
			}
		})
	}
	if n := len(s.Requests()); n != 1 {
		t.Errorf("%d requests were accepted, want 1", n)
	}
}

func TestStreamForm(t *testing.T) {
	s := fakeanthropic.Start(fakeanthropic.Always(fakeanthropic.Turn{Text: []string{"hi"}}))
	t.Cleanup(s.Close)
	_, body := post(t, s, `{"model":"m","max_tokens":5,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`)
	var kinds []string
	for line := range strings.Lines(body) {
		if kind, ok := strings.CutPrefix(line, "event: "); ok {
			kinds = append(kinds, strings.TrimSpace(kind))
		}
	}
	if got, want := strings.Join(kinds, " "), "message_start ping content_block_start content_block_delta content_block_stop message_delta message_stop"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
