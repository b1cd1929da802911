package api_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

var everyChannel = []string{"values", "updates", "messages", "tools", "lifecycle", "input", "checkpoints", "tasks", "custom"}

// centricEvent is an event of a thread, as clients read it.
type centricEvent struct {
	Type   string `json:"type"`
	ID     string `json:"event_id"`
	Seq    int64  `json:"seq"`
	Method string `json:"method"`
	Params struct {
		Namespace []string       `json:"namespace"`
		Node      string         `json:"node"`
		Data      map[string]any `json:"data"`
	} `json:"params"`
}

// what is the event in short.
func (e *centricEvent) what() string {
	ns := strings.Join(e.Params.Namespace, "|")
	if i := strings.IndexByte(ns, ':'); i >= 0 {
		ns = ns[:i]
	}
	text := strings.TrimSpace(ns + " " + e.Method)
	switch e.Method {
	case "lifecycle", "messages", "tools":
		text += " " + fmt.Sprint(e.Params.Data["event"])
	case "updates":
		text += " " + e.Params.Node
	case "checkpoints":
		text += fmt.Sprintf(" %v", e.Params.Data["step"])
	case "custom":
		text += " " + fmt.Sprint(e.Params.Data["name"])
	}
	return text
}

func whats(events []centricEvent) []string {
	all := make([]string, len(events))
	for i := range events {
		all[i] = events[i].what()
	}
	return all
}

// centric is a stream of a thread's events.
type centric struct {
	t     *testing.T
	body  io.ReadCloser
	lines *bufio.Scanner
}

func (s *server) centric(user, thread string, body map[string]any) *centric {
	s.t.Helper()
	resp := s.open(user, "POST", "/threads/"+thread+"/stream/events", body)
	s.t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		text, _ := io.ReadAll(resp.Body)
		s.t.Fatalf("got %s: %s", resp.Status, text)
	}
	c := &centric{t: s.t, body: resp.Body, lines: bufio.NewScanner(resp.Body)}
	c.lines.Buffer(nil, 1<<20)
	return c
}

// until reads events up to the one that is in short what.
func (c *centric) until(what string) []centricEvent {
	c.t.Helper()
	var all []centricEvent
	id := ""
	for c.lines.Scan() {
		if v, ok := strings.CutPrefix(c.lines.Text(), "id: "); ok && v != id {
			c.t.Errorf("id %q of the event %q", v, id)
		} else if ok && all[len(all)-1].what() == what {
			return all
		}
		data, ok := strings.CutPrefix(c.lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e centricEvent
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			c.t.Fatalf("%v: %s", err, data)
		}
		if len(all) > 0 && e.Seq <= all[len(all)-1].Seq {
			c.t.Errorf("%d comes after %d", e.Seq, all[len(all)-1].Seq)
		}
		id, all = e.ID, append(all, e)
	}
	c.t.Fatalf("the stream ended before %q: %v %v", what, whats(all), c.lines.Err())
	return nil
}

// send sends a command and returns the reply.
func (s *server) send(user, thread, method string, params map[string]any) map[string]any {
	s.t.Helper()
	status, _, body := s.do(user, "POST", "/threads/"+thread+"/commands", map[string]any{"id": 7, "method": method, "params": params})
	var reply map[string]any
	if err := json.Unmarshal([]byte(body), &reply); err != nil || status != http.StatusOK || reply["id"] != 7.0 {
		s.t.Fatalf("%s: got %d %s", method, status, body)
	}
	return reply
}

// begin starts a run by a command.
func (s *server) begin(user, thread, assistant, text string) string {
	s.t.Helper()
	params := ask(text)
	params["assistant_id"] = assistant
	reply := s.send(user, thread, "run.start", params)
	if reply["type"] != "success" {
		s.t.Fatalf("got %v", reply)
	}
	return reply["result"].(map[string]any)["run_id"].(string)
}

