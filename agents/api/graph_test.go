package api_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// graph is a request of the graph-based protocol.
func graph(text string, more ...any) map[string]any {
	body := ask(text)
	body["assistant_id"], body["stream_mode"] = "quick", []string{"values"}
	for i := 0; i+1 < len(more); i += 2 {
		body[more[i].(string)] = more[i+1]
	}
	return body
}

func TestGraphStreamHasWhereItIsAndGoesOn(t *testing.T) {
	s := newServer(t, parrot{})
	thread := s.thread("ada")
	status, header, body := s.do("ada", "POST", "/threads/"+thread+"/runs/stream", graph("hello"))
	location := header.Get("Content-Location")
	if status != 200 || !regexp.MustCompile(`^/threads/`+thread+`/runs/[0-9a-f-]{36}$`).MatchString(location) || header.Get("Location") != location+"/stream" {
		t.Fatalf("got %d, %q and %q", status, location, header.Get("Location"))
	}
	events := regexp.MustCompile(`event: (\S+)\ndata: .*\nid: (\d+)\n\n`).FindAllStringSubmatch(body, -1)
	if len(events) != 4 || events[0][1] != "metadata" || events[0][2] != "0" || events[3][1] != "end" {
		t.Fatalf("got %q", body)
	}
	for i, e := range events {
		_, _, rest := s.do("ada", "GET", header.Get("Location"), nil, "Last-Event-ID", e[2])
		if got, want := strings.Count(rest, "event: "), len(events)-1-i; got != want || !strings.HasSuffix(body, rest) {
			t.Errorf("after %s: got %q", e[2], rest)
		}
	}
	_, _, again := s.do("ada", "GET", header.Get("Location"), nil)
	if again != body {
		t.Errorf("again: got %q, want %q", again, body)
	}
	if status, _, _ := s.do("bob", "GET", header.Get("Location"), nil); status != 404 {
		t.Errorf("somebody else: got %d", status)
	}
}

func TestBothDialectsSeeTheSame(t *testing.T) {
	s := newServer(t, parrot{})
	thread := s.thread("ada")
	if _, _, body := s.do("ada", "POST", "/threads/"+thread+"/runs/stream", ask("first")); answerOf(parse(t, body)) != "1: first" {
		t.Errorf("got %q", body)
	}
	_, _, body := s.do("ada", "POST", "/threads/"+thread+"/runs/wait", graph("second"))
	var state struct {
		Messages []struct{ Type, Content string }
	}
	if err := json.Unmarshal([]byte(body), &state); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	if got, want := fmt.Sprint(state.Messages), "[{human first} {ai 1: first} {human second} {ai 3: second}]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, _, body := s.do("ada", "POST", "/threads/"+thread+"/runs/stream?dialect=spec", ask("third")); answerOf(parse(t, body)) != "5: third" {
		t.Errorf("got %q", body)
	}
}

