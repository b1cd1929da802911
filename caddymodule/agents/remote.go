package agents

import (
	"fmt"
	"net/netip"
	"os"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/remote"
	"github.com/svc-gateway/svc/agents/remote/protocol"
	"github.com/svc-gateway/svc/agents/roster"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/internal/certpool"
	"github.com/svc-gateway/svc/internal/health"
	"github.com/svc-gateway/svc/internal/reach"
	"github.com/svc-gateway/svc/internal/settings"
)

// newRemotes are the agents of other services that the settings name. None of them is asked for anything yet.
// One whose key is not there is as good as one that does not answer: it is skipped with a warning.
func (h *Handler) newRemotes(a *app.App, log *zap.Logger) ([]*remote.Remote, error) {
	var all []*remote.Remote
	for _, s := range a.Settings().AsyncSubagents() {
		key := os.Getenv(s.APIKeyEnv)
		if s.APIKeyEnv != "" && key == "" {
			log.Warn("a remote sub-agent is skipped: the environment variable of its key is empty; set it and start the service again",
				zap.String("agent", remote.Name(s.Name)), zap.String("variable", s.APIKeyEnv))
			continue
		}
		client, err := newRemoteClient(s, key)
		if err != nil {
			return nil, fmt.Errorf("async_subagents: %s: %w", s.Name, err)
		}
		set, end := a.Part(remote.Name(s.Name), "agent server")
		h.unwatch = append(h.unwatch, end)
		set(health.NewPart("agent server", time.Now(), "unreachable"))
		all = append(all, &remote.Remote{
			Name: s.Name, Description: s.Description, Assistant: s.AssistantID, Client: client,
			Tell: func(reason string) { set(health.NewPart("agent server", time.Now(), reason)) },
		})
	}
	return all, nil
}

func newRemoteClient(s settings.AsyncSubagent, key string) (*protocol.Client, error) {
	roots, err := certpool.Read(s.CAFile)
	if err != nil {
		return nil, fmt.Errorf("ca_file: %w", err)
	}
	var networks []netip.Prefix
	for _, text := range s.Reach {
		n, err := reach.ParseNetwork(text)
		if err != nil {
			return nil, fmt.Errorf("reach: %w", err)
		}
		networks = append(networks, n)
	}
	client, err := protocol.New(protocol.Config{URL: s.URL, Key: key, Networks: networks, Roots: roots})
	if err != nil {
		return nil, fmt.Errorf("url: %w", err)
	}
	return client, nil
}

// remoteNames are the names by which agents know remote ones.
func remoteNames(remotes []*remote.Remote) []string {
	var names []string
	for _, r := range remotes {
		names = append(names, remote.Name(r.Name))
	}
	return names
}

// withRemotes gives the tools of remote agents to the agents that may use some: those whose sub-agents list
// them and, for all of them, the orchestrator that is part of the program.
func (h *host) withRemotes(definitions []roster.Definition, remotes []*remote.Remote) ([]agents.Agent, []agents.Tool) {
	team := roster.Agents(definitions)
	if len(remotes) == 0 {
		return team, nil
	}
	may := map[string][]string{}
	for i, d := range definitions {
		names := d.Remote
		if d.Name == agents.Default && !d.Own {
			names = remoteNames(remotes)
		}
		if len(names) > 0 {
			may[d.Name] = names
			team[i].Tools = slices.Concat(team[i].Tools, remote.ToolNames())
		}
	}
	return team, h.tasks.Tools(remotes, func(agent, name string) bool { return slices.Contains(may[agent], remote.Name(name)) })
}
