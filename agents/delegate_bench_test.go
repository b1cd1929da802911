package agents_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/state"
	"github.com/svc-gateway/svc/audit/audittest"
	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/policy"
)

// BenchmarkDelegation is what a delegation adds to a run with the demo model, on real storage: the run of
// an agent that answers by itself, and of one that asks it. The difference is the delegation: two records
// that are durable, a frame, and two turns of the agent above.
func BenchmarkDelegation(b *testing.B) {
	engine, err := policy.New()
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	store, err := state.Open(b.Context(), filepath.Join(dir, "state.db"))
	if err != nil {
		b.Fatal(err)
	}
	host := agents.Open(agents.HostConfig{
		Store: store, Audit: audittest.Open(b, filepath.Join(dir, "audit.db")), Identity: &users{}, Bus: bus.NewMemory(), Node: "node", Log: zap.NewNop(),
	})
	b.Cleanup(func() { host.Close() })
	rt, err := host.Runtime(agents.Setup{
		Model: model.NewDemo(), Policy: policy.NewLive(engine), Log: zap.NewNop(),
		Agents: []agents.Agent{{Name: agents.Default, Delegates: []string{"quick"}}, {Name: "quick"}},
		Limits: agents.Limits{Steps: 10, Run: time.Minute, Tool: time.Minute, ParallelCalls: 8, ParallelRuns: 100, RunsPerMinute: 1e9, Depth: 3, Context: 100_000},
	})
	if err != nil {
		b.Fatal(err)
	}
	for _, bb := range []struct{ name, agent, question string }{
		{"none", "quick", "tell me about yourself"}, {"one", agents.Default, "ask quick to tell me about yourself"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				run, err := rt.As(ada).Start(b.Context(), agents.Request{Assistant: bb.agent, Input: []model.Message{{Role: model.RoleUser, Content: bb.question}}})
				if err != nil {
					b.Fatal(err)
				}
				done(b, run)
			}
		})
	}
}

// done waits for the end of a run that has to succeed.
func done(b *testing.B, run agents.Handle) {
	ctx, cancel := context.WithTimeout(b.Context(), 30*time.Second)
	defer cancel()
	for events, err := range run.Follow(ctx, 0) {
		if err != nil {
			b.Fatal(err)
		}
		for _, e := range events {
			if e.Type == eventlog.Done && e.Status != string(agents.Success) {
				b.Fatalf("the run ended as %s", e.Status)
			}
		}
	}
}
