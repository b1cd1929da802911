package policy

import (
	"strings"
	"testing"
)

func TestEmbeddedRules(t *testing.T) {
	e := mustNew(t)
	covered := map[string]bool{}
	for _, r := range e.rules {
		if r.Effect != Approve {
			t.Errorf("rule %s: got effect %s, want approve", r.Name, r.Effect)
		}
		for _, c := range r.Match.Categories {
			covered[c] = true
		}
	}
	for _, c := range []string{
		"reload", "erase", "shutdown", "critical_process", "recursive_deletion",
		"raw_disk_write", "formatting", "write_outside_root",
	} {
		if !covered[c] {
			t.Errorf("no rule for category %s", c)
		}
	}
}

func TestParseRulesRefuses(t *testing.T) {
	tests := []struct{ name, doc, want string }{
		{"unknown key", "- {name: r, effect: log, message: m, efect: deny}", "field efect not found"},
		{"unknown key of match", "- {name: r, match: {tool: [x]}, effect: log, message: m}", "field tool not found"},
		{"duplicate key", "- {name: r, name: s, effect: log, message: m}", "already"},
		{"no list", "name: r", "cannot unmarshal"},
		{"no YAML", "- {", "reading t.yaml"},
		{"two documents", "- {name: r, effect: log, message: m}\n---\n- {name: s, effect: log, message: m}", "second document"},
		{"no name", "- {effect: log, message: m}", "t.yaml:1: rule \"\": name:"},
		{"odd name", "- {name: 'A b', effect: log, message: m}", "name: want lower case"},
		{"name of the table", "- {name: permission, effect: log, message: m}", "name:"},
		{"name twice", "- {name: r, effect: log, message: m}\n- {name: r, effect: deny, message: m}", "t.yaml:2: rule \"r\": name: another rule"},
		{"no effect", "- {name: r, message: m}", `effect: unknown ""`},
		{"loosening", "- {name: r, effect: allow, message: m}", "only tighten"},
		{"no message", "- {name: r, effect: log}", "message: missing"},
		{"severity", "- {name: r, effect: log, message: m, severity: huge}", `severity: unknown "huge"`},
		{"unknown action", "- {name: r, effect: log, message: m, match: {actions: [wite]}}", `match.actions: unknown "wite"`},
		{"empty entry", "- {name: r, effect: log, message: m, match: {tools: ['']}}", "an empty name never matches"},
		{"syntax of when", "- {name: r, effect: log, message: m, when: 'tool =='}", "when:"},
		{"name in when", "- {name: r, effect: log, message: m, when: 'tol == \"x\"'}", "unknown name tol"},
		{"type of when", "- {name: r, effect: log, message: m, when: 'tool'}", "expected bool"},
		{"untyped when", "- {name: r, effect: log, message: m, when: 'arguments.force'}", "expected bool"},
		{"comparing types", "- {name: r, effect: log, message: m, when: 'tool > 3'}", "invalid operation"},
		{"clock", "- {name: r, effect: log, message: m, when: 'now().Hour() > 3'}", "unknown name now"},
		{"pattern", "- {name: r, effect: log, message: m, when: 'tool matches \"(\"'}", "error parsing regexp"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rules, err := parseRules("t.yaml", []byte(tt.doc))
			if err == nil {
				t.Fatalf("got %+v without an error", rules)
			}
			if !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "t.yaml") {
				t.Errorf("got %q, want it to name t.yaml and %q", err, tt.want)
			}
		})
	}
}

func TestParseRulesEmpty(t *testing.T) {
	for _, doc := range []string{"", "# nothing\n", "[]"} {
		if rules, err := parseRules("t.yaml", []byte(doc)); err != nil || len(rules) > 0 {
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