// A thread is created by the first command. Its stream tells of one run after the other, and tells the same
// again to whoever asks again, for all of it or for a part.
func TestThreadStream(t *testing.T) {
	s := newServer(t, parrot{})
	thread := uuid.NewString()
	s.begin("ada", thread, "quick", "hello")
	stream := s.centric("ada", thread, map[string]any{"channels": everyChannel})
	first := stream.until("lifecycle completed")
	want := []string{
		"lifecycle running", "checkpoints -1", "checkpoints 0", "values", "tasks",
		"agent lifecycle started", "agent messages message-start", "agent messages content-block-start", "agent messages content-block-delta",
		"agent messages content-block-delta", "agent messages content-block-finish", "agent messages message-finish",
		"updates agent", "tasks", "agent lifecycle completed", "checkpoints 1", "values", "lifecycle completed",
	}
	if diff := cmp.Diff(want, whats(first)); diff != "" {
		t.Errorf("the first run (-want +got):\n%s", diff)
	}
	s.begin("ada", thread, "quick", "again")
	second := stream.until("lifecycle completed")
	want[1], want[2], want[15] = "checkpoints 2", "checkpoints 3", "checkpoints 4"
	if diff := cmp.Diff(want, whats(second)); diff != "" {
		t.Errorf("the second run (-want +got):\n%s", diff)
	}
	all := append(first, second...)
	if second[0].Seq <= first[len(first)-1].Seq {
		t.Errorf("the second run begins with %d after %d", second[0].Seq, first[len(first)-1].Seq)
	}

	part := func(keep func(centricEvent) bool) (kept []centricEvent) {
		for _, e := range all {
			if keep(e) {
				kept = append(kept, e)
			}
		}
		return kept
	}
	for _, tt := range []struct {
		name string
		body map[string]any
		keep func(centricEvent) bool
		runs int
	}{
		{"the latest run", map[string]any{"channels": everyChannel}, func(e centricEvent) bool { return e.Seq >= second[0].Seq }, 1},
		{"everything", map[string]any{"channels": everyChannel, "since": 0}, func(centricEvent) bool { return true }, 2},
		{"since an event", map[string]any{"channels": everyChannel, "since": first[5].Seq}, func(e centricEvent) bool { return e.Seq > first[5].Seq }, 2},
		{
			"one channel",
			map[string]any{"channels": []string{"lifecycle", "messages"}, "since": 0},
			func(e centricEvent) bool { return e.Method == "lifecycle" || e.Method == "messages" }, 2,
		},
		{
			"the root",
			map[string]any{"channels": everyChannel, "since": 0, "namespaces": [][]string{{}}, "depth": 0},
			func(e centricEvent) bool { return len(e.Params.Namespace) == 0 }, 2,
		},
	} {
		again := s.centric("ada", thread, tt.body)
		var got []centricEvent
		for range tt.runs {
			got = append(got, again.until("lifecycle completed")...)
		}
		if diff := cmp.Diff(part(tt.keep), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		again.body.Close()
	}
}

// A call that waits for approval is answered by a command, by somebody who may.
func TestThreadApproval(t *testing.T) {
	s := newServer(t, obedient{})
	thread := uuid.NewString()
	run := s.begin("root", thread, "core", "rm -rf /srv/old")
	stream := s.centric("root", thread, map[string]any{"channels": []string{"lifecycle", "input", "tools", "values"}})
	waits := stream.until("lifecycle interrupted")
	requested := waits[len(waits)-2]
	if requested.Method != "input.requested" {
		t.Fatalf("got %v", whats(waits))
	}
	id := requested.Params.Data["interrupt_id"]
	answer := func(params map[string]any) map[string]any { return s.send("root", thread, "input.respond", params) }
	approve := map[string]any{"decisions": []any{map[string]any{"type": "approve"}}}
	for _, tt := range []struct {
		name   string
		params map[string]any
		code   string
		field  string
	}{
		{"no id", map[string]any{"response": approve}, "invalid_argument", "interrupt_id: "},
		{"another id", map[string]any{"interrupt_id": "none", "response": approve}, "no_such_interrupt", "interrupt_id: "},
		{"another namespace", map[string]any{"interrupt_id": id, "namespace": []string{"tools:1"}, "response": approve}, "no_such_namespace", "namespace: "},
		{"no decision", map[string]any{"interrupt_id": id, "response": 1}, "invalid_argument", "command.resume."},
		{"goto", map[string]any{"interrupt_id": id, "response": approve, "goto": "agent"}, "not_supported", "goto: "},
		{"no answers", map[string]any{"responses": []any{}}, "invalid_argument", "responses: "},
	} {
		if got := answer(tt.params); got["error"] != tt.code || !strings.HasPrefix(fmt.Sprint(got["message"]), tt.field) {
			t.Errorf("%s: got %v", tt.name, got)
		}
	}
	if got := answer(map[string]any{"responses": []any{map[string]any{"namespace": []string{}, "interrupt_id": id, "response": approve}}}); got["type"] != "success" {
		t.Fatalf("got %v", got)
	}
	rest := stream.until("lifecycle completed")
	want := []string{
		"lifecycle running", "values", "input.answered", "tools tool-started", "tools tool-finished", "values",
		"agent lifecycle started", "agent lifecycle completed", "values", "lifecycle completed",
	}
	if diff := cmp.Diff(want, whats(rest)); diff != "" {
		t.Errorf("after the answer (-want +got):\n%s", diff)
	}
	if ids := rest[2].Params.Data["interrupt_ids"]; fmt.Sprint(ids) != fmt.Sprintf("[%v]", id) {
		t.Errorf("answered: %v", ids)
	}
	tree := s.send("root", thread, "agent.getTree", map[string]any{"run_id": run})["result"].(map[string]any)["tree"]
	if diff := cmp.Diff(map[string]any{"namespace": []any{}, "status": "completed", "graph_name": "core"}, tree); diff != "" {
		t.Errorf("the tree (-want +got):\n%s", diff)
	}
}

// What a thread holds can be looked at and gone back to.
func TestThreadCommands(t *testing.T) {
	s := newServer(t, parrot{})
	thread := uuid.NewString()
	s.begin("ada", thread, "quick", "hello")
	stream := s.centric("ada", thread, map[string]any{"channels": []string{"lifecycle"}})
	stream.until("lifecycle completed")
	texts := func() []any {
		var list []any
		values := s.send("ada", thread, "state.get", map[string]any{"namespace": []string{}, "keys": []string{"messages"}})["result"].(map[string]any)["values"]
		for _, m := range values.(map[string]any)["messages"].([]any) {
			list = append(list, m.(map[string]any)["content"])
		}
		return list
	}
	if diff := cmp.Diff([]any{"hello", "1: hello"}, texts()); diff != "" {
		t.Error(diff)
	}
	points := s.send("ada", thread, "state.listCheckpoints", nil)["result"].(map[string]any)["checkpoints"].([]any)
	var steps []any
	for _, p := range points {
		steps = append(steps, p.(map[string]any)["step"])
	}
	if diff := cmp.Diff([]any{1.0, 0.0, -1.0}, steps); diff != "" {
		t.Error(diff)
	}
	fork := s.send("ada", thread, "state.fork", map[string]any{
		"checkpoint_id": points[2].(map[string]any)["id"], "input": ask("other")["input"],
	})
	if result, _ := fork["result"].(map[string]any); result["thread_id"] != thread {
		t.Fatalf("got %v", fork)
	}
	stream.until("lifecycle completed")
	if diff := cmp.Diff([]any{"other", "1: other"}, texts()); diff != "" {
		t.Error(diff)
	}
	for _, tt := range []struct {
		method string
		params map[string]any
		code   string
		text   string
	}{
		{"nope", nil, "unknown_command", `method: there is no command "nope"`},
		{"subscription.subscribe", nil, "unknown_command", `method: there is no command "subscription.subscribe"`},
		{"run.start", map[string]any{}, "invalid_argument", "assistant_id: "},
		{"run.start", map[string]any{"assistant_id": "none"}, "assistant_not_found", "assistant_id: "},
		{"run.start", map[string]any{"assistant_id": "quick", "multitaskStrategy": "hope"}, "invalid_argument", "multitask_strategy: "},
		{"run.start", map[string]any{"assistant_id": "quick", "config": map[string]any{"configurable": map[string]any{"checkpoint_id": "x"}}}, "invalid_argument", "config.configurable.checkpoint_id: "},
		{"state.get", map[string]any{"namespace": []string{"tools:1"}}, "no_such_namespace", "namespace: "},
		{"state.listCheckpoints", map[string]any{"limit": 0}, "invalid_argument", "limit: "},
		{"state.fork", map[string]any{"checkpoint_id": "x"}, "invalid_argument", "checkpoint_id: "},
		{"state.fork", map[string]any{"checkpoint_id": uuid.NewString(), "input": ask("x")["input"]}, "no_such_checkpoint", "checkpoint_id: "},
		{"agent.getTree", map[string]any{"run_id": uuid.NewString()}, "no_such_run", "run_id: "},
	} {
		got := s.send("ada", thread, tt.method, tt.params)
		if got["type"] != "error" || got["error"] != tt.code || !strings.HasPrefix(fmt.Sprint(got["message"]), tt.text) {
			t.Errorf("%s %v: got %v", tt.method, tt.params, got)
		}
	}
}

// A thread of somebody else is not there, on any path.
func TestThreadOfAnotherUser(t *testing.T) {
	s := newServer(t, parrot{})
	thread := uuid.NewString()
	s.begin("ada", thread, "quick", "hello")
	for _, tt := range []struct {
		path string
		body map[string]any
	}{
		{"/stream/events", map[string]any{"channels": everyChannel}},
		{"/commands", map[string]any{"id": 1, "method": "run.start", "params": map[string]any{"assistant_id": "quick", "input": ask("x")["input"]}}},
		{"/commands", map[string]any{"id": 1, "method": "state.get"}},
		{"/commands", map[string]any{"id": 1, "method": "state.listCheckpoints"}},
		{"/commands", map[string]any{"id": 1, "method": "agent.getTree"}},
		{"/commands", map[string]any{"id": 1, "method": "input.respond", "params": map[string]any{"interrupt_id": "x", "response": true}}},
	} {
		if status, _, body := s.do("bob", "POST", "/threads/"+thread+tt.path, tt.body); status != http.StatusNotFound || !strings.Contains(body, `"thread_not_found"`) {
			t.Errorf("%s %v: got %d %s", tt.path, tt.body["method"], status, body)
		}
	}
	if status, _, body := s.do("ada", "POST", "/threads/"+uuid.NewString()+"/stream/events", map[string]any{"channels": everyChannel}); status != http.StatusNotFound {
		t.Errorf("no thread: got %d %s", status, body)
	}
	conn := s.socket("bob", thread)
	if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != 4404 {
		t.Errorf("the WebSocket: got %v", err)
	}
}

func TestBadThreadStreams(t *testing.T) {
	s := newServer(t, parrot{})
	thread := s.thread("ada")
	for _, tt := range []struct {
		body string
		want string
	}{
		{`{}`, "channels: "},
		{`{"channels":["nope"]}`, "channels[0]: "},
		{`{"channels":["values"],"since":-1}`, "since: "},
		{`{"channels":["values"],"depth":-1}`, "depth: "},
	} {
		if status, _, body := s.do("ada", "POST", "/threads/"+thread+"/stream/events", tt.body); status != http.StatusUnprocessableEntity || !strings.Contains(body, `"detail":"`+tt.want) {
			t.Errorf("%s: got %d %s", tt.body, status, body)
		}
	}
	if status, _, _ := s.do("ada", "GET", "/threads/"+thread+"/stream/events", nil); status != http.StatusUpgradeRequired {
		t.Errorf("GET without a WebSocket: got %d", status)
	}
}

func (s *server) socket(user, thread string) *websocket.Conn {
	s.t.Helper()
	conn, _, err := websocket.Dial(s.t.Context(), s.url+"/threads/"+thread+"/stream/events", &websocket.DialOptions{
		HTTPHeader: http.Header{"X-Test-User": {user}, "Origin": {"https://elsewhere.example"}},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	conn.SetReadLimit(1 << 20)
	s.t.Cleanup(func() { conn.CloseNow() })
	return conn
}

// One connection has it all: commands, and events as its subscriptions say.
func TestThreadSocket(t *testing.T) {
	s := newServer(t, parrot{})
	thread := uuid.NewString()
	conn := s.socket("ada", thread)
	id := 0
	var events []centricEvent
	next := func() map[string]any {
		t.Helper()
		_, doc, err := conn.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(doc, &m); err != nil {
			t.Fatal(err)
		}
		if m["type"] == "event" {
			var e centricEvent
			if err := json.Unmarshal(doc, &e); err != nil {
				t.Fatal(err)
			}
			events = append(events, e)
		}
		return m
	}
	send := func(method string, params any) map[string]any {
		t.Helper()
		id++
		if err := wsjson.Write(t.Context(), conn, map[string]any{"id": id, "method": method, "params": params}); err != nil {
			t.Fatal(err)
		}
		for {
			if m := next(); m["type"] != "event" {
				if m["id"] != float64(id) {
					t.Errorf("got %v", m)
				}
				return m
			}
		}
	}
	completed := func() {
		t.Helper()
		for len(events) == 0 || events[len(events)-1].what() != "lifecycle completed" {
			next()
		}
	}
	life := send("subscription.subscribe", map[string]any{"channels": []string{"lifecycle"}, "namespaces": [][]string{{}}, "depth": 0})
	params := ask("hello")
	params["assistant_id"] = "quick"
	if got := send("run.start", params); got["type"] != "success" {
		t.Fatalf("got %v", got)
	}
	completed()
	if diff := cmp.Diff([]string{"lifecycle running", "lifecycle completed"}, whats(events)); diff != "" {
		t.Error(diff)
	}
	events = nil
	late := send("subscription.subscribe", map[string]any{"channels": []string{"values"}})
	if diff := cmp.Diff([]string{"values", "values"}, whats(events)); diff != "" {
		t.Errorf("what a later subscription is told of (-want +got):\n%s", diff)
	}
	if got := late["result"].(map[string]any)["replayed_events"]; got != 2.0 {
		t.Errorf("replayed %v", got)
	}
	if got := send("subscription.unsubscribe", late["result"]); got["type"] != "success" {
		t.Errorf("got %v", got)
	}
	events = nil
	send("run.start", params)
	completed()
	if diff := cmp.Diff([]string{"lifecycle running", "lifecycle completed"}, whats(events)); diff != "" {
		t.Error(diff)
	}
	for _, tt := range []struct {
		method string
		params any
		code   string
	}{
		{"subscription.unsubscribe", late["result"], "no_such_subscription"},
		{"subscription.subscribe", map[string]any{"channels": []string{"x"}}, "invalid_argument"},
		{"nope", nil, "unknown_command"},
		{"state.get", []int{1}, "invalid_argument"},
	} {
		if got := send(tt.method, tt.params); got["error"] != tt.code {
			t.Errorf("%s: got %v", tt.method, got)
		}
	}
	if got := send("subscription.unsubscribe", life["result"]); got["type"] != "success" {
		t.Errorf("got %v", got)
	}
	if err := conn.Write(t.Context(), websocket.MessageText, []byte("[")); err != nil {
		t.Fatal(err)
	}
	if got := next(); got["error"] != "invalid_argument" || got["id"] != nil {
		t.Errorf("got %v", got)
	}
	if err := conn.Write(t.Context(), websocket.MessageBinary, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusUnsupportedData {
		t.Errorf("a binary message: got %v", err)
	}
	conn = s.socket("ada", "nope")
	if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != 4422 {
		t.Errorf("no uuid: got %v", err)
	}
}

// The attack: as many WebSockets as one likes, on each of them a command of the largest size that never ends.
// What is held of them counts against the memory that there is for bodies of requests.
func TestSocketsAndMemory(t *testing.T) {
	s := newServer(t, parrot{})
	hold := s.memory.Hold("ada")
	if err := hold.Take(t.Context(), s.memory.Share()); err != nil {
		t.Fatal(err)
	}
	command := map[string]any{"id": 1, "method": "nope", "params": map[string]any{"text": strings.Repeat("x", 32<<10)}}
	answer := func(user string) (string, error) {
		conn := s.socket(user, uuid.NewString())
		if err := wsjson.Write(t.Context(), conn, command); err != nil {
			return "", err
		}
		var reply map[string]any
		err := wsjson.Read(t.Context(), conn, &reply)
		return fmt.Sprint(reply["error"]), err
	}
	if _, err := answer("ada"); websocket.CloseStatus(err) != websocket.StatusTryAgainLater {
		t.Errorf("who holds all there is for one: got %v", err)
	}
	if got, err := answer("bob"); err != nil || got != "unknown_command" {
		t.Errorf("somebody else: got %s, %v", got, err)
	}
	hold.Release()
	if got, err := answer("ada"); err != nil || got != "unknown_command" {
		t.Fatalf("when there is room again: got %s, %v", got, err)
	}
}
