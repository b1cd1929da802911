package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// A thread whose run waits takes an edit of its state and says what else it takes.
func TestThreadsThatWait(t *testing.T) {
	s := newServer(t, obedient{})
	path := func(user string) (thread, at string) {
		thread = uuid.NewString()
		s.begin(user, thread, "core", "rm -rf /srv/old")
		s.centric(user, thread, map[string]any{"channels": []string{"lifecycle"}}).until("lifecycle interrupted")
		return thread, "/threads/" + thread
	}
	thread, at := path("ada")
	resume := func(v any) map[string]any { return map[string]any{"assistant_id": "core", "command": v} }
	approve := map[string]any{"decisions": []any{map[string]any{"type": "approve"}}}
	for _, tt := range []struct {
		name, user, path string
		body             map[string]any
		status           int
		code, detail     string
	}{
		{"another run", "ada", at + "/runs", graph("more", "assistant_id", "core"), 409, "thread_busy", "command.resume or input.respond"},
		{"going on without an answer", "ada", at + "/runs", map[string]any{"assistant_id": "core", "input": nil}, 409, "thread_busy", "waits for an answer"},
		{"an answer with an update", "root", at + "/runs/wait", resume(map[string]any{"resume": approve, "update": map[string]any{"n": 1}}), 422, "invalid_input", "command.update: "},
		{"an answer with a node", "root", at + "/runs/wait", resume(map[string]any{"resume": approve, "goto": "agent"}), 422, "invalid_input", "command.goto: "},
		{"an answer for whatever waits, in another's thread", "root", at + "/runs/wait", resume(map[string]any{"resume": approve}), 422, "invalid_input", "command.resume: this is another user's thread"},
		{"an edit of another's thread", "bob", at + "/state", map[string]any{"values": map[string]any{"n": 1}}, 404, "thread_not_found", ""},
		{"an edit with a wrong node", "ada", at + "/state", map[string]any{"as_node": "x"}, 422, "invalid_input", "as_node: "},
	} {
		status, _, body := s.do(tt.user, "POST", tt.path, tt.body)
		if status != tt.status || !strings.Contains(body, `"`+tt.code+`"`) || !strings.Contains(body, tt.detail) {
			t.Errorf("%s: got %d %s", tt.name, status, body)
		}
	}
	if got := s.send("ada", thread, "run.start", map[string]any{"assistant_id": "core", "input": map[string]any{"messages": "more"}}); got["error"] != "thread_busy" || !strings.Contains(fmt.Sprint(got["message"]), "input.respond") {
		t.Errorf("run.start: got %v", got)
	}
	status, _, body := s.do("ada", "POST", at+"/state", map[string]any{"values": map[string]any{"n": 1}})
	if status != 200 {
		t.Fatalf("the edit: got %d %s", status, body)
	}
	if _, _, body := s.do("ada", "GET", at+"/state", nil); !strings.Contains(body, `"next":["tools"]`) || !strings.Contains(body, `"interrupts":[]`) {
		t.Errorf("the state: got %s", body)
	}
	if status, _, body := s.do("root", "POST", at+"/runs/wait", resume(map[string]any{"resume": approve})); status != 409 || !strings.Contains(body, "not_interrupted") {
		t.Errorf("an answer after the edit: got %d %s", status, body)
	}
	// What comes next asks again, and is answered by its id.
	if got := s.send("ada", thread, "run.start", map[string]any{"assistant_id": "core", "input": nil}); got["type"] != "success" {
		t.Fatalf("run.start: got %v", got)
	}
	waits := s.centric("ada", thread, map[string]any{"channels": []string{"input", "lifecycle"}}).until("lifecycle interrupted")
	id := fmt.Sprint(waits[len(waits)-2].Params.Data["interrupt_id"])
	status, _, body = s.do("root", "POST", at+"/runs/wait", resume(map[string]any{"resume": map[string]any{id: approve}}))
	if status != 200 || !strings.Contains(body, "did rm -rf /srv/old") {
		t.Errorf("the answer by id: got %d %s", status, body)
	}

	// run.start goes on with a run that stands at a stop.
	stopped := uuid.NewString()
	s.send("ada", stopped, "run.start", map[string]any{"assistant_id": "core", "input": map[string]any{"messages": "uptime"}, "interrupt_before": []string{"tools"}})
	s.centric("ada", stopped, map[string]any{"channels": []string{"lifecycle"}}).until("lifecycle interrupted")
	if got := s.send("ada", stopped, "run.start", map[string]any{"assistant_id": "core", "input": nil}); got["type"] != "success" {
		t.Fatalf("run.start: got %v", got)
	}
	s.centric("ada", stopped, map[string]any{"channels": []string{"lifecycle"}}).until("lifecycle completed")
}
