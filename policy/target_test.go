package policy

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/policy/provenance"
)

func traced(sources ...string) []provenance.Target {
	var all []provenance.Target
	for i, s := range sources {
		all = append(all, provenance.Target{Argument: []string{"path", "path", "host"}[i], Kind: provenance.Path, Value: "v", Source: s})
	}
	return all
}

// whole is the policy of the program with a file of rules.
func whole(t *testing.T, doc string) *Engine {
	t.Helper()
	e, err := New(Source{"t.yaml", []byte(doc)})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestTargetsInRules(t *testing.T) {
	for _, tt := range []struct {
		name, when string
		in         Input
		want       bool
	}{
		{"from_user", `from_user("path")`, Input{Targets: traced("user", "user", "unknown")}, true},
		{"from_user, one is not", `from_user("path")`, Input{Targets: traced("user", "tool:x")}, false},
		{"from_user, no such argument", `from_user("pth")`, Input{Targets: traced("user")}, false},
		{"from_user, no targets", `from_user("path")`, Input{}, false},
		{"from_user, no source", `from_user("path")`, Input{Targets: traced("")}, false},
		{"untrusted", `untrusted()`, Input{Labels: []string{"user", "tool:x"}}, true},
		{"untrusted, remote", `untrusted()`, Input{Labels: []string{"remote:x"}}, true},
		{"untrusted, odd", `untrusted()`, Input{Labels: []string{"User"}}, true},
		{"untrusted, only the user", `untrusted()`, Input{Labels: []string{"user"}}, false},
		{"targets", `any(targets(), .kind == "path" and .value == "v" and .source == "tool:x" and .argument == "path")`, Input{Targets: traced("tool:x")}, true},
		{"all targets", `all(targets(), .source == "user")`, Input{Targets: traced("user", "user", "remote:x")}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := withRules(t, "- {name: r, match: {tools: [x]}, effect: deny, message: m, when: '"+tt.when+"'}")
			tt.in.Principal, tt.in.Agent, tt.in.Tool, tt.in.Action = Principal{User: "ada", Role: User}, "core", "x", Use
			if d := e.Decide(tt.in); (d.Effect == Deny) != tt.want {
				t.Errorf("got %+v, want it to apply: %t", d, tt.want)
			}
		})
	}
}

func TestAfterUntrustedText(t *testing.T) {
	target := func(kind provenance.Kind, source string) []provenance.Target {
		return []provenance.Target{{Argument: "a", Kind: kind, Value: "v", Source: source}}
	}
	both := []string{"user", "tool:x"}
	for _, tt := range []struct {
		name   string
		action Action
		labels []string
		given  []provenance.Target
		want   bool
	}{
		{"a write, nothing read", Mutate, []string{"user"}, target(provenance.Path, "unknown"), false},
		{"a write that the user named", Mutate, both, target(provenance.Path, "user"), false},
		{"a write that a tool named", Mutate, both, target(provenance.Path, "tool:x"), true},
		{"a write that nobody named", Mutate, both, target(provenance.Path, "unknown"), true},
		{"a write without a target", Mutate, both, nil, true},
		{"a look", Use, both, target(provenance.Path, "tool:x"), false},
		{"a look without a target", Use, both, nil, false},
		{"a fetch that a tool named", Use, both, target(provenance.URL, "tool:x"), true},
		{"a fetch that the user named", Use, both, target(provenance.URL, "user"), false},
		{"a host that a tool named", Use, both, target(provenance.Host, "tool:x"), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := Input{Principal: Principal{User: "ada", Role: User}, Agent: "core", Tool: "x", Action: tt.action, Labels: tt.labels, Targets: tt.given}
			for line, effect := range map[string]Effect{"": Log, "- {name: after-untrusted-text, effect: approve}": Approve} {
				want := Allow
				if tt.want {
					want = effect
				}
				if d := whole(t, line).Decide(in); d.Effect != want {
					t.Errorf("%q: got %s, want %s", line, d.Effect, want)
				}
			}
		})
	}
}

