package policy

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/command"
)

func mustNew(t testing.TB) *Engine {
	t.Helper()
	e, err := New()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// withRules is an engine over the fixed table and the given rules.
func withRules(t testing.TB, doc string) *Engine {
	t.Helper()
	rules, err := parseRules(Source{"test.yaml", []byte(doc)})
	if err != nil {
		t.Fatal(err)
	}
	e, err := newEngine(table[:], rules)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func classed(class command.Class, categories ...string) *command.Command {
	return &command.Command{Class: class, Categories: categories, Confined: class == command.Mutate && len(categories) == 0}
}

func TestDecide(t *testing.T) {
	tests := []struct {
		name     string
		role     Role
		action   Action
		command  *command.Command
		extra    []string // categories of the call itself
		effect   Effect
		rule     string
		severity Severity
		reasons  []string
	}{
		{
			name: "read-only command of anybody", role: Readonly, action: Use, command: classed(command.ReadOnly),
			effect: Allow, reasons: []string{"permission: role readonly may use"},
		},
		{
			name: "change by a user", role: User, action: Mutate, command: classed(command.Mutate),
			effect: Allow, reasons: []string{"permission: role user may mutate"},
		},
		{
			name: "change of what is no file of the project", role: User, action: Mutate, command: &command.Command{Class: command.Mutate},
			effect: Approve, rule: "hitl-needs-host", severity: High,
			reasons: []string{`rule hitl-needs-host: when command.present && command.class == "mutate" && !command.confined`, "permission: role user may mutate"},
		},
		{
			name: "change by readonly", role: Readonly, action: Mutate, command: classed(command.Mutate),
			effect: Deny, rule: "permission", severity: Medium,
			reasons: []string{"permission: role readonly may not mutate (agent core, skill run_command)"},
		},
		{
			name: "change declared as use by readonly", role: Readonly, action: Use, command: classed(command.Mutate),
			effect: Deny, rule: "permission", severity: Medium,
			reasons: []string{"permission: role readonly may not mutate (agent core, skill run_command; command class mutate)"},
		},
		{
			name: "unknown command declared as use by readonly", role: Readonly, action: Use, command: classed(command.Unknown),
			effect: Deny, rule: "permission", severity: Medium,
			reasons: []string{"permission: role readonly may not mutate (agent core, skill run_command; command class unknown)"},
		},
		{
			name: "no command", role: User, action: Mutate,
			effect: Allow, reasons: []string{"permission: role user may mutate"},
		},
		{
			name: "unknown role", role: "root", action: Use,
			effect: Deny, rule: "permission", severity: Medium, reasons: []string{`permission: unknown role "root"`},
		},
		{
			name: "unknown action", role: Admin, action: "fly",
			effect: Deny, rule: "permission", severity: Medium, reasons: []string{`permission: unknown action "fly"`},
		},
		{
			name: "reload", role: Admin, action: Mutate, command: classed(command.Dangerous, "reload"),
			effect: Approve, rule: "hitl-reload", severity: High,
		},
		{
			name: "erase", role: Admin, action: Mutate, command: classed(command.Dangerous, "erase"),
			effect: Approve, rule: "hitl-erase", severity: Critical,
		},
		{
			name: "shutdown", role: Admin, action: Mutate, command: classed(command.Dangerous, "shutdown"),
			effect: Approve, rule: "hitl-shutdown", severity: Critical,
		},
		{
			name: "critical process", role: Admin, action: Mutate, command: classed(command.Dangerous, "critical_process"),
			effect: Approve, rule: "hitl-critical-process", severity: High,
		},
		{
			name: "recursive deletion", role: User, action: Mutate, command: classed(command.Dangerous, "recursive_deletion"),
			effect: Approve, rule: "hitl-recursive-deletion", severity: Critical,
		},
		{
			name: "raw disk write", role: User, action: Mutate, command: classed(command.Dangerous, "raw_disk_write"),
			effect: Approve, rule: "hitl-raw-disk-write", severity: Critical,
		},
		{
			name: "formatting", role: User, action: Mutate, command: classed(command.Dangerous, "formatting"),
			effect: Approve, rule: "hitl-formatting", severity: Critical,
		},
		{
			name: "write outside of the root by a command", role: User, action: Mutate, command: classed(command.Mutate, "write_outside_root"),
			effect: Approve, rule: "hitl-write-outside-root", severity: High,
		},
		{
			name: "write outside of the root by a tool", role: User, action: Mutate, extra: []string{"write_outside_root"},
			effect: Approve, rule: "hitl-write-outside-root", severity: High,
		},
		{
			name: "dangerous without a category", role: Admin, action: Mutate, command: classed(command.Dangerous),
			effect: Approve, rule: "hitl-unclear-command", severity: High,
		},
		{
			name: "unknown command", role: Admin, action: Mutate, command: classed(command.Unknown),
			effect: Approve, rule: "hitl-unclear-command", severity: High,
		},
		{
			name: "class that does not exist", role: Admin, action: Use, command: classed("harmless"),
			effect: Approve, rule: "hitl-unclear-command", severity: High,
		},
		{
			name: "two categories", role: Admin, action: Mutate, command: classed(command.Dangerous, "formatting"), extra: []string{"erase"},
			effect: Approve, rule: "hitl-erase", severity: Critical,
			reasons: []string{
				"rule hitl-erase: category erase",
				"rule hitl-formatting: category formatting",
				`rule hitl-unclear-command: when command.present && command.class not in ["read_only", "mutate"]`,
				"permission: role admin may mutate",
			},
		},
	}
	e := mustNew(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := Input{
				Principal: Principal{User: "bob", Role: tt.role}, Agent: "core", Tool: "run_command",
				Action: tt.action, Command: tt.command, Categories: tt.extra,
			}
			d := e.Decide(in)
			if d.Effect != tt.effect || d.Rule != tt.rule || d.Severity != tt.severity {
				t.Errorf("got %s by %q (%s), want %s by %q (%s); reasons %q", d.Effect, d.Rule, d.Severity, tt.effect, tt.rule, tt.severity, d.Reasons)
			}
			if diff := cmp.Diff(tt.reasons, d.Reasons); tt.reasons != nil && diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
			if len(d.Reasons) == 0 || d.PolicyHash != e.Hash() || (d.Effect != Allow) != (d.Message != "") {
				t.Errorf("got an incomplete decision: %+v", d)
			}
			if again := e.Decide(in); !cmp.Equal(d, again) {
				t.Errorf("a second time: %s", cmp.Diff(d, again))
			}
		})
	}
}

