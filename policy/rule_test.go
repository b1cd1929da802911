package policy

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestEmbeddedRules(t *testing.T) {
	e := mustNew(t)
	covered := map[string]bool{}
	for _, r := range e.rules {
		if r.Effect != Approve && r.Name != "after-untrusted-text" {
			t.Errorf("rule %s: got effect %s, want approve", r.Name, r.Effect)
		}
		for _, c := range r.Match.Categories {
			covered[c] = true
		}
	}
	for _, c := range []string{
		"reload", "erase", "shutdown", "critical_process", "recursive_deletion",
		"raw_disk_write", "formatting", "write_outside_root", "undeclared_tool",
	} {
		if !covered[c] {
			t.Errorf("no rule for category %s", c)
		}
	}
}

func TestParseRulesRefuses(t *testing.T) {
	tests := []struct{ name, doc, want string }{
		{"unknown key", "- {name: r, effect: log, message: m, efect: deny}", "t.yaml:1:38: rule \"r\": unknown key efect; did you mean effect?"},
		{"unknown key of match", "- {name: r, match: {tool: [x]}, effect: log, message: m}", "t.yaml:1:21: rule \"r\": unknown key match.tool; did you mean tools?"},
		{"duplicate key", "- {name: r, name: s, effect: log, message: m}", "already"},
		{"no list", "name: r", "t.yaml:1:1: want a list of rules"},
		{"no YAML", "- {", "t.yaml: this is not YAML"},
		{"two documents", "- {name: r, effect: log, message: m}\n---\n- {name: s, effect: log, message: m}", "second document"},
		{"no name", "- {effect: log, message: m}", "t.yaml:1:3: name: want lower case"},
		{"odd name", "- {name: 'A b', effect: log, message: m}", "name: want lower case"},
		{"name of the table", "- {name: permission, effect: log, message: m}", "name:"},
		{"no effect", "- {name: r, message: m}", "effect: missing"},
		{"loosening", "- {name: r, effect: allow, message: m}", "only tighten"},
		{"no message", "- {name: r, effect: log}", "message: missing"},
		{"severity", "- {name: r, effect: log, message: m, severity: huge}", `severity: unknown "huge"`},
		{"unknown action", "- {name: r, effect: log, message: m, match: {actions: [wite]}}", `match.actions: unknown "wite"`},
		{"empty entry", "- {name: r, effect: log, message: m, match: {tools: ['']}}", `match.tools: "" never matches`},
		{"syntax of when", "- {name: r, effect: log, message: m, when: 'tool =='}", "when:"},
		{"name in when", "- {name: r, effect: log, message: m, when: 'tol == \"x\"'}", "unknown name tol"},
		{"type of when", "- {name: r, effect: log, message: m, when: 'tool'}", "expected bool"},
		{"untyped when", "- {name: r, effect: log, message: m, when: 'arguments.force'}", "expected bool"},
		{"comparing types", "- {name: r, effect: log, message: m, when: 'tool > 3'}", "invalid operation"},
		{"clock", "- {name: r, effect: log, message: m, when: 'now().Hour() > 3'}", "unknown name now"},
		{"unknown function", "- {name: r, effect: log, message: m, when: 'conut(tool, \"1h\") > 3'}", "t.yaml:1:45: rule \"r\": when: unknown name conut: there is no such function; did you mean count?"},
		{"function that is not listed", "- {name: r, effect: log, message: m, when: 'toJSON(arguments) == tool'}", "unknown name toJSON"},
		{"predicate that is not listed", "- {name: r, effect: log, message: m, when: 'len(sortBy(labels, #)) > 1'}", "unknown name sortBy"},
		{"method", "- {name: r, effect: log, message: m, when: 'arguments.f() == 3'}", "only functions can be called"},
		{"field", "- {name: r, effect: log, message: m, when: 'principal.rol == \"x\"'}", "t.yaml:1:55: rule \"r\": when: principal has no field rol; did you mean role?"},
		{"field of a part", "- {name: r, effect: log, message: m, when: 'any(command.parts, .nme == \"ss\")'}", "# has no field nme; did you mean name?"},
		{"name without its object", "- {name: r, effect: log, message: m, when: 'role == \"x\"'}", "unknown name role; did you mean principal.role?"},
		{"name of another phase", "- {name: r, effect: log, message: m, when: 'request.path == \"x\"'}", "unknown name request: it is known of a request, and this is about a call"},
		{"phase", "- {name: r, phase: reqest, effect: log, message: m}", `phase: unknown "reqest", want call or request or output; did you mean request?`},
		{"call's name in a request", "- {name: r, phase: request, effect: log, message: m, when: 'tool == \"x\"'}", "unknown name tool: it is known of a call, and this is about a request"},
		{"match of a request", "- {name: r, phase: request, match: {tools: [x]}, effect: log, message: m}", "match: it is of calls"},
		{"approval of a request", "- {name: r, phase: request, effect: approve, message: m}", "a request does not wait for an approval"},
		{"match of an answer", "- {name: r, phase: output, match: {tools: [x]}, effect: log, message: m}", "match: it is of calls, and this is about an answer"},
		{"approval of an answer", "- {name: r, phase: output, effect: approve, message: m}", "an answer does not wait for an approval"},
		{"call's name in an answer", "- {name: r, phase: output, effect: log, message: m, when: 'tool == \"x\"'}", "unknown name tool: it is known of a call, and this is about an answer"},
		{"field of an answer", "- {name: r, phase: output, effect: log, message: m, when: 'output.txt == \"x\"'}", "output has no field txt; did you mean text?"},
		{"depth", "- {name: r, effect: log, message: m, when: 'any(paths, any(paths, any(paths, true)))'}", "nested more than 2 deep"},
		{"window", "- {name: r, effect: log, message: m, when: 'count(tool, \"1y\") > 3'}", `"1y" is not a window of time`},
		{"window of a variable", "- {name: r, effect: log, message: m, when: 'count(tool, agent) > 3'}", "the window must be written out"},
		{"size of when", "- {name: r, effect: log, message: m, when: '" + strings.Repeat("true && ", 600) + "true'}", "of 4096 at most"},
		{"nodes of when", "- {name: r, effect: log, message: m, when: '" + strings.Repeat("true && ", 300) + "true'}", "node"},
		{"second line", "- name: r\n  effect: log\n  message: m\n  when: |\n    agent == \"core\" &&\n      tol == \"ss\"\n", "t.yaml:6:7: rule \"r\": when: unknown name tol"},
		{"folded line", "- name: r\n  effect: log\n  message: m\n  when: >-\n    agent == \"core\" and\n    tol == \"ss\"\n", "t.yaml:6:5:"},
		{"mode", "- {name: r, effect: log, mode: watch, message: m}", `mode: unknown "watch", want enforce or observe`},
		{"approvers", "- {name: r, effect: approve, approvers: 0, message: m}", `approvers: "0" is not a number of people`},
		{"approvers of a denial", "- {name: r, effect: deny, approvers: 2, message: m}", "approvers: only of use with effect: approve"},
		{"requester", "- {name: r, effect: approve, requester: nobody, message: m}", `requester: unknown "nobody", want true or false`},
		{"alias", "- &r {name: r, effect: log, message: m}\n- *r", "t.yaml:2:3: a rule is a mapping"},
		{"pattern", "- {name: r, effect: log, message: m, when: 'tool matches \"(\"'}", "error parsing regexp"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rules, err := parseRules(Source{"t.yaml", []byte(tt.doc)})
			if err == nil {
				t.Fatalf("got %+v without an error", rules)
			}
			if _, ok := errors.AsType[*Mistake](err); !ok {
				t.Errorf("got %T, want a *Mistake", err)
			}
			if !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "t.yaml") {
				t.Errorf("got %q, want it to name t.yaml and %q", err, tt.want)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	const rule = "- {name: r, effect: log, message: m}\n"
	var many strings.Builder
	for i := range maxRules + 1 {
		fmt.Fprintf(&many, "- {name: r%d, effect: log, message: m}\n", i)
	}
	for _, tt := range []struct {
		name  string
		files []Source
		want  []string
	}{
		{"twice in a file", []Source{{"a.yaml", []byte(rule + rule)}}, []string{`a.yaml:2:1: rule "r": name: another rule has it already: a.yaml:1`}},
		{"in two files", []Source{{"a.yaml", []byte(rule)}, {"b.yaml", []byte("\n" + rule)}}, []string{`b.yaml:2:1: rule "r": name: another rule has it already: a.yaml:1`}},
		{"name of a built-in rule", []Source{{"a.yaml", []byte("- {name: hitl-reload, effect: log, message: m}")}}, []string{"message: the rule is part of the program", "a rule of your own needs another name"}},
		{"every mistake", []Source{{"a.yaml", []byte("- {name: r}")}, {"b.yaml", []byte("- {effect: log, message: m}")}}, []string{"effect: missing", "message: missing", "b.yaml:1:3: name:"}},
		{"too many", []Source{{"a.yaml", []byte(many.String())}}, []string{"of 2000 at most"}},
		{"too large", []Source{{"a.yaml", make([]byte, maxFile+1)}}, []string{"a.yaml: the file has 262145 bytes"}},
	} {
		_, err := New(tt.files...)
		for _, want := range tt.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want %q in it", tt.name, err, want)
			}
		}
	}
}

