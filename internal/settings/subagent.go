package settings

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
}

// AsyncSubagents returns the remote sub-agents.
func (s Settings) AsyncSubagents() []AsyncSubagent { return asyncSubagents.of(s) }

var asyncSubagents = register(&objects[AsyncSubagent]{
	key: "async_subagents", block: "async_subagent", one: "a remote sub-agent",
	doc:  "remote sub-agents. They are checked and have no effect yet",
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
	},
})