func TestDecideNeedsNames(t *testing.T) {
	e := mustNew(t)
	for _, in := range []Input{
		{Agent: "", Tool: "df"},
		{Agent: "core", Tool: ""},
		{Agent: "core", Skill: "disk", Tool: ""},
		{},
	} {
		in.Principal.Role, in.Action = Admin, Use
		if d := e.Decide(in); d.Effect != Deny || d.Rule != RulePermission {
			t.Errorf("agent %q, tool %q: got %+v", in.Agent, in.Tool, d)
		}
	}
}

func TestNilEngineDenies(t *testing.T) {
	var e *Engine
	d := e.Decide(Input{Principal: Principal{Role: Admin}, Agent: "core", Tool: "df", Action: Use})
	if d.Effect != Deny || d.Rule != RulePolicy || len(d.Reasons) == 0 || e.Hash() != "" {
		t.Errorf("got %+v, hash %q", d, e.Hash())
	}
}

func TestEffectsRank(t *testing.T) {
	e := withRules(t, `
- {name: log-all, effect: log, message: seen}
- {name: ask, match: {tools: [rm]}, effect: approve, message: asked, severity: high}
- {name: never, match: {agents: [quick]}, effect: deny, message: no}
- {name: ask-too, match: {actions: [mutate]}, effect: approve, message: asked}
`)
	tests := []struct {
		agent, tool string
		action      Action
		effect      Effect
		rule        string
		reasons     int
	}{
		{"core", "df", Use, Log, "log-all", 2},
		{"core", "rm", Use, Approve, "ask", 3},
		{"core", "rm", Mutate, Approve, "ask", 4},
		{"quick", "rm", Mutate, Deny, "never", 5},
		{"quick", "df", Use, Deny, "never", 3},
		{"core", "df", Mutate, Approve, "ask-too", 3},
	}
	for _, tt := range tests {
		d := e.Decide(Input{Principal: Principal{Role: Admin}, Agent: tt.agent, Tool: tt.tool, Action: tt.action})
		if d.Effect != tt.effect || d.Rule != tt.rule || len(d.Reasons) != tt.reasons {
			t.Errorf("%s %s %s: got %+v, want %s by %s with %d reasons", tt.agent, tt.tool, tt.action, d, tt.effect, tt.rule, tt.reasons)
		}
	}
}

