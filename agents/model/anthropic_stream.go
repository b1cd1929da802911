package model

import (
	"context"
	"errors"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"
)

const maxBlocks = 1000 // of one answer

// stream makes one request and reads its answer.
func (a *anthropicModel) stream(ctx context.Context, req Request, params anthropic.MessageNewParams, show func(string)) (Response, *Error) {
	r := anthropicReading{model: a.Model, calls: newAssembler(req), show: show}
	var stream *ssestream.Stream[anthropic.MessageStreamEventUnion]
	_, failed := a.exchange(ctx, func(ctx context.Context, x *exchange) error {
		stream = a.messages.NewStreaming(ctx, params, option.WithMiddleware(x.watch))
		return stream.Err()
	}, func(x *exchange) *Error {
		if x.isDocument() {
			return r.whole(x)
		}
		return r.pieces(stream, x)
	})
	_ = stream.Close()
	if failed != nil {
		return Response{}, failed
	}
	m := Message{Role: RoleAssistant, Content: r.text.String(), ToolCalls: r.calls.done(), Thinking: a.kept(r.blocks)}
	return Response{Message: m, Usage: r.used(req, m), Model: r.model, Stop: r.stopped()}, nil
}

// stopped is why the answer ends.
func (r *anthropicReading) stopped() Stop {
	switch r.stop {
	case anthropic.StopReasonMaxTokens, anthropic.StopReasonModelContextWindowExceeded:
		return StopLength
	case anthropic.StopReasonRefusal:
		return StopRefused
	}
	return StopDone
}

// anthropicReading is an answer as far as it has come.
type anthropicReading struct {
	model   string
	blocks  []*anthropicBlock // in the order in which they began; their indices are their places
	text    strings.Builder
	calls   *assembler
	thought int // bytes
	usage   struct{ input, output, cacheRead, cacheWritten int64 }
	stop    anthropic.StopReason
	ended   bool
	show    func(string)
}

// pieces reads a stream to its end. It is whole when the reason for the end was seen; what breaks after that does
// no harm.
func (r *anthropicReading) pieces(stream *ssestream.Stream[anthropic.MessageStreamEventUnion], x *exchange) *Error {
	for !r.ended && stream.Next() {
		if err := r.event(stream.Current()); err != nil {
			return err
		}
		x.alive(r.stop != "")
	}
	err := stream.Err()
	said, isReport := errors.AsType[*anthropic.Error](err)
	switch {
	case r.stop != "":
		return r.check()
	case isReport:
		e := unavailable("its server reported an error in the middle of the answer")
		if kind := said.Type(); kind == anthropic.ErrorTypeOverloadedError || kind == anthropic.ErrorTypeAPIError || kind == anthropic.ErrorTypeRateLimitError {
			e.retry = true
		}
		return e
	}
	return x.incomplete(err, len(r.blocks) > 0, "message events")
}

// event takes one event of a stream.
func (r *anthropicReading) event(e anthropic.MessageStreamEventUnion) *Error {
	switch e.Type {
	case "message_start":
		r.begin(e.Message)
	case "content_block_start":
		if e.Index != int64(len(r.blocks)) || e.Index >= maxBlocks {
			return badResponse("its blocks are out of order")
		}
		b := e.ContentBlock
		return r.open(b.Type, b.Text, b.Thinking, b.Signature, b.Data, b.ID, b.Name, b.JSON.Input.Raw())
	case "content_block_delta":
		if e.Index < 0 || e.Index >= int64(len(r.blocks)) {
			return badResponse("it goes on with a block that it did not begin")
		}
		return r.more(int(e.Index), e.Delta)
	case "message_delta":
		r.stop = e.Delta.StopReason
		u := e.Usage
		r.count(u.InputTokens, u.OutputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens)
	case "message_stop":
		r.ended = true
	}
	return nil
}

func (r *anthropicReading) begin(m anthropic.Message) {
	if m.Model != "" {
		r.model = m.Model
	}
	u := m.Usage
	r.count(u.InputTokens, u.OutputTokens, u.CacheReadInputTokens, u.CacheCreationInputTokens)
}

