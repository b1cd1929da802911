package mcp

import (
	"context"
	"encoding/json"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/model"
)

// Agent makes the calls of clients.
const Agent = "mcp"

// client is whose words a call of a client is in: nobody's here.
const client = "mcp_client"

// Offer is the agent that makes the calls of clients, with what another one has.
func Offer(a agents.Agent) agents.Agent {
	return agents.Agent{
		Name: Agent, Description: "makes the calls of clients of the Model Context Protocol, with the tools of " + a.Name,
		Tools: a.Tools, Delegates: a.Delegates,
	}
}

// call is what a client wants to be called, as its run is told.
type call struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// message is the call as the first message of its run.
func (c call) message() (model.Message, error) {
	doc, err := json.Marshal(c)
	return model.Message{Role: model.RoleTool, Name: client, Content: string(doc)}, err
}

// dictated is a model whose turns for [Agent] are what clients want to be called.
type dictated struct{ model.Model }

// Model has m take the turns of all agents but [Agent].
func Model(m model.Model) model.Model { return dictated{m} }

// Turn implements [model.Model].
func (d dictated) Turn(ctx context.Context, req model.Request, delta func(string)) (model.Response, error) {
	if req.Agent != Agent {
		return d.Model.Turn(ctx, req, delta)
	}
	says := model.Message{Role: model.RoleAssistant, Content: "This agent makes the calls of MCP clients, and nothing else."}
	if n := len(req.Messages); n > 0 {
		var c call
		switch last := req.Messages[n-1]; {
		case last.Role == model.RoleTool && last.ToolCallID != "":
			says.Content = "The call is over."
		case last.Role == model.RoleTool && last.Name == client && json.Unmarshal([]byte(last.Content), &c) == nil:
			says = model.Message{Role: model.RoleAssistant, ToolCalls: []model.ToolCall{{ID: "call", Name: c.Name, Arguments: string(c.Arguments)}}}
		}
	}
	return model.Response{Message: says, Model: Agent}, nil
}
