package agents

import (
	"context"
	"encoding/json"
	"errors"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/model/router"
	"github.com/svc-gateway/svc/agents/remote"
	"github.com/svc-gateway/svc/agents/roster"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/caddymodule/app"
)

// loadAgents is what the record of agents that were read, or refused, has as its action.
const loadAgents = "agents.load"

// readAgents reads the agents of the program and of the data folder. An error refuses the configuration:
// a start ends, and a reload leaves the agents as they are. It is on record, too, since a file with an
// injection was written by somebody.
func readAgents(ctx context.Context, a *app.App, tools []agents.Tool, m *router.Router, skills []string, log *zap.Logger) ([]roster.Definition, error) {
	k := roster.Known{Models: m.Names(), Skills: skills, Later: prefixes(a.Settings().MCPServers())}
	for _, r := range a.Settings().AsyncSubagents() {
		k.Remote = append(k.Remote, remote.Name(r.Name))
	}
	for _, t := range tools {
		k.Tools = append(k.Tools, t.Name)
	}
	all, err := roster.Read(a.Home().Agents(), k)
	if err == nil {
		return all, nil
	}
	log.Error("the agents of the data folder were refused", zap.Error(err))
	return nil, errors.Join(err, a.Audit().Record(ctx, audit.Event{Type: audit.Admin, Action: loadAgents, Status: "error", Error: a.Secrets().Redact(err.Error())}))
}

// recordAgents puts on record which agents of the data folder count from now on.
func recordAgents(ctx context.Context, log *audit.Log, all []roster.Definition) error {
	type loaded struct {
		Name string `json:"name"`
		File string `json:"file"`
		Hash string `json:"sha256"`
	}
	var own []loaded
	for _, d := range all {
		if d.Own {
			own = append(own, loaded{d.Name, d.File, d.Hash})
		}
	}
	if len(own) == 0 {
		return nil
	}
	input, err := json.Marshal(map[string]any{"agents": own})
	if err != nil {
		return err
	}
	return log.Record(ctx, audit.Event{Type: audit.Admin, Action: loadAgents, Input: string(input), Status: "success"})
}