func TestGraphBadInput(t *testing.T) {
	s := newServer(t, parrot{})
	thread := s.thread("ada")
	path := "/threads/" + thread
	nobody := "0190f5a4-7c3e-7b1a-9f6e-2d4c8a1b3e5f"
	message := func(m string) string {
		return `{"assistant_id":"quick","stream_mode":[],"input":{"messages":` + m + `}}`
	}
	run := func(members string) string {
		return `{"assistant_id":"quick","input":{"messages":"x"},"stream_mode":"values",` + members + `}`
	}
	for _, tc := range []struct {
		name, method, path, body string
		status                   int
		code, detail             string
	}{
		{"no JSON", "POST", path + "/runs", `{`, 400, "truncated_json", ""},
		{"no assistant", "POST", path + "/runs", `{"input":null}`, 422, "invalid_input", "assistant_id: is missing"},
		{"assistant no text", "POST", path + "/runs", `{"assistant_id":7}`, 422, "invalid_input", "assistant_id: must be of type string"},
		{"unknown assistant", "POST", path + "/runs", `{"assistant_id":"nope","input":{"messages":"x"}}`, 404, "assistant_not_found", ""},
		{"unknown thread", "POST", "/threads/" + nobody + "/runs", message(`"x"`), 404, "thread_not_found", ""},
		{"thread no uuid", "POST", "/threads/7/runs", message(`"x"`), 422, "invalid_thread_id", ""},
		{"mode", "POST", path + "/runs", `{"assistant_id":"quick","stream_mode":["values","nope"]}`, 422, "invalid_input", "stream_mode[1]: must be one of values"},
		{"modes no list", "POST", path + "/runs", `{"assistant_id":"quick","stream_mode":{}}`, 422, "invalid_input", "stream_mode: must be"},
		{"input no object", "POST", path + "/runs", `{"assistant_id":"quick","input":"x"}`, 422, "invalid_input", "input: must be of type object, got string"},
		{"messages a number", "POST", path + "/runs", message(`7`), 422, "invalid_input", "input.messages: must be of type array, got number"},
		{"message a number", "POST", path + "/runs", message(`[7]`), 422, "invalid_input", "input.messages[0]: must be of type object, got number"},
		{"message without type", "POST", path + "/runs", message(`[{"content":"x"}]`), 422, "invalid_input", "input.messages[0].type: is missing"},
		{"instructions", "POST", path + "/runs", message(`[{"type":"system","content":"x"}]`), 422, "invalid_input", "input.messages[0].type: must be one of human"},
		{"content a number", "POST", path + "/runs", message(`[{"type":"human","content":7}]`), 422, "invalid_input", "input.messages[0].content: must be of type string or array"},
		{"an image", "POST", path + "/runs", message(`[{"type":"human","content":[{"type":"image_url"}]}]`), 422, "invalid_input", "input.messages[0].content[0].type: must be text"},
		{"id a number", "POST", path + "/runs", message(`[{"type":"human","content":"x","id":7}]`), 422, "invalid_input", "input.messages[0].id: must be of type string"},
		{"a result of nothing", "POST", path + "/runs", message(`[{"type":"tool","content":"x"}]`), 422, "invalid_input", "input.messages[0].tool_call_id: is missing"},
		{"a removal of nothing", "POST", path + "/runs", message(`[{"type":"remove"}]`), 422, "invalid_input", "input.messages[0].id: is missing"},
		{"multitask", "POST", path + "/runs", run(`"multitask_strategy":"x"`), 422, "invalid_input", "multitask_strategy: must be one of reject enqueue interrupt rollback"},
		{"after", "POST", path + "/runs", run(`"after_seconds":-1`), 422, "invalid_input", "after_seconds: must be a number from 0"},
		{"node", "POST", path + "/runs", run(`"interrupt_before":["x"]`), 422, "invalid_input", "interrupt_before[0]: must be one of agent, tools, *"},
		{"a checkpoint of another thread", "POST", path + "/runs", run(`"checkpoint":{"thread_id":"` + nobody + `","checkpoint_ns":""}`), 422, "invalid_input", "checkpoint.thread_id"},
		{"an unknown checkpoint", "POST", path + "/runs", run(`"checkpoint_id":"` + nobody + `"`), 404, "checkpoint_not_found", ""},
		{"resume without interrupt", "POST", path + "/runs/stream", `{"assistant_id":"quick","command":{"resume":true}}`, 409, "not_interrupted", ""},
		{"goto", "POST", path + "/runs", run(`"command":{"goto":"nowhere"}`), 422, "invalid_input", "command.goto[0]: must be one of"},
		{"nothing to do", "POST", path + "/runs", `{"assistant_id":"quick","input":null}`, 409, "nothing_to_do", ""},
		{"no thread and nothing", "POST", "/runs", `{"assistant_id":"quick","input":null}`, 422, "invalid_input", "input: is missing"},
		{"a dialect", "POST", path + "/runs/stream?dialect=x", message(`"x"`), 422, "invalid_dialect", ""},
		{"too large", "POST", path + "/runs", message(`"` + strings.Repeat("x", 65<<10) + `"`), 413, "body_too_large", "limits.body_bytes"},
		{"an unknown run", "GET", path + "/runs/" + nobody, "", 404, "run_not_found", ""},
		{"run no uuid", "GET", path + "/runs/7", "", 422, "invalid_run_id", ""},
		{"Last-Event-ID", "GET", path + "/stream?stream_mode=x", "", 422, "invalid_input", "stream_mode[0]"},
		{"an unknown state", "GET", path + "/state/" + nobody, "", 404, "checkpoint_not_found", ""},
		{"update as", "POST", path + "/state", `{"values":{},"as_node":"x"}`, 422, "invalid_input", "as_node: must be one of"},
		{"update of a number", "POST", path + "/state", `{"values":7}`, 422, "invalid_input", "values: must be of type object, got number"},
		{"history before", "POST", path + "/history", `{"before":7}`, 422, "invalid_input", "before: must be the id"},
		{"history limit", "POST", path + "/history", `{"limit":0}`, 422, "invalid_input", "limit: must be a number from 1"},
		{"search limit", "POST", "/threads/search", `{"limit":100000}`, 422, "invalid_input", "limit: must be a number"},
		{"search status", "POST", "/threads/search", `{"status":"x"}`, 422, "invalid_input", "status: must be one of"},
		{"thread exists", "POST", "/threads", `{"thread_id":"` + thread + `"}`, 409, "thread_exists", "do_nothing"},
		{"ttl", "POST", "/threads", `{"ttl":-1}`, 422, "invalid_input", "ttl.ttl"},
		{"supersteps", "POST", "/threads", `{"supersteps":{}}`, 422, "invalid_input", "supersteps"},
		{"a batch", "POST", "/runs/batch", `[{"assistant_id":"quick","input":{"messages":"x"}},{"streamMode":"x"}]`, 422, "invalid_input", "[1].assistant_id: is missing"},
		{"a batch of nothing", "POST", "/runs/batch", `{}`, 400, "invalid_json", "array"},
		{"cancel what", "POST", "/runs/cancel", `{}`, 422, "invalid_input", "run_ids: is missing"},
		{"prune what", "POST", "/threads/prune", `{"thread_ids":["x"]}`, 422, "invalid_input", "thread_ids[0]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var body any
			if tc.body != "" {
				body = tc.body
			}
			status, _, got := s.do("ada", tc.method, tc.path, body)
			var p struct{ Detail, Code string }
			if err := json.Unmarshal([]byte(got), &p); err != nil || status != tc.status || p.Code != tc.code || !strings.Contains(p.Detail, tc.detail) {
				t.Errorf("got %d %s, want %d %s with %q", status, got, tc.status, tc.code, tc.detail)
			}
		})
	}
}