// Rules can only tighten: whatever they say, what the table denies stays denied.
func TestRulesNeverLoosen(t *testing.T) {
	e := withRules(t, `
- {name: log-all, effect: log, message: seen}
- {name: ask-all, effect: approve, message: asked}
`)
	for _, r := range append(Roles(), "") {
		for _, a := range append(Actions(), "") {
			d := e.Decide(Input{Principal: Principal{Role: r}, Agent: "core", Tool: "df", Action: a})
			if permitted := Permitted(r, "core", "df", a); permitted == (d.Effect == Deny) {
				t.Errorf("role %q, action %q: got %s, table says %t", r, a, d.Effect, permitted)
			}
		}
	}
}

func TestMatchSelects(t *testing.T) {
	in := Input{
		Principal: Principal{Role: Admin}, Agent: "core", Skill: "disk", Tool: "rm", Action: Mutate,
		Categories: []string{"a", "b"}, Command: classed(command.Mutate, "b", "c"),
	}
	for match, want := range map[string]string{
		`{}`:                                     "every call",
		`{tools: ["*"], agents: ["*"]}`:          "every call",
		`{tools: [rm]}`:                          "tool rm",
		`{tools: [cp, rm]}`:                      "tool rm",
		`{tools: [disk]}`:                        "",
		`{agents: [core]}`:                       "agent core",
		`{agents: [quick]}`:                      "",
		`{actions: [mutate]}`:                    "action mutate",
		`{actions: [use]}`:                       "",
		`{categories: [a]}`:                      "category a",
		`{categories: [c, a, d]}`:                "category a, category c",
		`{categories: [d]}`:                      "",
		`{categories: [c], tools: [rm]}`:         "category c, tool rm",
		`{categories: [c], tools: [cp]}`:         "",
		`{categories: ["*"], actions: [mutate]}`: "action mutate",
	} {
		e := withRules(t, `[{name: r, match: `+match+`, effect: log, message: m}]`)
		got := ""
		if d := e.Decide(in); d.Effect == Log {
			got = strings.TrimPrefix(d.Reasons[0], "rule r: ")
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", match, got, want)
		}
	}
}

func TestWhenSeesTheCall(t *testing.T) {
	in := Input{
		Principal: Principal{User: "bob", Role: User, Groups: []string{"ops"}, Source: "token", OnBehalfOf: "eve", Address: "192.0.2.7"},
		Agent:     "core", Tool: "rm", Action: Use,
		Arguments:  map[string]any{"path": "/etc/passwd", "depth": 3.0, "flags": []any{"-f"}},
		Command:    &command.Command{Class: command.Mutate, Confined: true, Categories: []string{"c"}, Traits: []string{command.Network}, Parts: []command.Part{{Name: "rm", Args: []string{"-r", "x"}, Dynamic: true}}},
		Categories: []string{"a"},
		Labels:     []string{"user", "tool:fetch"},
		Findings:   []scanner.Finding{{Category: "role_hijacking", Rule: "x", Confidence: "high"}},
	}
	for _, when := range []string{
		`principal.user == "bob" && principal.role == "user" && "ops" in principal.groups`,
		`principal.source == "token" && principal.on_behalf_of == "eve" && principal.address startsWith "192.0.2."`,
		`agent == "core" && skill == "rm" && tool == "rm"`,
		`action == "mutate"`,
		`string(arguments.path) startsWith "/etc/" && arguments["depth"] == 3`,
		`command.present && command.class == "mutate" && command.confined && any(command.parts, .name == "rm" && .dynamic && "-r" in .args)`,
		`"network" in command.traits && "endless" not in command.traits`,
		`"a" in categories && "c" in categories`,
		`any(labels, # startsWith "tool:")`,
		`any(findings, .confidence == "high" && .category == "role_hijacking" && .rule == "x")`,
	} {
		e := withRules(t, "[{name: r, when: '"+when+"', effect: log, message: m}]")
		if d := e.Decide(in); d.Effect != Log {
			t.Errorf("%s: got %+v", when, d)
		}
		if d := e.Decide(Input{Principal: Principal{Role: Admin}, Agent: "a", Tool: "t", Action: Use, Arguments: map[string]any{"path": ""}}); d.Effect != Allow {
			t.Errorf("%s, of another call: got %+v", when, d)
		}
	}
}

