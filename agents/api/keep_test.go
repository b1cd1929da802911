package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// keeper sends requests about what is kept for users, in the protocol's dialect.
type keeper struct {
	*server
}

// send sends a request and holds its answer to a status.
func (k keeper) send(user, method, path string, body any, want int) (http.Header, string) {
	k.t.Helper()
	var headers []string
	if body != nil {
		headers = []string{"Content-Type", "application/json"}
	}
	status, header, text := k.do(user, method, path, body, headers...)
	if status != want {
		k.t.Fatalf("%s %s as %s: got %d %s, want %d", method, path, user, status, text, want)
	}
	return header, text
}

// object sends a request that is answered with an object.
func (k keeper) object(user, method, path string, body any) map[string]any {
	k.t.Helper()
	_, text := k.send(user, method, path, body, 200)
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		k.t.Fatalf("%s %s: %s: %v", method, path, text, err)
	}
	return v
}

type o = map[string]any

func TestAssistantEndpoints(t *testing.T) {
	k := keeper{newServer(t, parrot{})}
	own := k.object("ada", "POST", "/assistants", o{"graph_id": "quick", "name": "mine", "config": o{"recursion_limit": 3, "configurable": o{"api_key": "sk-proj-4f9aKq0Zx82mNbV7cRtY1wPu"}}, "metadata": o{"team": "x"}, "if_exists": "raise", "shiny": 1})
	path := "/assistants/" + own["assistant_id"].(string)
	if own["version"] != 1.0 || own["user_id"] != "ada" || own["description"] != nil {
		t.Errorf("got %v", own)
	}
	if config, _ := json.Marshal(own["config"]); strings.Contains(string(config), "4f9aKq") {
		t.Errorf("a credential is shown: %s", config)
	}
	if got := k.object("ada", "PATCH", path, o{"name": "yours", "description": "two"}); got["version"] != 2.0 || got["name"] != "yours" || got["description"] != "two" {
		t.Errorf("got %v", got)
	}
	if got := k.object("ada", "POST", path+"/latest", o{"version": 1}); got["name"] != "mine" {
		t.Errorf("got %v", got)
	}
	if _, got := k.send("ada", "POST", path+"/versions", o{}, 200); strings.Count(got, "assistant_id") != 2 {
		t.Errorf("versions: %s", got)
	}
	header, got := k.send("ada", "POST", "/assistants/search", o{"limit": 2, "select": []string{"name"}, "sort_by": "name", "sort_order": "asc"}, 200)
	if got != `[{"name":"core"},{"name":"mine"}]` || header.Get("X-Pagination-Total") != "4" || header.Get("X-Pagination-Next") != "2" {
		t.Errorf("got %s, %v", got, header)
	}
	if _, got := k.send("bob", "POST", "/assistants/count", o{"graph_id": "quick"}, 200); got != "1" {
		t.Errorf("bob counts %s", got)
	}
	for _, tc := range []struct {
		user, method, path string
		body               any
		want               int
	}{
		{"bob", "GET", path, nil, 404},
		{"bob", "PATCH", path, o{"name": "his"}, 404},
		{"bob", "DELETE", path, nil, 404},
		{"bob", "GET", path + "/graph", nil, 404},
		{"bob", "GET", path + "/schemas", nil, 404},
		{"bob", "GET", path + "/subgraphs", nil, 404},
		{"bob", "POST", path + "/versions", o{}, 404},
		{"bob", "POST", path + "/latest", o{"version": 1}, 404},
		{"bob", "POST", "/assistants", o{"graph_id": "core", "assistant_id": own["assistant_id"]}, 409},
		{"ada", "POST", "/assistants", o{"graph_id": "core", "assistant_id": own["assistant_id"]}, 409},
		{"ada", "POST", "/assistants", o{"graph_id": "nothing"}, 422},
		{"ada", "POST", "/assistants", o{}, 422},
		{"ada", "POST", path + "/latest", o{"version": 9}, 404},
		{"root", "GET", path, nil, 200},
		{"root", "PATCH", "/assistants/core", o{"name": "x"}, 403},
		{"root", "DELETE", "/assistants/core", nil, 403},
		{"ada", "GET", "/assistants/agent", nil, 200}, // as the chat UI calls it
		{"ada", "GET", "/assistants/nothing", nil, 404},
		{"ada", "DELETE", path, nil, 204},
		{"ada", "GET", path, nil, 404},
	} {
		k.send(tc.user, tc.method, tc.path, tc.body, tc.want)
	}
	graph := k.object("ada", "GET", "/assistants/core/graph?xray=true", nil)
	if n := graph["nodes"].([]any); len(n) != 4 {
		t.Errorf("nodes: %v", n)
	}
	if got := k.object("ada", "GET", "/assistants/core/schemas", nil); got["graph_id"] != "core" || got["input_schema"] == nil {
		t.Errorf("schemas: %v", got)
	}
	if got := k.object("ada", "GET", "/assistants/core/subgraphs/tools?recurse=true", nil); len(got) != 0 {
		t.Errorf("subgraphs: %v", got)
	}
}