func TestParseRulesEmpty(t *testing.T) {
	for _, doc := range []string{"", "# nothing\n", "[]"} {
		if rules, err := parseRules(Source{"t.yaml", []byte(doc)}); err != nil || len(rules) > 0 {
			t.Errorf("%q: got %v, %v", doc, rules, err)
		}
	}
}

// The hash is recorded with every decision and compared across nodes and years.
func TestHash(t *testing.T) {
	const doc = "- {name: r, effect: log, message: m, match: {tools: [x]}}\n- {name: s, effect: deny, message: m}"
	first := withRules(t, doc).Hash()
	if len(first) != 64 || withRules(t, "# comment\n\n"+doc).Hash() != first {
		t.Errorf("got %q, want 64 digits that a comment does not change", first)
	}
	for _, other := range []string{
		strings.Replace(doc, "deny", "approve", 1),
		strings.Replace(doc, "[x]", "[y]", 1),
		strings.Replace(doc, "message: m", "message: n", 1),
		strings.Replace(doc, "log,", "log, when: 'tool == \"x\"',", 1),
		"",
	} {
		if withRules(t, other).Hash() == first {
			t.Errorf("a change does not change the hash: %s", other)
		}
	}
	e, err := newEngine([]grant{{Admin, Triple{Any, Any, Any}}}, nil)
	if err != nil || e.Hash() == withRules(t, "").Hash() {
		t.Errorf("another table has the same hash (%v)", err)
	}
}