func TestRuleThatErrorsDenies(t *testing.T) {
	for _, when := range []string{
		`int(arguments.huge) > 1`,                                  // the error quotes it
		`int(arguments.n) > 1`,                                     // missing
		`arguments.list[5] == "x"`,                                 // out of range
		`any(1..10000000, # == 10000001)`,                          // out of memory budget
		`string(arguments.text) matches string(arguments.pattern)`, // bad pattern at the call
	} {
		e := withRules(t, "[{name: r, when: '"+when+"', effect: log, message: m}]")
		d := e.Decide(Input{
			Principal: Principal{Role: Admin}, Agent: "core", Tool: "t", Action: Use,
			Arguments: map[string]any{"list": []any{}, "text": "x", "pattern": "(", "huge": strings.Repeat("é", 1<<16)},
		})
		if d.Effect != Deny || d.Rule != "r" || !slices.ContainsFunc(d.Reasons, func(s string) bool {
			return strings.HasPrefix(s, "rule r: when cannot be evaluated: ") && !strings.Contains(s, "\n") && len(s) < 200 && utf8.ValidString(s)
		}) {
			t.Errorf("%s: got %+v", when, d)
		}
	}
}

func TestOnlySelectedRulesAreEvaluated(t *testing.T) {
	e := withRules(t, `[{name: r, match: {tools: [x]}, when: 'int(arguments.n) > 1', effect: log, message: m}]`)
	if d := e.Decide(Input{Principal: Principal{Role: Admin}, Agent: "core", Tool: "y", Action: Use}); d.Effect != Allow {
		t.Errorf("got %+v", d)
	}
}

func TestDecideIsSafeForConcurrentUse(t *testing.T) {
	e := mustNew(t)
	done := make(chan Decision)
	in := Input{Principal: Principal{Role: Admin}, Agent: "core", Tool: "sh", Action: Mutate, Command: classed(command.Unknown, "erase")}
	for range 8 {
		go func() {
			var d Decision
			for range 200 {
				d = e.Decide(in)
			}
			done <- d
		}()
	}
	want := e.Decide(in)
	for range 8 {
		if d := cmp.Diff(want, <-done); d != "" {
			t.Error(d)
		}
	}
}

// Who approves is told all that a call does, each thing once.
func TestMessageOfAllApprovals(t *testing.T) {
	e, err := New(Source{"two.yaml", []byte(`
- {name: mine, match: {tools: [run_command]}, effect: approve, message: Two people decide.}
- {name: again, match: {tools: [run_command]}, effect: approve, message: Two people decide.}
- {name: logged, match: {tools: [run_command]}, effect: log, message: Never shown.}
- {name: watched, match: {tools: [run_command]}, effect: approve, mode: observe, message: Never shown.}
`)})
	if err != nil {
		t.Fatal(err)
	}
	d := e.Decide(Input{
		Principal: Principal{Role: Admin}, Agent: "core", Tool: "run_command", Action: Mutate,
		Command: classed(command.Dangerous, "reload", "recursive_deletion"),
	})
	want := "This reloads or restarts a device or service. This deletes a folder with all that is in it. Two people decide."
	if d.Message != want || d.Rule != "hitl-reload" {
		t.Errorf("got %q of %s, want %q", d.Message, d.Rule, want)
	}
}
