package policy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/policy/provenance"
	"github.com/svc-gateway/svc/scanner/command"
)

func BenchmarkDecide(b *testing.B) {
	e := mustNew(b)
	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, "- {name: r%d, match: {tools: [tool-%d]}, when: 'principal.role != \"admin\"', effect: deny, message: m}\n", i, i)
	}
	thousand := withRules(b, many.String())
	var mixed strings.Builder
	for i := range 195 {
		fmt.Fprintf(&mixed, "- {name: r%d, match: {tools: [tool-%d]}, when: 'principal.role != \"admin\" and time.hour > 3', effect: deny, message: m}\n", i, i)
	}
	mixed.WriteString(`
- {name: c1, match: {agents: [core], tools: [run_command]}, when: 'any(command.parts, .name == "ss")', effect: deny, message: m}
- {name: c2, match: {tools: [run_command]}, when: 'time.clock >= "18:00" and any(paths, under(#, "docs"))', effect: deny, message: m}
- {name: c3, match: {agents: [core]}, when: '"contractors" in principal.groups', effect: approve, message: m}
- {name: c4, match: {actions: [use]}, when: 'len(findings) > 0 or "remote" in labels', effect: approve, message: m}
- {name: c5, when: 'principal.source == "none" and action != "use"', effect: log, message: m}
`)
	twoHundred := withRules(b, mixed.String())
	for _, bb := range []struct {
		name string
		e    *Engine
		in   Input
	}{
		{"tool", e, Input{Tool: "read_file", Action: Use}},
		{"command", e, Input{Tool: "run_command", Action: Use, Command: &command.Command{Class: command.ReadOnly, Parts: []command.Part{{Name: "df"}}}}},
		{"approve", e, Input{Tool: "run_command", Action: Mutate, Command: classed(command.Dangerous, "erase")}},
		{"denied", e, Input{Tool: "run_command", Action: Install}},
		{"200_rules", twoHundred, Input{
			Tool: "run_command", Action: Use, Time: time.Now(), Paths: []string{"notes/a"},
			Command: &command.Command{Class: command.ReadOnly, Parts: []command.Part{{Name: "cat", Args: []string{"notes/a"}}}},
		}},
		{"targets", e, Input{
			Tool: "run_command", Action: Mutate, Command: classed(command.Mutate), Labels: []string{"user", "tool:read_file"},
			Targets: []provenance.Target{{Argument: "command", Kind: provenance.Path, Value: "docs/a.md", Source: provenance.SourceUser}},
		}},
		{"1000_rules", thousand, Input{Tool: "tool-500", Action: Use}},
	} {
		b.Run(bb.name, func(b *testing.B) {
			bb.in.Agent, bb.in.Principal = "core", Principal{User: "bob", Role: User}
			b.ReportAllocs()
			for b.Loop() {
				bb.e.Decide(bb.in)
			}
		})
	}
}
