package model

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
)

// params puts a Request into the protocol's form, which takes user and assistant turns one after the other: the
// results of calls are the beginning of the user's turn. What the protocol refuses a whole conversation for
// (empty texts, odd names, arguments that are no object) is made acceptable here.
func (a *anthropicModel) params(req Request) (anthropic.MessageNewParams, error) {
	p := anthropic.MessageNewParams{Model: a.Model, MaxTokens: int64(a.MaxOutput)}
	if req.System != "" {
		p.System = append(p.System, anthropic.TextBlockParam{Text: req.System})
	}
	var c conversation
	for i, m := range req.Messages {
		switch m.Role {
		case RoleSystem:
			p.System = append(p.System, anthropic.TextBlockParam{Text: m.Content})
		case RoleUser:
			c.add(anthropic.MessageParamRoleUser, texts(m.Content)...)
		case RoleTool:
			c.add(anthropic.MessageParamRoleUser, toolResult(m))
		case RoleAssistant:
			c.add(anthropic.MessageParamRoleAssistant, a.blocks(m)...)
		default:
			return p, fmt.Errorf("message %d has the unknown role %q", i, m.Role)
		}
	}
	if len(req.Messages) == 0 {
		return p, fmt.Errorf("the conversation has no messages")
	}
	c.finish()
	p.Messages = c.list
	for _, t := range req.Tools {
		tool, err := toolParam(t)
		if err != nil {
			return p, err
		}
		p.Tools = append(p.Tools, anthropic.ToolUnionParam{OfTool: tool})
	}
	a.think(&p)
	keep(&p)
	return p, nil
}

// conversation is the messages of a request as they are put together.
type conversation struct{ list []anthropic.MessageParam }

// add appends blocks to the turn of a role, which it begins where the other role had the last one.
func (c *conversation) add(role anthropic.MessageParamRole, blocks ...anthropic.ContentBlockParamUnion) {
	if len(blocks) == 0 {
		return
	}
	if n := len(c.list); n > 0 && c.list[n-1].Role == role {
		c.list[n-1].Content = append(c.list[n-1].Content, blocks...)
		return
	}
	c.list = append(c.list, anthropic.MessageParam{Role: role, Content: blocks})
}

// finish has the user begin and end: the protocol wants the one, and takes an answer at the end for the beginning
// of its own.
func (c *conversation) finish() {
	user := anthropic.MessageParamRoleUser
	if len(c.list) == 0 || c.list[0].Role != user {
		c.list = append([]anthropic.MessageParam{{Role: user, Content: texts("(The conversation goes on.)")}}, c.list...)
	}
	if c.list[len(c.list)-1].Role != user {
		c.add(user, texts("Go on.")...)
	}
}

func texts(text string) []anthropic.ContentBlockParamUnion {
	if strings.TrimSpace(text) == "" {
		return nil // the protocol knows no empty text
	}
	return []anthropic.ContentBlockParamUnion{anthropic.NewTextBlock(text)}
}

func toolUse(c ToolCall) anthropic.ContentBlockParamUnion {
	return anthropic.NewToolUseBlock(wireName(c.ID), json.RawMessage(wireArguments(c.Arguments)), wireName(c.Name))
}

func toolResult(m Message) anthropic.ContentBlockParamUnion {
	r := anthropic.ToolResultBlockParam{ToolUseID: wireName(m.ToolCallID)}
	if m.Status != "" && m.Status != "success" {
		r.IsError = anthropic.Bool(true)
	}
	if strings.TrimSpace(m.Content) != "" {
		r.Content = []anthropic.ToolResultBlockParamContentUnion{{OfText: &anthropic.TextBlockParam{Text: m.Content}}}
	}
	return anthropic.ContentBlockParamUnion{OfToolResult: &r}
}

func toolParam(t ToolSpec) (*anthropic.ToolParam, error) {
	schema := t.Parameters
	if len(schema) == 0 {
		schema = json.RawMessage(`{"type":"object"}`)
	}
	if !isObject(string(schema)) {
		return nil, fmt.Errorf("reading the parameter schema of tool %s: it is no JSON object", t.Name)
	}
	return &anthropic.ToolParam{
		Name: t.Name, Description: anthropic.String(t.Description), InputSchema: param.Override[anthropic.ToolInputSchemaParam](schema),
	}, nil
}

// keep marks what the server is to keep for the next turn: the tools, the system prompt, and the conversation.
func keep(p *anthropic.MessageNewParams) {
	mark := anthropic.NewCacheControlEphemeralParam()
	if n := len(p.Tools); n > 0 {
		p.Tools[n-1].OfTool.CacheControl = mark
	}
	if n := len(p.System); n > 0 {
		p.System[n-1].CacheControl = mark
	}
	last := p.Messages[len(p.Messages)-1].Content // the user's: texts and results
	if at := last[len(last)-1].GetCacheControl(); at != nil {
		*at = mark
	}
}
