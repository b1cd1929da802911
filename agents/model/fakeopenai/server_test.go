package fakeopenai

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

func post(t *testing.T, s *Server, body string) (int, string) {
	t.Helper()
	res, err := http.Post(s.BaseURL()+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(data)
}

func TestChecksRequests(t *testing.T) {
	s := Start(Always(Turn{Text: []string{"hi"}}))
	t.Cleanup(s.Close)
	user := `{"role":"user","content":"x"}`
	call := `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	tool := `{"role":"tool","tool_call_id":"a","content":"y"}`
	for _, tt := range []struct{ name, body, says string }{
		{"fine", `{"model":"m","messages":[` + user + `]}`, ""},
		{"fine with tools", `{"model":"m","messages":[` + user + `,` + call + `,` + tool + `],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}]}`, ""},
		{"not JSON", `{`, "could not parse"},
		{"no model", `{"messages":[` + user + `]}`, "model parameter"},
		{"no messages", `{"model":"m"}`, "Missing required parameter"},
		{"empty messages", `{"model":"m","messages":[]}`, "empty array"},
		{"unknown field", `{"model":"m","messages":[` + user + `],"labels":1}`, "Unrecognized request argument supplied: labels"},
		{"unknown role", `{"model":"m","messages":[{"role":"robot","content":"x"}]}`, "Invalid value: 'robot'"},
		{"content missing", `{"model":"m","messages":[{"role":"user"}]}`, "messages[0].content"},
		{"tool without call", `{"model":"m","messages":[` + user + `,` + tool + `]}`, "must be a response to a preceding message"},
		{"call without tool", `{"model":"m","messages":[` + user + `,` + call + `,` + user + `]}`, "did not have response messages: a"},
		{"call at the end", `{"model":"m","messages":[` + user + `,` + call + `]}`, "did not have response messages: a"},
		{"tool twice", `{"model":"m","messages":[` + user + `,` + call + `,` + tool + `,` + tool + `]}`, "must be a response"},
		{"no tools", `{"model":"m","messages":[` + user + `],"tools":[]}`, "empty array"},
		{"tool name", `{"model":"m","messages":[` + user + `],"tools":[{"type":"function","function":{"name":"a b"}}]}`, "does not match pattern"},
		{"tool schema", `{"model":"m","messages":[` + user + `],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"string"}}}]}`, "Invalid schema for function 'f'"},
		{"required unknown", `{"model":"m","messages":[` + user + `],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","required":["x"]}}}]}`, "not a property"},
		{"options without stream", `{"model":"m","messages":[` + user + `],"stream_options":{"include_usage":true}}`, "only allowed when 'stream'"},
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
}

func TestStreamForm(t *testing.T) {
	s := Start(Always(Turn{Text: []string{"hi"}}))
	t.Cleanup(s.Close)
	_, body := post(t, s, `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"x"}]}`)
	const frame = `"created":1735689600,"id":"chatcmpl-0","model":"m","object":"chat.completion.chunk","service_tier":"default","system_fingerprint":"fp_fake","usage":`
	want := `data: {"choices":[{"delta":{"content":"","refusal":null,"role":"assistant"},"finish_reason":null,"index":0,"logprobs":null}],` + frame + "null}\n\n" +
		`data: {"choices":[{"delta":{"content":"hi"},"finish_reason":null,"index":0,"logprobs":null}],` + frame + "null}\n\n" +
		`data: {"choices":[{"delta":{},"finish_reason":"stop","index":0,"logprobs":null}],` + frame + "null}\n\n" +
		`data: {"choices":[],` + frame + `{"completion_tokens":1,"prompt_tokens":5,"total_tokens":6}}` + "\n\n" +
		"data: [DONE]\n\n"
	if body != want {
		t.Errorf("got\n%s\nwant\n%s", body, want)
	}
}

func TestOtherPaths(t *testing.T) {
	s := Start(Always(Turn{}))
	t.Cleanup(s.Close)
	for path, want := range map[string]int{"/models": 200, "/embeddings": 404} {
		res, err := http.Get(s.BaseURL() + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: got %d, want %d", path, res.StatusCode, want)
		}
	}
}
