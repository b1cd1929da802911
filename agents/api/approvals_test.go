package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner/command"
)

// dangerous classifies its command line, and never runs it.
func dangerous() agents.Tool {
	return agents.NewTool(agents.ToolDef{
		Name: "command", Action: policy.Mutate,
		Parameters: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"],"additionalProperties":false}`),
		Classify: func(args map[string]any) agents.Classification {
			c := command.Analyze(args["command"].(string))
			return agents.Classification{Command: &c, Where: "on the host"}
		},
	}, func(_ context.Context, _ agents.ToolContext, args map[string]any) (agents.Result, error) {
		return agents.Result{Text: fmt.Sprint("did ", args["command"])}, nil
	})
}

// obedient calls the tool with what it was told, and then says what came of it.
type obedient struct{}

func (obedient) Name() string { return "obedient" }

func (obedient) Turn(_ context.Context, req model.Request, say func(string)) (model.Response, error) {
	last := req.Messages[len(req.Messages)-1]
	if last.Role == model.RoleTool {
		say(last.Content)
		return model.Response{Message: model.Message{Content: last.Content}}, nil
	}
	args, err := json.Marshal(map[string]string{"command": last.Content})
	return model.Response{Message: model.Message{ToolCalls: []model.ToolCall{{ID: "x", Name: "command", Arguments: string(args)}}}}, err
}

// waiting is a stream whose call waits for approval.
type waiting struct {
	body     io.ReadCloser
	lines    *bufio.Scanner
	location string
	required map[string]any // the event approval_required
	id       string
}

func (s *server) waiting(user, text string) *waiting {
	s.t.Helper()
	q := ask(text)
	q["assistant_id"] = "core"
	resp := s.open(user, "POST", "/runs/stream", q)
	s.t.Cleanup(func() { resp.Body.Close() })
	w := &waiting{body: resp.Body, lines: bufio.NewScanner(resp.Body), location: resp.Header.Get("Content-Location")}
	w.required = w.next(s.t)
	if w.required["type"] != "approval_required" {
		s.t.Fatalf("got %v", w.required)
	}
	w.id = w.required["id"].(string)
	return w
}

// next is the stream's next event.
func (w *waiting) next(t *testing.T) map[string]any {
	t.Helper()
	for w.lines.Scan() {
		if data, ok := strings.CutPrefix(w.lines.Text(), "data: "); ok {
			var e map[string]any
			if err := json.Unmarshal([]byte(data), &e); err != nil {
				t.Fatal(err)
			}
			return e
		}
	}
	t.Fatalf("the stream has ended: %v", w.lines.Err())
	return nil
}

// rest are the events up to done.
func (w *waiting) rest(t *testing.T) (all []map[string]any) {
	t.Helper()
	for {
		e := w.next(t)
		if all = append(all, e); e["type"] == "done" {
			return all
		}
	}
}