func TestGraphTakesWhatClientsSend(t *testing.T) {
	s := newServer(t, parrot{})
	status, header, body := s.do("ada", "POST", "/runs/wait", `{"assistant_id":"quick","colour":"red","another, one":1,"config":{"configurable":null},"checkpoint":null,
		"input":{"messages":[["human","one"],{"role":"assistant","content":[{"type":"text","text":"two"}]},
		{"lc":1,"type":"constructor","id":["langchain_core","messages","HumanMessage"],"kwargs":{"content":"three"}}]}}`)
	if status != 200 || header.Get("X-Ignored-Fields") != "another__one, colour" || !strings.Contains(body, `"3: three"`) {
		t.Errorf("got %d %q %s", status, header.Get("X-Ignored-Fields"), body)
	}
	failed := graph("fail")
	if status, _, body := s.do("ada", "POST", "/runs/wait", failed); status != 200 || !strings.Contains(body, `{"__error__":{"error":"model_unavailable"`) {
		t.Errorf("a failure: got %d %s", status, body)
	}
	if _, _, body := s.do("ada", "POST", "/runs/stream", failed); !strings.Contains(body, "event: error\ndata: {\"error\":\"model_unavailable\"") {
		t.Errorf("a failure: got %s", body)
	}
	var first, second struct {
		Run string `json:"run_id"`
	}
	for i, to := range []any{&first, &second} {
		_, _, body := s.do("ada", "POST", "/runs", graph("once"), "Idempotency-Key", "k")
		if err := json.Unmarshal([]byte(body), to); err != nil {
			t.Fatalf("%d: %s", i, body)
		}
	}
	if first.Run == "" || first.Run != second.Run {
		t.Errorf("the same key: got %s and %s", first.Run, second.Run)
	}
}

