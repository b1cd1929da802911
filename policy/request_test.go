package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecideRequest(t *testing.T) {
	e, err := New(Source{"t.yaml", []byte(`
- name: no-writes-at-night
  phase: request
  when: request.method != "GET" and time.clock >= "22:00" and principal.role != "admin"
  effect: deny
  message: At night nothing is started.
- {name: seen, phase: request, effect: log, message: m, when: request.path startsWith "/threads"}
- {name: watch, phase: request, mode: observe, effect: deny, message: m, when: not may("mutate")}
- {name: broken, phase: request, effect: log, message: m, when: 'principal.groups[0] == "ops" and request.path == "/groups"'}
- {name: call, effect: deny, message: m, when: agent == ""}
`)})
	if err != nil {
		t.Fatal(err)
	}
	type want struct {
		Effect   Effect
		Rule     string
		Code     string
		Observed int
	}
	for _, tt := range []struct {
		name         string
		role         Role
		method, path string
		clock        string
		want         want
	}{
		{"in the evening", User, "POST", "/runs/stream", "21:59", want{Effect: Deny, Rule: "broken", Code: CodeUnevaluated}},
		{"at night", User, "POST", "/runs/stream", "22:00", want{Deny, "no-writes-at-night", CodeDenied, 0}},
	} {
		got := e.DecideRequest(Principal{Role: tt.role}, Request{Method: tt.method, Path: tt.path, Time: evening(t, tt.clock)})
		if diff := cmp.Diff(tt.want, want{got.Effect, got.Rule, got.Code, len(got.Observed)}); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	for _, tt := range []struct {
		name         string
		role         Role
		method, path string
		clock        string
		want         want
	}{
		{"reading at night", User, "GET", "/runs", "23:00", want{Effect: Allow}},
		{"an admin at night", Admin, "POST", "/runs/stream", "23:00", want{Effect: Allow}},
		{"threads", User, "GET", "/threads/search", "12:00", want{Effect: Log, Rule: "seen"}},
		{"readonly", Readonly, "GET", "/runs", "12:00", want{Effect: Allow, Observed: 1}},
		{"first group", User, "GET", "/groups", "12:00", want{Effect: Log, Rule: "broken"}},
	} {
		got := e.DecideRequest(Principal{Role: tt.role, Groups: []string{"ops"}}, Request{Method: tt.method, Path: tt.path, Time: evening(t, tt.clock)})
		if diff := cmp.Diff(tt.want, want{got.Effect, got.Rule, got.Code, len(got.Observed)}); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	if d := e.DecideRequest(Principal{Role: User, Groups: []string{"x"}}, Request{Method: "POST"}); d.Code != CodeUnevaluated {
		t.Errorf("without the time: got %+v", d)
	}
	if d := (*Engine)(nil).DecideRequest(Principal{}, Request{}); d.Effect != Deny {
		t.Errorf("without a policy: got %+v", d)
	}
	if d := mustNew(t).DecideRequest(Principal{}, Request{}); d.Effect != Allow {
		t.Errorf("the program's own rules: got %+v", d)
	}
	if d := e.Decide(Input{Principal: Principal{Role: Admin}, Agent: "core", Tool: "x", Action: Use}); d.Effect != Allow {
		t.Errorf("rules on requests decide on calls: %+v", d)
	}
}