// TestAStreamWaitsForTheDecision holds the form of what clients see, from the question to the answer.
func TestAStreamWaitsForTheDecision(t *testing.T) {
	s := newServer(t, obedient{})
	w := s.waiting("ada", "rm -rf build; login --password hunter2secret")
	want := map[string]any{
		"type": "approval_required", "id": w.id, "tool": "command", "input": map[string]any{"command": "rm -rf build; login --password REDACTED"},
		"digest": w.required["digest"], "reason": "This deletes a folder with all that is in it.", "where": "on the host", "expires_at": w.required["expires_at"],
	}
	if d := cmp.Diff(want, w.required); d != "" {
		t.Errorf("approval_required (-want +got):\n%s", d)
	}
	if !regexp.MustCompile(`^call_[0-9a-f]{32}$`).MatchString(w.id) || len(w.required["digest"].(string)) != 64 {
		t.Errorf("got %v", w.required)
	}
	status, _, body := s.do("ada", "GET", "/approvals/"+w.id, nil)
	var v approval.View
	if err := json.Unmarshal([]byte(body), &v); err != nil || status != 200 {
		t.Fatalf("got %d %s", status, body)
	}
	if v.State != "pending" || v.UserID != "ada" || v.Digest != w.required["digest"] || v.Approvers != 1 || strings.Contains(body, "hunter2secret") {
		t.Errorf("got %s", body)
	}
	// Another reader of the run sees the same.
	thread, _, _ := strings.Cut(w.location, "/runs/")
	resp := s.open("ada", "GET", thread+"/runs/stream", nil)
	defer resp.Body.Close()
	second := &waiting{lines: bufio.NewScanner(resp.Body)}
	if d := cmp.Diff(w.required, second.next(t)); d != "" {
		t.Errorf("a second reader (-first +second):\n%s", d)
	}
	status, _, body = s.do("root", "POST", "/approvals/"+w.id, map[string]any{"decision": "approve", "digest": v.Digest, "comment": "go on"})
	if status != 200 || !strings.Contains(body, `"state":"approved"`) || !strings.Contains(body, `"votes":[{"user_id":"root","decision":"approve","comment":"go on"`) {
		t.Errorf("got %d %s", status, body)
	}
	events := w.rest(t)
	if d := cmp.Diff(map[string]any{
		"type": "approval_decided", "id": w.id, "tool": "command", "decision": "approved", "by": "root", "reason": "approved by root: go on",
	}, events[0]); d != "" {
		t.Errorf("approval_decided (-want +got):\n%s", d)
	}
	if d := cmp.Diff(events, second.rest(t)); d != "" {
		t.Errorf("the second reader's rest (-first +second):\n%s", d)
	}
	if got := answerOf(events); !strings.Contains(got, "did rm -rf build") {
		t.Errorf("answer: %q", got)
	}
	if events[1]["type"] != "tool_use" || events[1]["id"] != w.id {
		t.Errorf("got %v, want the call", events[1])
	}
}

func TestAnEditIsShown(t *testing.T) {
	s := newServer(t, obedient{})
	w := s.waiting("ada", "rm -rf build")
	status, _, body := s.do("root", "POST", "/approvals/"+w.id, `{"decision":"edit","patch":{"command":"rm -rf build/cache"}}`)
	if status != 200 || !strings.Contains(body, `"input":{"command":"rm -rf build/cache"},"original":{"command":"rm -rf build"},"patch":{"command":"rm -rf build/cache"}`) {
		t.Errorf("got %d %s", status, body)
	}
	events := w.rest(t)
	if events[0]["decision"] != "edited" || fmt.Sprint(events[1]["input"]) != "map[command:rm -rf build/cache]" {
		t.Errorf("got %v", events[:2])
	}
	if got := answerOf(events); !strings.Contains(got, "A person (root) changed the arguments") || !strings.Contains(got, "did rm -rf build/cache") {
		t.Errorf("answer: %q", got)
	}
}

