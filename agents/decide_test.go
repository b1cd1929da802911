package agents

import (
	"strings"
	"testing"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/counting"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/provenance"
	"github.com/svc-gateway/svc/scanner/command"
	"github.com/svc-gateway/svc/scanner/inject"
	"github.com/svc-gateway/svc/scanner/redact"
)

// BenchmarkDecide is what the gate spends on a decision, its explanation and its record included, and
// without writing it.
func BenchmarkDecide(b *testing.B) {
	const rules = `
- {name: no-ss, match: {tools: [run]}, effect: deny, message: m, when: 'any(command.parts, .name == "ss")'}
- {name: often, match: {agents: [counted]}, effect: deny, message: m, when: 'count(tool, "1h") > 1e12'}
`
	e, err := policy.New(policy.Source{Name: "bench.yaml", Text: []byte(rules)})
	if err != nil {
		b.Fatal(err)
	}
	tool, err := compileParameters(Tool{ToolDef: ToolDef{
		Name: "run", Parameters: []byte(`{"type":"object"}`),
		Classify: func(args map[string]any) Classification {
			c := command.Analyze(args["command"].(string))
			return Classification{Action: policy.Use, Command: &c}
		},
	}})
	if err != nil {
		b.Fatal(err)
	}
	g := &gate{counters: counting.Counters{Bus: bus.NewMemory(), Log: zap.NewNop()}, log: zap.NewNop(), secrets: redact.NewSecrets(), key: []byte("key"), scan: inject.Scan}
	for _, bb := range []struct{ name, agent, command string }{
		{"allow", "core", "df -h"}, {"deny", "core", "ss -l"}, {"count", "counted", "df -h"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			s := scope{run: "r", agent: bb.agent, principal: policy.Principal{User: "ada", Role: policy.User}, tools: map[string]boundTool{"run": tool}}
			a := analyse(s, Call{ToolCall: model.ToolCall{ID: "c", Name: "run", Arguments: `{"command":"` + bb.command + `"}`}}, inject.Scan)
			b.ReportAllocs()
			for b.Loop() {
				a.input.Counts = nil
				if d, _ := g.decide(b.Context(), e, a); (d.Effect == policy.Deny) != (bb.name == "deny") {
					b.Fatal(d)
				}
			}
		})
	}
}

// BenchmarkTrace is what the gate spends on the sources of a call's target after 64 KiB of untrusted text,
// the first look at the user's words aside.
func BenchmarkTrace(b *testing.B) {
	tool, err := compileParameters(Tool{ToolDef: ToolDef{
		Name: "remove", Action: policy.Mutate, Parameters: []byte(`{"type":"object"}`), Targets: map[string]provenance.Kind{"path": provenance.Path},
	}})
	if err != nil {
		b.Fatal(err)
	}
	untrusted := []string{"user", "tool:page"}
	r := &Run{Frames: []Frame{{Messages: []model.Message{
		{Role: model.RoleUser, Content: "read the notes and remove docs/a.md", Labels: []string{"user"}},
		{Role: model.RoleTool, Content: strings.Repeat("a line of the notes, about this and that\n", 64<<10/41), Labels: []string{"tool:page"}},
	}}}}
	words := said(nil, r)
	for _, bb := range []struct{ name, arguments string }{
		{"none", `{}`}, {"named", `{"path":"docs/a.md"}`}, {"not named", `{"path":"docs/b.md"}`},
	} {
		b.Run(bb.name, func(b *testing.B) {
			s := scope{run: "r", agent: "core", principal: policy.Principal{User: "ada", Role: policy.User}, tools: map[string]boundTool{"remove": tool}}
			b.ReportAllocs()
			for b.Loop() {
				s.trail = provenance.Trail{Said: words, Read: read(nil, r)}
				if a := analyse(s, Call{ToolCall: model.ToolCall{ID: "c", Name: "remove", Arguments: bb.arguments}, Labels: untrusted}, inject.Scan); a.invalid != "" {
					b.Fatal(a.invalid)
				}
			}
		})
	}
}
