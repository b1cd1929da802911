package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/internal/health"
	"github.com/svc-gateway/svc/policy"
)

// Undeclared is the category of calls of tools whose action nobody has declared. A rule of the program has
// people asked for each.
const Undeclared = "undeclared_tool"

// Tools are the server's tools as agents have them now.
func (s *Server) Tools() []agents.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []agents.Tool
	for _, o := range s.usable() {
		all = append(all, s.tool(o))
	}
	return all
}

func (s *Server) tool(o Offer) agents.Tool {
	action, declared := s.c.Actions[o.Name]
	class := agents.Classification{Action: action, Where: "at the MCP server " + s.c.Name + " (" + s.c.where() + ")"}
	if !declared {
		class.Action, class.Categories = policy.Mutate, []string{Undeclared}
	}
	return agents.NewTool(agents.ToolDef{
		Name: FullName(s.c.Name, o.Name), Description: o.Description, Revision: s.c.revision(o), Parameters: o.Schema, Action: class.Action, Timeout: s.c.Timeout,
		Classify: func(map[string]any) agents.Classification { return class },
	}, func(ctx context.Context, _ agents.ToolContext, args map[string]any) (agents.Result, error) {
		return s.call(ctx, o, args)
	})
}

// Errors of calls, for the model.
var (
	errAway       = errors.New("the MCP server does not work now")
	errUnreadable = errors.New("the MCP server gave a result that cannot be read")
	errChanged    = errors.New("the MCP server has changed this tool, which waits for an administrator's approval")
)

// call has the server call a tool, if it is still the one that was approved.
func (s *Server) call(ctx context.Context, o Offer, args map[string]any) (agents.Result, error) {
	select {
	case <-s.begun:
	case <-ctx.Done():
		return agents.Result{}, context.Cause(ctx)
	}
	s.mu.Lock()
	ses, reason := s.session, s.reason
	approved := slices.ContainsFunc(s.usable(), func(u Offer) bool { return same(u, o) })
	s.mu.Unlock()
	switch {
	case !approved:
		return agents.Result{}, errChanged
	case ses == nil:
		return agents.Result{}, fmt.Errorf("%w (%s)", errAway, reason)
	}
	res, err := ses.CallTool(ctx, &sdk.CallToolParams{Name: o.Name, Arguments: args})
	if err != nil {
		if ctx.Err() != nil {
			return agents.Result{}, context.Cause(ctx)
		}
		if said, ok := errors.AsType[*jsonrpc.Error](err); ok && !ofTransport(said.Code) {
			return agents.Result{}, fmt.Errorf("the MCP server refused the call: %s", short(s.c.hide(said.Message), 2000))
		}
		s.Look()
		return agents.Result{}, s.failed(err, ses.why)
	}
	if res.NeedsInput() || res.InputRequests != nil {
		return agents.Result{}, errors.New("the MCP server asks for more than the arguments, which is not given")
	}
	text, cut := textOf(res)
	if res.IsError {
		return agents.Result{Text: text, Truncated: cut}, errors.New("the MCP server says that the call failed")
	}
	return agents.Result{Text: text, Truncated: cut}, nil
}

// failed is the error of a call that got no result, for the model.
func (s *Server) failed(err error, why func() error) error {
	_, answered := errors.AsType[*jsonrpc.Error](err)
	reason := s.reasonOf(because(err, why))
	if !answered && why() == nil && (reason == ReasonMalformed || reason == health.Refused) {
		return errUnreadable // the session goes on
	}
	return fmt.Errorf("%w (%s)", errAway, reason)
}

// ofTransport reports whether an error is the library's own, for a message that did not get through.
func ofTransport(code int64) bool {
	const clientClosing, serverClosing, rejected = -32003, -32004, -32005
	return code == clientClosing || code == serverClosing || code == rejected
}
