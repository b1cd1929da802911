package settings

import (
	"fmt"

	"github.com/svc-gateway/svc/internal/reach"
)

// AsyncSubagent is a remote deployment that the orchestrator may delegate to.
type AsyncSubagent struct {
	// Name is the sub-agent's name without the prefix remote-, which it is shown with.
	Name string
	// Description tells the orchestrator what the sub-agent is for.
	Description string
	// URL is the address of the remote deployment.
	URL string
	// AssistantID is the assistant on the remote deployment.
	AssistantID string
	// APIKeyEnv is the name of the environment variable that holds the API key.
	APIKeyEnv string
	// Reach are addresses and networks that are not public and that the deployment may be at, see
	// [reach.ParseNetwork]. Default: none.
	Reach []string
	// CAFile is the absolute path of a PEM file with the authorities of the deployment's certificate.
	// Default: those of the system.
	CAFile string
}

// AsyncSubagents returns the remote sub-agents.
func (s Settings) AsyncSubagents() []AsyncSubagent { return asyncSubagents.of(s) }

var asyncSubagents = register(&objects[AsyncSubagent]{
	key: "async_subagents", block: "async_subagent", one: "a remote sub-agent",
	doc:  "agents of other services that agents may hand tasks to. See [remote-agents.md](remote-agents.md)",
	name: func(a *AsyncSubagent) *string { return &a.Name },
	fields: []field[AsyncSubagent]{
		text("description", "", "tells the orchestrator what the sub-agent is for",
			func(a *AsyncSubagent) *string { return &a.Description }, nil),
		text("url", "", "address of the remote deployment",
			func(a *AsyncSubagent) *string { return &a.URL }, checkURL).
			required("write the address of the remote deployment, such as https://agents.example.com"),
		text("assistant_id", "", "assistant on the remote deployment",
			func(a *AsyncSubagent) *string { return &a.AssistantID }, nil).
			required("write the name of the assistant on the remote deployment"),
		variable("api_key_env", "environment variable that holds the API key; never the key itself",
			func(a *AsyncSubagent) *string { return &a.APIKeyEnv }),
		list("reach", "", "addresses and networks that are not public and that the deployment may be at: `10.1.0.0/16`; an address alone opens that one also when it is this host's",
			func(a *AsyncSubagent) *[]string { return &a.Reach }, checkNetworks),
		text("ca_file", "", "absolute path of a PEM file with the authorities of the deployment's certificate; the system's when empty",
			func(a *AsyncSubagent) *string { return &a.CAFile }, checkFile),
	},
	complete: func(a *AsyncSubagent) error {
		if err := reach.CheckEndpoint(a.URL, a.APIKeyEnv != ""); err != nil {
			return fmt.Errorf("url: %w", err)
		}
		return nil
	},
})