func TestStricter(t *testing.T) {
	e := whole(t, "- {name: hitl-formatting, effect: deny}\n- {name: hitl-reload, effect: approve, approvers: 2, requester: false}")
	for _, r := range e.Rules() {
		switch r.Name {
		case "hitl-formatting":
			if r.Effect != Deny || r.Builtin || len(r.Categories) != 1 || r.Severity != Critical || r.Message == "" {
				t.Errorf("got %+v", r)
			}
		case "hitl-reload":
			if r.Effect != Approve || r.Approvers != 2 || r.Requester || r.Builtin {
				t.Errorf("got %+v", r)
			}
		}
	}
	for _, tt := range []struct{ name, doc, want string }{
		{"looser", "- {name: hitl-reload, effect: log}", `t.yaml:1:31: rule "hitl-reload": effect: the rule is part of the program, with the effect approve, and can only be made stricter`},
		{"no effect", "- {name: hitl-reload}", "effect: missing"},
		{"another rule", "- {name: hitl-reload, effect: deny, when: 'true', message: m}", "part of the program"},
		{"not to be observed", "- {name: hitl-reload, effect: deny, mode: observe}", "mode: the rule is part of the program, which only effect"},
		{"twice", "- {name: hitl-reload, effect: deny}\n- {name: hitl-reload, effect: deny}", "another rule has it already: t.yaml:1"},
	} {
		if _, err := New(Source{"t.yaml", []byte(tt.doc)}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q in it", tt.name, err, tt.want)
		}
	}
}

// Where targets came from is on record, without a secret, and says when a replay is not certain.
func TestSnapshotOfTargets(t *testing.T) {
	redact := func(doc []byte) []byte { return bytes.ReplaceAll(doc, []byte("hunter2"), []byte("REDACTED")) }
	e := withRules(t, `- {name: r, match: {tools: [x]}, effect: deny, message: m, when: 'any(targets(), .value == "a")'}`)
	for _, tt := range []struct {
		name, value, fragment string
		inexact               bool
		kept                  string // of the fragment
	}{
		{"plain", "a", "remove a", false, "remove a"},
		{"secret value", "hunter2", "remove hunter2", true, ""},
		{"secret in the fragment", "a", "remove a, hunter2", false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := Input{Principal: Principal{User: "ada", Role: User}, Agent: "core", Tool: "x", Action: Use, Labels: []string{"user", "tool:y"}}
			in.Targets = []provenance.Target{{Argument: "p", Kind: provenance.ID, Value: tt.value, Source: "tool:y", Fragment: tt.fragment, Same: []string{"hunter2"}}}
			s := Snap(in, e.Decide(in), redact, []byte("key"))
			doc, err := json.Marshal(s)
			if err != nil || bytes.Contains(doc, []byte("hunter2")) {
				t.Errorf("got %s, %v", doc, err)
			}
			again, hidden := s.Restore(in)
			if got := e.Reads(again, hidden); got != tt.inexact {
				t.Errorf("inexact: got %t, want %t", got, tt.inexact)
			}
			if got := again.Targets[0]; got.Source != "tool:y" || got.Fragment != tt.kept {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestBecauseShowsTargets(t *testing.T) {
	e := withRules(t, `- {name: r, match: {tools: [x]}, effect: log, message: m, when: 'not from_user("path") and untrusted()'}`)
	in := Input{Principal: Principal{User: "ada", Role: User}, Agent: "core", Tool: "x", Action: Use, Targets: traced("tool:y"), Labels: []string{"tool:y"}}
	got := strings.Join(e.Because(in, nil), "\n")
	for _, want := range []string{`not (from_user("path")) with targets = [{"argument":"path","kind":"path","value":"v","source":"tool:y"}]`, `untrusted() with labels = ["tool:y"]`} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s in it", got, want)
		}
	}
}
