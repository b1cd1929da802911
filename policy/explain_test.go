package policy

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/scanner/command"
)

func evening(t *testing.T, clock string) time.Time {
	t.Helper()
	at, err := time.Parse("2006-01-02 15:04 -07:00", "2027-01-31 "+clock+" +01:00")
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// The reason names the part of an expression that decided, and what it read.
func TestBecause(t *testing.T) {
	in := Input{
		Principal: Principal{User: "ada", Role: Admin, Groups: []string{"ops"}}, Agent: "core", Tool: "run_command", Action: Use,
		Arguments: map[string]any{"command": "ss -l", "note": "a <b>"},
		Command:   &command.Command{Class: command.ReadOnly, Parts: []command.Part{{Name: "ss", Args: []string{"-l"}}}},
		Paths:     []string{"docs/a.md"}, Time: evening(t, "18:30"),
	}
	show := func(doc []byte) []byte { return bytes.ReplaceAll(doc, []byte("hunter2"), []byte("REDACTED")) }
	for when, want := range map[string]string{
		`any(command.parts, .name == "ss")`: `any(command.parts, .name == "ss") with command.parts = [{"name":"ss","args":["-l"]}]`,
		`tool == "x" or agent == "core"`:    `agent == "core" with agent = "core"`,
		`time.clock >= "18:00" and any(paths, under(#, "docs"))`: `time.clock >= "18:00" with time.clock = "18:30"; ` +
			`any(paths, under(#, "docs")) with paths = ["docs/a.md"]`,
		`not (tool == "x" and agent == "core")`:                     `not (tool == "x") with tool = "run_command"`,
		`principal.role == "admin" && !("dev" in principal.groups)`: `principal.role == "admin" with principal.role = "admin"; not ("dev" in principal.groups) with principal.groups = ["ops"]`,
		`arguments.password == "hunter2"`:                           `arguments.password == "hunter2" with arguments.password = "REDACTED"`,
		`string(arguments.note) contains "<b>"`:                     `string(arguments.note) contains "<b>" with arguments.note = "a <b>"`,
		`let n = arguments.note; n != nil`:                          `let n = arguments.note; n != nil with arguments.note = "a <b>"`,
		`true`:                                                      `true`,
	} {
		e := withRules(t, "[{name: r, effect: log, message: m, when: '"+when+"'}]")
		in := in
		if strings.Contains(when, "password") {
			in.Arguments = map[string]any{"password": "hunter2"}
		}
		got := e.Because(in, show)
		if diff := cmp.Diff([]string{"because of r: " + want}, got); diff != "" {
			t.Errorf("%s: %s", when, diff)
		}
	}
}

// A secret that only the words around it make known stands alone in the paths and in the command.
func TestBecauseOfASecret(t *testing.T) {
	in := Input{
		Principal: Principal{Role: Admin}, Agent: "core", Tool: "run_command", Action: Use, Paths: []string{"hunter2"},
		Arguments: map[string]any{"command": "cat password=hunter2"},
		Command:   &command.Command{Class: command.ReadOnly, Parts: []command.Part{{Name: "cat", Args: []string{"hunter2"}}}},
	}
	show := func(doc []byte) []byte {
		return bytes.ReplaceAll(doc, []byte("password=hunter2"), []byte("password=REDACTED"))
	}
	e := withRules(t, "[{name: r, effect: log, message: m, when: 'len(paths) > 0 and len(command.parts) > 0 and len(arguments) > 0'}]")
	for _, text := range append(e.Because(in, show), e.Explain(in, show)[0].Because[0].String()) {
		if strings.Contains(text, "hunter2") || !strings.Contains(text, "REDACTED") {
			t.Errorf("got %s", text)
		}
	}
}

func TestExplain(t *testing.T) {
	e := withRules(t, `
- {name: other-agent, match: {agents: [quick, audit]}, effect: deny, message: m}
- {name: category, match: {categories: [reload]}, effect: deny, message: m}
- {name: false, match: {tools: [ls]}, mode: observe, effect: deny, message: m, when: principal.role == "user" and agent == "core"}
- {name: broken, effect: log, message: m, when: "labels[5] == agent"}
- {name: all, effect: log, message: m}
`)
	got := e.Explain(Input{Principal: Principal{Role: Admin}, Agent: "core", Tool: "ls", Action: Use}, nil)
	want := []Trace{
		{Rule: "other-agent", File: "test.yaml", Line: 2, Effect: Deny, Mode: Enforce, Why: "agents: core is none of quick, audit"},
		{Rule: "category", File: "test.yaml", Line: 3, Effect: Deny, Mode: Enforce, Why: "categories: nothing is none of reload"},
		{
			Rule: "false", File: "test.yaml", Line: 4, Effect: Deny, Mode: Observe, Selected: true,
			Why:     `tool ls, when principal.role == "user" and agent == "core"`,
			Because: []Clause{{Text: `principal.role == "user"`, Values: []Value{{"principal.role", `"admin"`}}}},
		},
		{
			Rule: "broken", File: "test.yaml", Line: 5, Effect: Deny, Mode: Enforce, Selected: true, Applies: true,
			Why: "when labels[5] == agent", Error: "index out of range: 5 (array length is 0)",
		},
		{Rule: "all", File: "test.yaml", Line: 6, Effect: Log, Mode: Enforce, Selected: true, Applies: true, Why: "every call"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := (*Engine)(nil).Explain(Input{}, nil); got != nil {
		t.Errorf("no engine: got %v", got)
	}
}

// A value is cut once it is redacted, never before.
func TestLongValues(t *testing.T) {
	for _, n := range []int{maxShown, maxValue + 1} {
		got := render("arguments.x", strings.Repeat("é", n), func(doc []byte) []byte { return doc })
		if len(got) > maxShown+len("…") || !strings.HasSuffix(strings.TrimSuffix(got, `"`), "…") {
			t.Errorf("%d characters: got %d bytes ending in %q", n, len(got), got[len(got)-5:])
		}
	}
}
