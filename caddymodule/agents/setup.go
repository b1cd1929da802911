package agents

import (
	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/memory"
	"github.com/svc-gateway/svc/agents/remote"
	"github.com/svc-gateway/svc/agents/retention"
	"github.com/svc-gateway/svc/agents/roster"
	"github.com/svc-gateway/svc/agents/skill"
	"github.com/svc-gateway/svc/caddymodule/app"
)

// plan is what the settings make of a runtime and of what is around it.
type plan struct {
	agents.Setup
	definitions []roster.Definition // of the agents
	skills      skill.Store
	memory      *memory.Keeper
	remotes     []*remote.Remote
}

// newPlan is what the settings make of runs. What is to be closed with the handler becomes the handler's.
func (h *Handler) newPlan(ctx caddy.Context, a *app.App, opened *host, log *zap.Logger) (plan, error) {
	s := a.Settings()
	db, err := h.openDatabase(a, opened.boxes.local, log)
	if err != nil {
		return plan{}, err
	}
	remotes, err := h.newRemotes(a, log)
	if err != nil {
		return plan{}, err
	}
	scan, outside, err := newScan(s, a.Secrets(), ctx.GetMetricsRegistry(), log)
	if err != nil {
		return plan{}, err
	}
	h.classifier = outside
	known, err := newMemory(a, opened, scan, log)
	if err != nil {
		return plan{}, err
	}
	m, err := newModels(s, log)
	if err != nil {
		return plan{}, err
	}
	key, err := a.PolicyKey()
	if err != nil {
		return plan{}, err
	}
	tools, err := newTools(a, opened, db, known)
	if err != nil {
		return plan{}, err
	}
	store, err := SkillStore(a.Home(), tools)
	if err != nil {
		return plan{}, err
	}
	skillNames, err := store.Names()
	if err != nil {
		return plan{}, err
	}
	definitions, err := readAgents(ctx, a, tools, m, skillNames, log)
	if err != nil {
		return plan{}, err
	}
	if h.callbacks, err = newCallbacks(s.Webhooks, log); err != nil {
		return plan{}, err
	}
	team, abroad := opened.withRemotes(definitions, remotes)
	setup := agents.Setup{
		Model: opened.tasks.News(withBudget(m, s.Budget, opened.store, log)), Agents: withWindows(team, m), Tools: append(tools, abroad...), Policy: a.Policy(), PolicyKey: key, Log: log, Secrets: a.Secrets(),
		Holds: opened.desk, Scan: scan,
		Retention: retention.Policy{
			Threads: s.Retention.Threads, Ephemeral: s.Retention.Ephemeral, Events: s.Retention.Events, Size: s.Retention.Size,
		},
		Answers: agents.Answers{MaxBytes: int(s.Output.MaxBytes), Once: !s.Output.Retry},
		Limits: agents.Limits{
			Steps: s.Runtime.MaxSteps, Depth: s.Runtime.MaxDepth, Context: m.Window(""), Tokens: int64(s.Runtime.MaxTokens), Run: s.Runtime.RunTimeout, Tool: s.Runtime.Timeout,
			ParallelCalls: parallelCalls, ParallelRuns: s.Limits.ParallelRuns, RunsPerMinute: int64(s.Limits.RunsPerMinute),
		},
	}
	if s.Memory.Enabled {
		setup.Memory = known
	}
	if h.callbacks != nil {
		setup.Callbacks = h.callbacks
	}
	return plan{setup, definitions, store, known, remotes}, nil
}