// TestDecisionsThatDoNotCount are answered with stable codes, and on record.
func TestDecisionsThatDoNotCount(t *testing.T) {
	s := newServer(t, obedient{})
	w := s.waiting("ada", "rm -rf build")
	path := "/approvals/" + w.id
	done := s.waiting("ada", "reboot")
	if status, _, body := s.do("root", "POST", "/approvals/"+done.id, `{"decision":"reject"}`); status != 200 {
		t.Fatalf("got %d %s", status, body)
	}
	if events := done.rest(t); events[0]["decision"] != "rejected" || events[1]["status"] != "rejected" || !strings.Contains(fmt.Sprint(events[1]["reason"]), "rejected by root") {
		t.Errorf("got %v", events)
	}
	over := s.waiting("ada", "reboot")
	if status, _, body := s.do("ada", "POST", over.location+"/cancel", nil); status != 202 {
		t.Fatalf("got %d %s", status, body)
	}
	over.rest(t)
	for _, tc := range []struct {
		name, user, method, path, body string
		status                         int
		code, detail                   string
	}{
		{"a user", "ada", "POST", path, `{"decision":"approve"}`, 403, "forbidden", "an admin decides"},
		{"a reader", "eve", "POST", path, `{"decision":"approve"}`, 403, "forbidden", "approve-write"},
		{"another user", "bob", "POST", path, `{"decision":"reject"}`, 403, "forbidden", ""},
		{"another user looks", "bob", "GET", path, ``, 404, "approval_not_found", ""},
		{"none", "root", "POST", "/approvals/call_00000000000000000000000000000000", `{"decision":"approve"}`, 404, "approval_not_found", ""},
		{"twice", "root", "POST", "/approvals/" + done.id, `{"decision":"approve"}`, 409, "approval_decided", "rejected"},
		{"a run that is over", "root", "POST", "/approvals/" + over.id, `{"decision":"approve"}`, 409, "run_over", ""},
		{"another digest", "root", "POST", path, `{"decision":"approve","digest":"` + strings.Repeat("0", 64) + `"}`, 409, "approval_changed", "digest"},
		{"an edit of a marker", "root", "POST", path, `{"decision":"edit","patch":{"command":"x REDACTED"}}`, 422, "invalid_edit", "REDACTED"},
		{"an edit that is no object", "root", "POST", path, `{"decision":"edit","patch":"x"}`, 422, "invalid_edit", "object"},
		{"an edit without a patch", "root", "POST", path, `{"decision":"edit"}`, 422, "invalid_input", "patch: is missing"},
		{"a patch without an edit", "root", "POST", path, `{"decision":"approve","patch":{}}`, 422, "invalid_input", "patch: belongs"},
		{"no decision", "root", "POST", path, `{}`, 422, "invalid_input", "decision: is missing"},
		{"an unknown decision", "root", "POST", path, `{"decision":"yes"}`, 422, "invalid_input", "decision: must be one of approve reject edit"},
		{"a long comment", "root", "POST", path, `{"decision":"approve","comment":"` + strings.Repeat("x", 3000) + `"}`, 422, "invalid_input", "comment"},
		{"no id", "root", "POST", "/approvals/7", `{"decision":"approve"}`, 422, "invalid_approval_id", ""},
		{"an unknown state", "root", "GET", "/approvals?state=x", ``, 422, "invalid_input", "state: must be one of"},
		{"a limit", "root", "GET", "/approvals?limit=0", ``, 422, "invalid_input", "limit"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var body any
			if tc.body != "" {
				body = tc.body
			}
			status, _, text := s.do(tc.user, tc.method, tc.path, body)
			var p struct{ Code, Detail string }
			if err := json.Unmarshal([]byte(text), &p); err != nil || status != tc.status || p.Code != tc.code || !strings.Contains(p.Detail, tc.detail) {
				t.Errorf("got %d %s, want %d %s with %q", status, text, tc.status, tc.code, tc.detail)
			}
		})
	}
	refused := map[string]int{}
	all, err := s.audit.Events(t.Context(), audit.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if e.Type == audit.ApprovalRefused {
			refused[e.Status]++
		}
	}
	if d := cmp.Diff(map[string]int{"forbidden": 3, "approval_decided": 1, "run_over": 1, "approval_changed": 1, "invalid_edit": 2}, refused); d != "" {
		t.Errorf("records (-want +got):\n%s", d)
	}
	if _, _, body := s.do("root", "GET", "/approvals?state=pending", nil); strings.Count(body, `"id"`) != 1 || !strings.Contains(body, w.id) {
		t.Errorf("what still waits: %s", body)
	}
}

func TestOnlyAdminsSkipApprovals(t *testing.T) {
	s := newServer(t, obedient{})
	q := ask("rm -rf build")
	q["assistant_id"], q["auto_approve"] = "core", true
	for _, user := range []string{"ada", "eve"} {
		if status, _, body := s.do(user, "POST", "/runs/stream", q); status != http.StatusForbidden || !strings.Contains(body, `"auto_approve_forbidden"`) {
			t.Errorf("%s: got %d %s", user, status, body)
		}
	}
	status, _, body := s.do("root", "POST", "/runs/stream", q)
	events := parse(t, body)
	if status != 200 || len(events) < 3 || events[0]["decision"] != "approved" || !strings.Contains(fmt.Sprint(events[0]["reason"]), "auto_approve") {
		t.Errorf("got %d %s", status, body)
	}
	for _, extra := range []map[string]any{{"user_id": "ada"}, {"thread_id": s.thread("ada")}} {
		for k, v := range extra {
			q[k] = v
		}
		if status, _, body := s.do("root", "POST", "/runs/stream", q); status != http.StatusForbidden {
			t.Errorf("with %v: got %d %s", extra, status, body)
		}
		delete(q, "user_id")
	}
}