// A run that is asked of an assistant has the assistant's configuration, its own first, and says which
// one it was asked of.
func TestRunsOfAnAssistant(t *testing.T) {
	k := keeper{newServer(t, parrot{})}
	own := k.object("ada", "POST", "/assistants", o{"graph_id": "quick", "metadata": o{"team": "x"}, "config": o{"recursion_limit": 7, "tags": []string{"a"}, "configurable": o{"a": 1, "b": 1}}, "context": o{"c": 1}})
	id := own["assistant_id"].(string)
	run := k.object("ada", "POST", "/runs", o{
		"assistant_id": id, "input": o{"messages": []o{{"role": "user", "content": "hello"}}}, "config": o{"configurable": o{"b": 2}}, "metadata": o{"assistant_id": "forged", "k": "v"},
	})
	if run["assistant_id"] != id {
		t.Errorf("the run is of %v, want %s", run["assistant_id"], id)
	}
	if diff := cmp.Diff(o{"team": "x", "k": "v", "graph_id": "quick", "assistant_id": id}, run["metadata"]); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	kwargs := run["kwargs"].(map[string]any)
	if diff := cmp.Diff(o{"recursion_limit": 7.0, "tags": []any{"a"}, "configurable": o{"a": 1.0, "b": 2.0}}, kwargs["config"]); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(o{"c": 1.0}, kwargs["context"]); diff != "" {
		t.Errorf("context (-want +got):\n%s", diff)
	}
	k.send("bob", "POST", "/runs", o{"assistant_id": id, "input": o{"messages": []o{{"role": "user", "content": "hello"}}}, "stream_mode": "values"}, 404)
}

