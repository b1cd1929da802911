package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/audit/audittest"
	"github.com/svc-gateway/svc/policy"
)

func BenchmarkTools(b *testing.B) {
	root := b.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a.txt"), make([]byte, 0, 1), 0o600); err != nil {
		b.Fatal(err)
	}
	w := workspace{root: root, denied: []string{filepath.Join(root, "data")}}
	b.Run("check", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := checkLine("ps -eo pid,user,pcpu,pmem,comm --sort=-pcpu"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("run_command", func(b *testing.B) {
		for b.Loop() {
			if _, err := commandsIn(w).run(b.Context(), agents.ToolContext{}, map[string]any{"command": "uname -s"}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("read_file", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := w.readFile(b.Context(), agents.ToolContext{}, map[string]any{"path": "a.txt"}); err != nil {
				b.Fatal(err)
			}
		}
	})
	log := audittest.Open(b, filepath.Join(b.TempDir(), "audit.db"))
	defer func() { _ = log.Close() }()
	var events []audit.Event
	for i := range 10_000 {
		events = append(events, audit.Event{Type: audit.ToolStart, Run: fmt.Sprint("run", i), Call: "c", User: fmt.Sprint("user", i%100), Tool: "run_command", Input: `{"command":"df -h"}`})
	}
	if err := log.Record(b.Context(), events...); err != nil {
		b.Fatal(err)
	}
	for _, p := range []policy.Principal{{User: "user1", Role: policy.User}, {User: "root", Role: policy.Admin}} {
		b.Run(fmt.Sprint("query_audit/", p.Role), func(b *testing.B) {
			for b.Loop() {
				if _, err := (auditor{log, auditLimits}).query(b.Context(), agents.ToolContext{Principal: p}, map[string]any{"sql": "SELECT time, tool, status FROM tool_calls ORDER BY time DESC LIMIT 10"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
