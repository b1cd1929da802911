package langgraph

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/agents/mergepatch"
)

func TestReadAnswers(t *testing.T) {
	call := func(id string) agents.WaitingCall {
		return agents.WaitingCall{Call: id, Approval: id, Tool: "run_command", Input: json.RawMessage(`{"command":"rm x","token":"REDACTED"}`), Digest: "d-" + id}
	}
	one := []agents.Interrupt{{ID: "i1", Calls: []agents.WaitingCall{call("a")}}}
	two := []agents.Interrupt{{ID: "i1", Calls: []agents.WaitingCall{call("a"), call("b")}}}
	several := []agents.Interrupt{one[0], {ID: "i2", Calls: []agents.WaitingCall{call("b")}}}
	verdicts := func(pairs ...string) (all []verdict) {
		for i := 0; i < len(pairs); i += 3 {
			v := approval.Verdict{Decision: approval.Decision(pairs[i+1]), Comment: pairs[i+2], Digest: "d-" + pairs[i]}
			all = append(all, verdict{pairs[i], v})
		}
		return all
	}
	edited := verdicts("a", "edit", "")
	edited[0].verdict.Patch = json.RawMessage(`{"command":"rm y"}`)
	for _, tc := range []struct {
		name    string
		answer  string
		pending []agents.Interrupt
		want    []verdict
		err     string
	}{
		{"decisions", `{"decisions":[{"type":"approve"}]}`, one, verdicts("a", "approve", ""), ""},
		{"for each call", `{"decisions":[{"type":"approve"},{"type":"reject","message":"no"}]}`, two, verdicts("a", "approve", "", "b", "reject", "no"), ""},
		{"a list", `[{"type":"accept"},{"type":"ignore"}]`, two, verdicts("a", "approve", "", "b", "reject", ""), ""},
		{"true", `true`, two, verdicts("a", "approve", "", "b", "approve", ""), ""},
		{"a word", `"no"`, one, verdicts("a", "reject", ""), ""},
		{"approved", `{"approved":true}`, one, verdicts("a", "approve", ""), ""},
		{"a response", `[{"type":"response","args":"do something else"}]`, one, verdicts("a", "reject", "do something else"), ""},
		{"an edit leaves out what was not shown", `{"decisions":[{"type":"edit","edited_action":{"name":"run_command","args":{"command":"rm y","token":"REDACTED"}}}]}`, one, edited, ""},
		{"an edit of an older client", `[{"type":"edit","args":{"action":"run_command","args":{"command":"rm y","token":"REDACTED"}}}]`, one, edited, ""},
		{"by id", `{"i2":true}`, several, verdicts("b", "approve", ""), ""},
		{"both by id", `{"i1":false,"i2":{"decisions":[{"type":"approve"}]}}`, several, verdicts("a", "reject", "", "b", "approve", ""), ""},
		{"a stop", `"go on"`, []agents.Interrupt{{ID: "s", Before: true}}, nil, ""},

		{"too few", `{"decisions":[{"type":"approve"}]}`, two, nil, "command.resume.decisions: 2 calls wait, got 1"},
		{"no decision", `{"decisions":[{"type":"dance"}]}`, one, nil, "command.resume.decisions[0]: must be a decision"},
		{"decisions no list", `{"decisions":true}`, one, nil, "command.resume.decisions: must be of type array"},
		{"nothing that is known", `{"colour":"red"}`, one, nil, "command.resume: must be a decision"},
		{"an id too many", `{"i1":true,"i9":true}`, one, nil, "command.resume.i9: no such interrupt is pending"},
		{"one for several", `true`, several, nil, "2 interrupts are pending; give the answers by their ids"},
		{"another tool", `{"decisions":[{"type":"edit","edited_action":{"name":"read_file","args":{}}}]}`, one, nil, "edited_action.name: must be run_command"},
		{"an edit of nothing", `{"decisions":[{"type":"edit"}]}`, one, nil, "edited_action.args: must be of type object"},
		{"a long message", `{"decisions":[{"type":"reject","message":"` + strings.Repeat("x", 2001) + `"}]}`, one, nil, "message: must not be longer than 2000"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := readAnswers(json.RawMessage(tc.answer), tc.pending, false)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("got %v, want %s", err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.want, got, cmp.AllowUnexported(verdict{})); d != "" {
				t.Error(d)
			}
		})
	}
}

// A chat UI in JavaScript writes numbers in its own way. What nobody edited stays as it was.
func TestPatchOfRounded(t *testing.T) {
	shown, edited := `{"id":9007199254740993,"n":1.0,"ids":[12345678901234567890],"a":1}`, `{"id":9007199254740992,"n":1,"ids":[12345678901234567000],"a":2}`
	if got := string(patchOf(json.RawMessage(shown), json.RawMessage(edited))); got != `{"a":2}` {
		t.Errorf("got %s", got)
	}
	shown, edited = `{"id":9007199254740992}`, `{"id":9007199254740993}`
	if got := string(patchOf(json.RawMessage(shown), json.RawMessage(edited))); got != edited {
		t.Errorf("an edit of the last figure: got %s", got)
	}
}

// What is called after an edit is what the person had before their eyes, also below the first level.
func TestPatchOf(t *testing.T) {
	for _, tt := range []struct{ shown, edited, patch string }{
		{`{"a":1}`, `{"a":2,"b":"x"}`, `{"a":2,"b":"x"}`},
		{`{"a":1,"b":2}`, `{"a":1}`, `{"b":null}`},
		{`{"h":{"a":1,"b":2}}`, `{"h":{"a":1}}`, `{"h":{"b":null}}`},
		{`{"h":{"a":1,"token":"REDACTED"}}`, `{"h":{"a":2,"token":"REDACTED"}}`, `{"h":{"a":2}}`},
		{`{"h":{"deep":{"a":1,"b":[1]}}}`, `{"h":{"deep":{"b":[2]}}}`, `{"h":{"deep":{"a":null,"b":[2]}}}`},
		{`{"h":{"a":1}}`, `{"h":{}}`, `{"h":{"a":null}}`},
		{`{"h":"a"}`, `{"h":{"a":1}}`, `{"h":{"a":1}}`},
		{`{"h":{"a":1}}`, `{"h":"a"}`, `{"h":"a"}`},
	} {
		patch := patchOf(json.RawMessage(tt.shown), json.RawMessage(tt.edited))
		if string(patch) != tt.patch {
			t.Errorf("%s to %s: got %s, want %s", tt.shown, tt.edited, patch, tt.patch)
		}
		if strings.Contains(tt.shown, "REDACTED") {
			continue
		}
		if got, err := mergepatch.Apply(tt.shown, string(patch)); err != nil || got != tt.edited {
			t.Errorf("%s with %s: got %s, %v, want %s", tt.shown, patch, got, err, tt.edited)
		}
	}
}