func TestStoreEndpoints(t *testing.T) {
	k := keeper{newServer(t, parrot{})}
	put := func(user string, ns []string, key string, value any) {
		t.Helper()
		k.send(user, "PUT", "/store/items", o{"namespace": ns, "key": key, "value": value, "index": nil}, 204)
	}
	put("ada", []string{"a", "b"}, "k/1.2", o{"x": 1, "text": "Red car", "password": "hunter2-correct-horse"})
	put("ada", []string{"a", "c"}, "k", o{"x": 5})
	put("bob", []string{"a", "b"}, "k/1.2", o{"x": 2})
	got := k.object("ada", "GET", "/store/items?namespace=a.b&key=k%2F1.2", nil)
	if got["value"].(o)["x"] != 1.0 || got["user_id"] != "ada" || got["created_at"] == nil || got["value"].(o)["password"] == "hunter2-correct-horse" {
		t.Errorf("got %v", got)
	}
	if _, text := k.send("eve", "GET", "/store/items?namespace=a.b&key=k%2F1.2", nil, 200); text != "null" {
		t.Errorf("eve gets %s", text)
	}
	if _, text := k.send("eve", "GET", "/store/items?namespace=a.b&key=k%2F1.2&user_id=ada", nil, 200); text != "null" {
		t.Errorf("eve gets ada's: %s", text)
	}
	k.send("eve", "PUT", "/store/items", o{"namespace": []string{"a"}, "key": "k", "value": o{}, "user_id": "ada"}, 404)
	search := func(user string, body o) string {
		t.Helper()
		_, text := k.send(user, "POST", "/store/items/search", body, 200)
		var v struct {
			Items []struct {
				Key, UserID string
				Score       float64
			}
		}
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, i := range v.Items {
			keys = append(keys, i.Key)
		}
		return strings.Join(keys, " ")
	}
	for name, tc := range map[string]struct {
		user string
		body o
		want string
	}{
		"all":       {"ada", o{"namespace_prefix": []string{}, "limit": 10, "offset": 0}, "k k/1.2"},
		"a prefix":  {"ada", o{"namespace_prefix": []string{"a", "b"}}, "k/1.2"},
		"a filter":  {"ada", o{"namespace_prefix": []string{"a"}, "filter": o{"x": o{"$gte": 5}}}, "k"},
		"a text":    {"ada", o{"namespace_prefix": []string{"a"}, "query": "CAR blue"}, "k/1.2"},
		"an admin":  {"root", o{"namespace_prefix": []string{"a", "b"}}, "k/1.2 k/1.2"},
		"a user's":  {"root", o{"namespace_prefix": []string{"a", "b"}, "user_id": "bob"}, "k/1.2"},
		"another's": {"eve", o{"user_id": "ada"}, ""},
	} {
		if got := search(tc.user, tc.body); got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
	if _, text := k.send("ada", "POST", "/store/namespaces", o{"prefix": []string{"a"}, "max_depth": 2}, 200); text != `{"namespaces":[["a","b"],["a","c"]]}` {
		t.Errorf("namespaces: %s", text)
	}
	k.send("ada", "DELETE", "/store/items", o{"namespace": []string{"a", "b"}, "key": "k/1.2"}, 204)
	if got := search("bob", o{}); got != "k/1.2" {
		t.Errorf("bob has %q", got)
	}
	for _, tc := range []struct {
		body o
		want int
		says string
	}{
		{o{"namespace": []string{}, "key": "k", "value": o{}}, 422, "namespace"},
		{o{"namespace": []string{"a.b"}, "key": "k", "value": o{}}, 422, "namespace[0]"},
		{o{"namespace": []string{"a", ""}, "key": "k", "value": o{}}, 422, "namespace[1]"},
		{o{"namespace": "a", "key": "k", "value": o{}}, 422, "namespace"},
		{o{"namespace": []string{"a"}, "key": "", "value": o{}}, 422, "key"},
		{o{"namespace": []string{"a"}, "key": "k", "value": []int{1}}, 422, "value"},
		{o{"namespace": []string{"a"}, "key": "k", "value": nil}, 422, "value"},
		{o{"namespace": []string{"a"}, "key": "k", "value": o{}, "ttl": -1}, 422, "ttl"},
		{o{"namespace": []string{"a"}, "key": "k", "value": o{"x": strings.Repeat("x", 100_000)}}, 413, "body"},
	} {
		if _, text := k.send("ada", "PUT", "/store/items", tc.body, tc.want); !strings.Contains(text, tc.says) {
			t.Errorf("got %s, want %q in it", text, tc.says)
		}
	}
	if _, text := k.send("ada", "POST", "/store/items/search", o{"filter": o{"x": o{"$in": 1}}}, 422); !strings.Contains(text, "filter.x.$in") {
		t.Errorf("an unknown operator: %s", text)
	}
	k.send("ada", "GET", "/store/items?namespace=a..b&key=k", nil, 422)
}

func TestCronEndpoints(t *testing.T) {
	k := keeper{newServer(t, parrot{})}
	input := o{"messages": []o{{"role": "user", "content": "hello"}}}
	c := k.object("ada", "POST", "/runs/crons", o{"assistant_id": "quick", "schedule": "0 9 * * 1-5", "timezone": "Europe/Berlin", "input": input, "metadata": o{"a": 1}, "on_run_completed": "keep"})
	path := "/runs/crons/" + c["cron_id"].(string)
	if c["next_run_date"] == nil || c["thread_id"] != nil || c["user_id"] != "ada" || c["enabled"] != true || c["on_run_completed"] != "keep" || c["payload"].(o)["input"] == nil {
		t.Errorf("got %v", c)
	}
	thread := k.object("ada", "POST", "/threads", o{"metadata": o{}})["thread_id"].(string)
	on := k.object("ada", "POST", "/threads/"+thread+"/runs/crons", o{"assistant_id": "quick", "schedule": "@daily", "input": input, "enabled": false})
	if on["thread_id"] != thread || on["next_run_date"] != nil {
		t.Errorf("got %v", on)
	}
	got := k.object("ada", "PATCH", path, o{"schedule": "*/10 * * * *", "end_time": "2100-01-01T00:00:00Z", "webhook": nil, "input": o{"messages": []o{{"role": "user", "content": "bye"}}}, "metadata": o{"b": 2}})
	if got["end_time"] != "2100-01-01T00:00:00.000Z" || !strings.Contains(toJSON(t, got["payload"]), "bye") || !cmp.Equal(got["metadata"], any(o{"a": 1.0, "b": 2.0})) {
		t.Errorf("got %v", got)
	}
	if got := k.object("ada", "PATCH", path, o{"enabled": false}); got["next_run_date"] != nil {
		t.Errorf("switched off: %v", got)
	}
	if _, text := k.send("ada", "POST", "/runs/crons/search", o{"assistant_id": "quick", "thread_id": thread, "select": []string{"schedule"}}, 200); text != `[{"schedule":"@daily"}]` {
		t.Errorf("search: %s", text)
	}
	for user, want := range map[string]string{"ada": "2", "bob": "0", "root": "2"} {
		if _, text := k.send(user, "POST", "/runs/crons/count", o{}, 200); text != want {
			t.Errorf("%s counts %s, want %s", user, text, want)
		}
	}
	for _, tc := range []struct {
		user, method, path string
		body               any
		want               int
		says               string
	}{
		{"ada", "POST", "/runs/crons", o{"assistant_id": "quick", "schedule": "* * * * * *", "input": input}, 422, "schedule: has 6 fields; a cron runs once a minute at most"},
		{"ada", "POST", "/runs/crons", o{"assistant_id": "quick", "schedule": "@every 1s", "input": input}, 422, "schedule"},
		{"ada", "POST", "/runs/crons", o{"assistant_id": "quick", "input": input}, 422, "schedule"},
		{"ada", "POST", "/runs/crons", o{"assistant_id": "quick", "schedule": "* * * * *", "timezone": "Mars", "input": input}, 422, "timezone"},
		{"ada", "POST", "/runs/crons", o{"assistant_id": "quick", "schedule": "* * * * *"}, 422, "input"},
		{"ada", "POST", "/runs/crons", o{"assistant_id": "quick", "schedule": "* * * * *", "input": input, "end_time": "soon"}, 422, "end_time"},
		{"ada", "POST", "/runs/crons", o{"assistant_id": "quick", "schedule": "* * * * *", "input": input, "end_time": "2001-01-01T00:00:00Z"}, 422, "end_time"},
		{"ada", "POST", "/runs/crons", o{"assistant_id": "quick", "schedule": "* * * * *", "command": o{"resume": true}}, 422, "command.resume"},
		{"ada", "POST", "/runs/crons", o{"assistant_id": "quick", "schedule": "* * * * *", "input": input, "webhook": "https://example.com/x"}, 422, "webhook: nothing may be sent"},
		{"ada", "POST", "/threads/" + thread + "/runs/crons", o{"assistant_id": "quick", "schedule": "* * * * *", "input": input, "webhook": "x"}, 422, "webhook: "},
		{"ada", "PATCH", path, o{"webhook": "https://example.com/x"}, 422, "webhook: nothing may be sent"},
		{"ada", "POST", "/runs/crons", o{"assistant_id": "nobody", "schedule": "* * * * *", "input": input}, 404, "assistant"},
		{"bob", "POST", "/threads/" + thread + "/runs/crons", o{"assistant_id": "quick", "schedule": "* * * * *", "input": input}, 404, "thread"},
		{"bob", "PATCH", path, o{"enabled": true}, 404, "cron"},
		{"bob", "DELETE", path, nil, 404, "cron"},
		{"ada", "PATCH", "/runs/crons/x", o{}, 422, "cron_id"},
		{"ada", "DELETE", path, nil, 204, ""},
		{"ada", "DELETE", path, nil, 404, "cron"},
	} {
		if _, text := k.send(tc.user, tc.method, tc.path, tc.body, tc.want); !strings.Contains(text, tc.says) {
			t.Errorf("%s %s: got %s, want %q in it", tc.method, tc.path, text, tc.says)
		}
	}
}

// A cron starts the run that it was made for, on its thread or on one of its own.
func TestCronRuns(t *testing.T) {
	k := keeper{newServer(t, parrot{})}
	own := k.object("ada", "POST", "/assistants", o{"graph_id": "quick", "metadata": o{"team": "x"}})
	thread := k.object("ada", "POST", "/threads", o{"metadata": o{}, "if_exists": "raise"})["thread_id"].(string)
	ask := o{"assistant_id": own["assistant_id"], "schedule": "* * * * *", "input": o{"messages": []o{{"role": "user", "content": "hello"}}}, "metadata": o{"k": "v"}}
	on := k.object("ada", "POST", "/threads/"+thread+"/runs/crons", ask)
	ask["on_run_completed"] = "keep"
	free := k.object("ada", "POST", "/runs/crons", ask)
	k.later(2 * time.Minute)
	_, text := k.send("ada", "POST", "/runs/crons/search", o{}, 200)
	var crons []struct {
		ID   string `json:"cron_id"`
		Last o      `json:"last_run"`
	}
	if err := json.Unmarshal([]byte(text), &crons); err != nil || len(crons) != 2 {
		t.Fatalf("%s: %v", text, err)
	}
	for _, c := range crons {
		if c.Last["status"] != "started" {
			t.Errorf("got %v, want a run", c.Last)
			continue
		}
		run := k.object("ada", "GET", "/threads/"+c.Last["thread_id"].(string)+"/runs/"+c.Last["run_id"].(string), nil)
		want := o{"team": "x", "k": "v", "cron_id": c.ID, "graph_id": "quick", "assistant_id": own["assistant_id"]}
		if diff := cmp.Diff(want, run["metadata"]); diff != "" {
			t.Errorf("metadata (-want +got):\n%s", diff)
		}
		if (c.Last["thread_id"] == thread) != (c.ID == on["cron_id"]) || c.ID != on["cron_id"] && c.ID != free["cron_id"] {
			t.Errorf("the run of %s is on %s", c.ID, c.Last["thread_id"])
		}
	}
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestMetrics(t *testing.T) {
	k := keeper{newServer(t, parrot{})}
	if _, text := k.send("root", "GET", "/metrics", nil, 200); !strings.Contains(text, `svc_info{version="test"`) {
		t.Errorf("got %s", text)
	}
	if got := k.object("root", "GET", "/metrics?format=json", nil); got["version"] != "test" {
		t.Errorf("got %v", got)
	}
	k.send("ada", "GET", "/metrics", nil, 403)
	k.send("root", "GET", "/metrics?format=xml", nil, 422)
}
