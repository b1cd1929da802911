package model

import (
	"context"
	"errors"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
)

// stream makes one request and reads its answer.
func (o *openAI) stream(ctx context.Context, req Request, params openai.ChatCompletionNewParams, show func(string)) (Response, *exchange, *Error) {
	r := reading{model: o.Model, calls: newAssembler(req), show: show}
	var stream *ssestream.Stream[openai.ChatCompletionChunk]
	x, failed := o.exchange(ctx, func(ctx context.Context, x *exchange) error {
		stream = o.chat.NewStreaming(ctx, params, option.WithMiddleware(x.watch))
		return stream.Err()
	}, func(x *exchange) *Error {
		if x.isDocument() {
			return r.whole(x)
		}
		return r.pieces(stream, x)
	})
	_ = stream.Close()
	if failed != nil {
		return Response{}, x, failed
	}
	return r.response(req), x, nil
}

// reading is an answer as far as it has come.
type reading struct {
	model  string
	text   strings.Builder
	calls  *assembler
	usage  openai.CompletionUsage
	finish string
	seen   bool // something was recognised as a chat completion
	show   func(string)

	refused bool // the model said why it does not answer
}

// pieces reads a stream to its end. It is whole when a finish reason or [DONE] was
// seen; what breaks after that does no harm.
func (r *reading) pieces(stream *ssestream.Stream[openai.ChatCompletionChunk], x *exchange) *Error {
	for stream.Next() {
		chunk := stream.Current()
		if chunk.Model != "" {
			r.model = chunk.Model
		}
		if chunk.JSON.Usage.Valid() {
			r.usage = chunk.Usage
		}
		for _, c := range chunk.Choices {
			if c.Index != 0 {
				continue
			}
			r.seen = true
			if c.FinishReason != "" {
				r.finish = c.FinishReason
			}
			r.say(c.Delta.Content)
			r.refused = r.refused || c.Delta.Refusal != ""
			r.say(c.Delta.Refusal)
			for _, t := range c.Delta.ToolCalls {
				if err := r.calls.add(t.Index, t.ID, t.Function.Name, t.Function.Arguments, t.Function.JSON.Arguments.Raw()); err != nil {
					return err
				}
			}
		}
		x.alive(r.finish != "")
	}
	err := stream.Err()
	_, isReport := errors.AsType[*ssestream.StreamError](err)
	switch {
	case r.finish != "" || x.body.done && r.seen:
		return r.check()
	case isReport:
		return unavailable("its server reported an error in the middle of the answer")
	}
	return x.incomplete(err, r.seen, "chat completion chunks")
}

// whole reads an answer of a server that does not stream.
func (r *reading) whole(x *exchange) *Error {
	var c openai.ChatCompletion
	if err := x.document(&c, "a chat completion"); err != nil {
		return err
	}
	if len(c.Choices) == 0 {
		return badResponse("it is not a chat completion")
	}
	if c.Model != "" {
		r.model = c.Model
	}
	r.usage, r.finish = c.Usage, c.Choices[0].FinishReason
	r.say(c.Choices[0].Message.Content)
	r.refused = c.Choices[0].Message.Refusal != ""
	r.say(c.Choices[0].Message.Refusal)
	if err := r.calls.addWhole(c.Choices[0].Message.ToolCalls); err != nil {
		return err
	}
	return r.check()
}

func (r *reading) say(text string) {
	if text != "" {
		r.text.WriteString(text)
		r.show(text)
	}
}

// check refuses an answer without content where the reason is not that the model
// had nothing to say.
func (r *reading) check() *Error {
	if r.text.Len() > 0 || len(r.calls.calls) > 0 {
		return nil
	}
	switch r.finish {
	case "length":
		return badResponse("it used up its tokens before it said anything")
	case "content_filter":
		return badResponse("its server filtered the whole answer")
	case "tool_calls", "function_call":
		return badResponse("it announced a tool call and made none")
	}
	return nil
}

func (r *reading) response(req Request) Response {
	m := Message{Role: RoleAssistant, Content: r.text.String(), ToolCalls: r.calls.done()}
	u := Usage{
		PromptTokens: tokens(r.usage.PromptTokens), CompletionTokens: tokens(r.usage.CompletionTokens), TotalTokens: tokens(r.usage.TotalTokens),
		CacheRead: tokens(r.usage.PromptTokensDetails.CachedTokens),
	}
	if u.TotalTokens == 0 {
		u.TotalTokens = u.PromptTokens + u.CompletionTokens
	}
	if u.TotalTokens <= 0 {
		u = EstimateUsage(req, messageSize(m))
	}
	return Response{Message: m, Usage: u, Model: r.model, Stop: r.stop()}
}

// stop is why the answer ends, by the reason that the server gives.
func (r *reading) stop() Stop {
	switch {
	case r.finish == "length":
		return StopLength
	case r.finish == "content_filter", r.refused:
		return StopRefused
	}
	return StopDone
}
