// Package probe finds out whether a model is of use to agents: whether it answers, calls a tool as its schema says,
// and makes an answer of what the tool returned.
//
//	result := probe.Run(ctx, m)
//
// It asks two or three short questions, which a provider may charge for. Nothing has state; Run is safe for
// concurrent use.
package probe

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/svc-gateway/svc/agents/model"
)

// Question is what a model is asked.
const Question = "Call the tool echo with the text 'ping', and then say in a few words what it returned."

// echo is the tool that it is to call.
var echo = model.ToolSpec{
	Name: "echo", Description: "Returns an answer to a text.",
	Parameters: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string","description":"what to send"}},"required":["text"],"additionalProperties":false}`),
}

// Result is what was found out.
type Result struct {
	Model      string        // as the server calls it
	Answers    bool          // with text
	CallsTools bool          // with arguments that fit
	Streams    bool          // the text came in pieces
	FirstPiece time.Duration // of an answer, since it was asked for
	Took       time.Duration // all of it
	Tokens     int64
	Estimated  bool  // the server does not count tokens
	Err        error // why it is of no use; nil: it is
}

// What a model can be of no use for beside not being available.
var (
	ErrNoCall      = errors.New("it did not call the tool that it was asked to call: agents need a model, and a server, that can; take another model, or set the server up for tools")
	ErrWrongCall   = errors.New("it called the tool with a name or arguments that do not fit: agents would be denied such calls; take another model")
	ErrEmptyAnswer = errors.New("it answered the tool's result with nothing: take another model, or give its answers more tokens (max_output_tokens)")
)

// Run asks a model.
func Run(ctx context.Context, m model.Model) (r Result) {
	began := time.Now()
	defer func() { r.Took = time.Since(began) }()
	req := model.Request{
		Agent: "probe", System: "This is a test of the connection. Answer in a few words.", Tools: []model.ToolSpec{echo},
		Messages: []model.Message{{Role: model.RoleUser, Content: Question}},
	}
	called, err := r.turn(ctx, m, req)
	if err != nil {
		r.Err = err
		if errors.Is(err, model.ErrBadResponse) { // perhaps it knows no tools
			req.Tools = nil
			_, err := r.turn(ctx, m, req)
			r.Answers = err == nil
		}
		return r
	}
	calls := called.ToolCalls
	if len(calls) == 0 {
		r.Answers, r.Err = called.Content != "", ErrNoCall
		return r
	}
	req.Messages = append(req.Messages, called)
	for _, c := range calls {
		if !fits(c) {
			r.Err = ErrWrongCall
			return r
		}
		req.Messages = append(req.Messages, model.Message{Role: model.RoleTool, ToolCallID: c.ID, Name: c.Name, Status: "success", Content: "pong"})
	}
	r.CallsTools = true
	answer, err := r.turn(ctx, m, req)
	switch {
	case err != nil:
		r.Err = err
	case strings.TrimSpace(answer.Content) == "" && len(answer.ToolCalls) == 0:
		r.Err = ErrEmptyAnswer
	default:
		r.Answers = true
	}
	return r
}

// turn takes one turn and notes how it went.
func (r *Result) turn(ctx context.Context, m model.Model, req model.Request) (model.Message, error) {
	began, pieces := time.Now(), 0
	resp, err := m.Turn(ctx, req, func(string) {
		if pieces++; pieces == 1 && r.FirstPiece == 0 {
			r.FirstPiece = time.Since(began)
		}
	})
	if err != nil {
		return model.Message{}, err
	}
	r.Model, r.Streams = resp.Model, r.Streams || pieces > 1
	r.Tokens += resp.Usage.TotalTokens
	r.Estimated = r.Estimated || resp.Usage.Estimated
	return resp.Message, nil
}

func fits(c model.ToolCall) bool {
	var args struct {
		Text *string `json:"text"`
	}
	return c.Name == echo.Name && json.Unmarshal([]byte(c.Arguments), &args) == nil && args.Text != nil
}