// A batch that is sent again gets the runs of the first one; runs of it that are alike are several.
func TestBatchAgain(t *testing.T) {
	k := keeper{newServer(t, parrot{})}
	const one = `{"assistant_id":"quick","input":{"messages":[{"role":"user","content":"a"}]}}`
	ids := func(body string) (ids []string) {
		t.Helper()
		status, _, text := k.do("ada", "POST", "/runs/batch", body, "Content-Type", "application/json", "Idempotency-Key", "k")
		var runs []struct {
			ID string `json:"run_id"`
		}
		if err := json.Unmarshal([]byte(text), &runs); err != nil || status != 200 {
			t.Fatalf("got %d %s", status, text)
		}
		for _, r := range runs {
			ids = append(ids, r.ID)
		}
		return ids
	}
	body := "[" + one + "," + strings.Replace(one, `"a"`, `"b"`, 1) + "," + one + "]"
	first := ids(body)
	if len(first) != 3 || first[0] == first[1] || first[0] == first[2] {
		t.Errorf("got %v, want three runs", first)
	}
	if again := ids(body); !slices.Equal(again, first) {
		t.Errorf("sent again: got %v, want %v", again, first)
	}
}

// Lists of states end before their limit when the states are large, and say where to go on.
func TestListsOfLargeStates(t *testing.T) {
	s := newServer(t, parrot{})
	said := func(thread string, size int) {
		update := map[string]any{"values": map[string]any{"messages": []any{map[string]any{"type": "human", "content": strings.Repeat("much ", size/5)}}}}
		if status, _, body := s.do("ada", "POST", "/threads/"+thread+"/state", update); status != 200 {
			t.Fatalf("got %d, %s", status, body)
		}
	}
	threads := map[string]bool{}
	for range 3 {
		thread := s.thread("ada")
		threads[thread] = true
		said(thread, mostStates*2/3)
	}
	for offset := range 3 {
		status, header, body := s.do("ada", "POST", "/threads/search", map[string]any{"limit": 10, "offset": offset})
		var page []struct {
			ID string `json:"thread_id"`
		}
		if err := json.Unmarshal([]byte(body), &page); err != nil || status != 200 || len(page) != 1 || !threads[page[0].ID] || header.Get("X-Pagination-Total") != "3" {
			t.Fatalf("got %d, %v, %d threads of %s", status, err, len(page), header.Get("X-Pagination-Total"))
		}
		delete(threads, page[0].ID)
		if next := header.Get("X-Pagination-Next"); offset < 2 && next != fmt.Sprint(offset+1) {
			t.Fatalf("the next page begins at %q, want %d", next, offset+1)
		}
	}
	thread := s.thread("ada")
	for range 6 {
		said(thread, mostStates/6)
	}
	seen, before := map[string]bool{}, ""
	for len(seen) < 6 {
		_, _, body := s.do("ada", "GET", "/threads/"+thread+"/history?limit=1000"+before, nil)
		var list []struct {
			Checkpoint struct {
				ID string `json:"checkpoint_id"`
			}
		}
		if err := json.Unmarshal([]byte(body), &list); err != nil || len(list) == 0 || len(list) == 6 {
			t.Fatalf("got %d checkpoints, %v", len(list), err)
		}
		for _, c := range list {
			seen[c.Checkpoint.ID] = true
			before = "&before=" + c.Checkpoint.ID
		}
	}
}