// count takes what the server counted so far; a count that is not there leaves the one before.
func (r *anthropicReading) count(input, output, cacheRead, cacheWritten int64) {
	for _, c := range []struct {
		at *int64
		n  int64
	}{{&r.usage.input, input}, {&r.usage.output, output}, {&r.usage.cacheRead, cacheRead}, {&r.usage.cacheWritten, cacheWritten}} {
		*c.at = max(*c.at, tokens(c.n))
	}
}

// open begins a block. Those of kinds that were not asked for are passed over.
func (r *anthropicReading) open(kind, text, thinking, signature, data, id, name, input string) *Error {
	b := &anthropicBlock{kind: kind, signature: signature, data: data}
	r.blocks = append(r.blocks, b)
	switch kind {
	case "text":
		r.say(b, text)
	case "thinking", "redacted_thinking":
		b.text.WriteString(thinking)
		return r.ponder(len(thinking) + len(signature) + len(data))
	case "tool_use":
		if input == "{}" || !isObject(input) {
			input = "" // it comes in pieces
		}
		return r.calls.add(int64(len(r.blocks)-1), id, name, input, "")
	}
	return nil
}

// more goes on with a block.
func (r *anthropicReading) more(i int, d anthropic.MessageStreamEventUnionDelta) *Error {
	b := r.blocks[i]
	switch {
	case b.kind == "text" && d.Type == "text_delta":
		r.say(b, d.Text)
	case b.kind == "thinking" && d.Type == "thinking_delta":
		b.text.WriteString(d.Thinking)
		return r.ponder(len(d.Thinking))
	case b.kind == "thinking" && d.Type == "signature_delta":
		b.signature += d.Signature
		return r.ponder(len(d.Signature))
	case b.kind == "tool_use" && d.Type == "input_json_delta":
		return r.calls.add(int64(i), "", "", d.PartialJSON, "")
	}
	return nil
}

func (r *anthropicReading) say(b *anthropicBlock, text string) {
	if text != "" {
		b.text.WriteString(text)
		r.text.WriteString(text)
		r.show(text)
	}
}

// ponder counts bytes of thoughts. They are kept whole or not at all.
func (r *anthropicReading) ponder(n int) *Error {
	if r.thought += n; r.thought > maxThinking {
		return badResponse("its thoughts are longer than %d KiB", maxThinking>>10)
	}
	return nil
}

// whole reads an answer of a server that does not stream.
func (r *anthropicReading) whole(x *exchange) *Error {
	var m anthropic.Message
	if err := x.document(&m, "a message"); err != nil {
		return err
	}
	if m.Role != "assistant" || len(m.Content) > maxBlocks {
		return badResponse("it is not a message")
	}
	r.begin(m)
	r.stop = m.StopReason
	for _, b := range m.Content {
		if err := r.open(b.Type, b.Text, b.Thinking, b.Signature, b.Data, b.ID, b.Name, string(b.Input)); err != nil {
			return err
		}
	}
	return r.check()
}

// check refuses an answer without content where the reason is not that the model had nothing to say.
func (r *anthropicReading) check() *Error {
	if r.text.Len() > 0 || len(r.calls.calls) > 0 {
		return nil
	}
	switch r.stop {
	case anthropic.StopReasonMaxTokens:
		return badResponse("it used up its tokens before it said anything")
	case anthropic.StopReasonModelContextWindowExceeded:
		return badResponse("the conversation is too long for the model")
	case anthropic.StopReasonRefusal:
		return badResponse("its server refused to answer")
	case anthropic.StopReasonToolUse:
		return badResponse("it announced a tool call and made none")
	default:
		return nil
	}
}

// used is what the turn cost. The protocol counts what was kept from earlier turns apart.
func (r *anthropicReading) used(req Request, m Message) Usage {
	u := r.usage
	if u.input+u.output <= 0 {
		return EstimateUsage(req, messageSize(m))
	}
	prompt := u.input + u.cacheRead + u.cacheWritten
	return Usage{
		PromptTokens: prompt, CompletionTokens: u.output, TotalTokens: prompt + u.output, CacheRead: u.cacheRead, CacheWritten: u.cacheWritten,
	}
}
