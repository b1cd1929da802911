package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/scanner/command"
)

func BenchmarkDecide(b *testing.B) {
	e := mustNew(b)
	var many strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, "- {name: r%d, match: {tools: [tool-%d]}, when: 'principal.role != \"admin\"', effect: deny, message: m}\n", i, i)
	}
	thousand := withRules(b, many.String())
	for _, bb := range []struct {
		name string
		e    *Engine
		in   Input
	}{
		{"tool", e, Input{Tool: "read_file", Action: Use}},
		{"command", e, Input{Tool: "run_command", Action: Use, Command: &command.Command{Class: command.ReadOnly, Parts: []command.Part{{Name: "df"}}}}},
		{"approve", e, Input{Tool: "run_command", Action: Mutate, Command: classed(command.Dangerous, "erase")}},
		{"denied", e, Input{Tool: "run_command", Action: Install}},
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
