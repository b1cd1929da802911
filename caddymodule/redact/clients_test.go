package redact_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// completion is a server that speaks the API of chat completions and cuts an answer into pieces.
func completion(pieces []string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		rc := http.NewResponseController(w)
		send := func(delta, finish string) {
			fmt.Fprintf(w, `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", delta, finish)
			rc.Flush()
		}
		send(`{"role":"assistant","content":""}`, "null")
		for _, p := range pieces {
			text, _ := json.Marshal(p)
			send(`{"content":`+string(text)+`}`, "null")
		}
		send("{}", `"stop"`)
		fmt.Fprint(w, `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`+"\n\ndata: [DONE]\n\n")
	}
}

// cut cuts a text into pieces of n bytes.
func cut(text string, n int) (pieces []string) {
	for len(text) > n {
		pieces = append(pieces, text[:n])
		text = text[n:]
	}
	return append(pieces, text)
}

// TestChatCompletions puts the stage in front of a server of chat completions and asks it with the
// published client.
func TestChatCompletions(t *testing.T) {
	const text = "The password for bob is Hunter2!x, the key AKIAQ3EGRIL2VN7UTXJ5.\nSee https://bob:tiger7@example.com/ - plan A"
	const want = "The password for bob is REDACTED, the key REDACTED.\nSee https://bob:REDACTED@example.com/ - plan A"
	var pieces []string
	srv := serve(t, "", func(w http.ResponseWriter, r *http.Request) { completion(pieces)(w, r) })
	client := openai.NewChatCompletionService(option.WithBaseURL(srv.URL+"/v1/"), option.WithAPIKey("unused-key"), option.WithMaxRetries(0))
	for _, n := range []int{1, 2, 3, 7, 19, len(text)} {
		pieces = cut(text, n)
		stream := client.NewStreaming(context.Background(), openai.ChatCompletionNewParams{
			Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("hello")},
		})
		got, chunks, finish, tokens := "", 0, "", int64(0)
		for stream.Next() {
			chunk := stream.Current()
			chunks++
			tokens += chunk.Usage.TotalTokens
			for _, c := range chunk.Choices {
				got += c.Delta.Content
				finish += c.FinishReason
			}
		}
		if err := stream.Err(); err != nil {
			t.Fatal(err)
		}
		if got != want || chunks != len(pieces)+3 || finish != "stop" || tokens != 3 {
			t.Errorf("in pieces of %d: got %q in %d chunks, finish %q, %d tokens; want %q in %d chunks", n, got, chunks, finish, tokens, want, len(pieces)+3)
		}
	}
}

// TestAgentServer puts the stage in front of a foreign agent server: numbered and named events, two
// messages at once, states that repeat all, heartbeats. What has no secret comes byte for byte.
func TestAgentServer(t *testing.T) {
	gate := make(chan struct{})
	srv := serve(t, "", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		rc := http.NewResponseController(w)
		for i, e := range []string{
			`metadata|{"run_id":"r1","attempt":1}`,
			`messages|[{"content":"The community is ","id":"m1","type":"ai"},{"node":"a"}]`,
			`messages|[{"content":"Nothing to see","id":"m2","type":"ai"},{"node":"b"}]`,
			`messages|[{"content":"s3cr","id":"m1","type":"ai"},{"node":"a"}]`,
			`messages|[{"content":" here.","id":"m2","type":"ai"},{"node":"b"}]`,
			`messages|[{"content":"et9 now.","id":"m1","type":"ai"},{"node":"a"}]`,
			`messages/partial|[{"content":"secret: tig","id":"m3"}]`,
			`messages/partial|[{"content":"secret: tiger7 and","id":"m3"}]`,
			`values|{"messages":[{"content":"The community is s3cret9 now.","id":"m1"},{"content":"Nothing to see here.","id":"m2"}]}`,
			`end|null`,
		} {
			name, data, _ := strings.Cut(e, "|")
			fmt.Fprintf(w, "id: %d\nevent: %s\ndata: %s\n\n: hb\n", i, name, data)
			rc.Flush()
			if i == 2 {
				<-gate
			}
		}
	})
	resp, err := http.DefaultTransport.RoundTrip(srv.Request(http.MethodGet, "/", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	var data []string
	ids := 0
	for lines.Scan() {
		if d, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			data = append(data, d)
			if len(data) == 3 {
				close(gate) // the first three came while the server waited
			}
		}
		if lines.Text() == fmt.Sprintf("id: %d", ids) {
			ids++
		}
	}
	want := []string{
		`{"run_id":"r1","attempt":1}`,
		`[{"content":"The community is ","id":"m1","type":"ai"},{"node":"a"}]`,
		`[{"content":"Nothing to see","id":"m2","type":"ai"},{"node":"b"}]`,
		`[{"content":"","id":"m1","type":"ai"},{"node":"a"}]`,
		`[{"content":" here.","id":"m2","type":"ai"},{"node":"b"}]`,
		`[{"content":"REDACTED now.","id":"m1","type":"ai"},{"node":"a"}]`,
		`[{"content":"secret: ","id":"m3"}]`,
		`[{"content":"secret: REDACTED and","id":"m3"}]`,
		`{"messages":[{"content":"The community is REDACTED now.","id":"m1"},{"content":"Nothing to see here.","id":"m2"}]}`,
		`null`,
	}
	if got := strings.Join(data, "\n"); got != strings.Join(want, "\n") || ids != len(want) {
		t.Errorf("got %d ids and\n%s\nwant\n%s", ids, got, strings.Join(want, "\n"))
	}
}
