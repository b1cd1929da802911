package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
)

const (
	maxAnswer    = 32 << 20 // bytes read of one answer
	maxErrorBody = 64 << 10 // bytes read of an error
)

// ask makes one request, or a second one without stream_options when the server
// does not know them.
func (o *openAI) ask(ctx context.Context, req Request, params openai.ChatCompletionNewParams, show func(string)) (Response, *Error) {
	if !o.usageRefused.Load() {
		params.StreamOptions.IncludeUsage = openai.Bool(true)
		res, err, refused := o.stream(ctx, req, params, show)
		if !refused {
			return res, err
		}
		o.usageRefused.Store(true)
		params.StreamOptions = openai.ChatCompletionStreamOptionsParam{}
	}
	res, err, _ := o.stream(ctx, req, params, show)
	return res, err
}

// stream makes one request and reads its answer. refused says that the server
// named stream_options as what it does not accept.
func (o *openAI) stream(ctx context.Context, req Request, params openai.ChatCompletionNewParams, show func(string)) (res Response, failed *Error, refused bool) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var answer *http.Response
	var body *meter
	watch := func(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		a, err := next(r)
		if err == nil {
			limit := maxErrorBody
			if a.StatusCode == http.StatusOK {
				limit = maxAnswer
			}
			answer, body = a, &meter{ReadCloser: a.Body, left: limit, tail: []byte("\n")}
			a.Body = body
		}
		return a, err
	}
	stream := o.chat.NewStreaming(ctx, params, option.WithMiddleware(watch))
	defer func() { _ = stream.Close() }()
	switch {
	case answer == nil:
		return Response{}, connectionError(stream.Err()), false
	case answer.StatusCode != http.StatusOK:
		text, _ := io.ReadAll(io.LimitReader(answer.Body, maxErrorBody)) // an unreadable body only tells less
		known := params.StreamOptions.IncludeUsage.Valid() && answer.StatusCode < 500 &&
			(bytes.Contains(text, []byte("stream_options")) || bytes.Contains(text, []byte("include_usage")))
		return Response{}, statusError(answer.StatusCode, answer.Header, string(text)), known
	}
	idle := time.AfterFunc(o.idle, func() { cancel(errIdle) })
	defer idle.Stop()
	r := reading{model: o.name, calls: newAssembler(req), show: show}
	if media, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); media == "application/json" {
		failed = r.whole(body)
	} else {
		failed = r.pieces(stream, body, func() {
			if r.finish != "" {
				idle.Reset(min(o.idle, doneGrace))
			} else {
				idle.Reset(o.idle)
			}
		})
	}
	if failed != nil && errors.Is(context.Cause(ctx), errIdle) {
		failed = unavailable("it fell silent for %v in the middle of an answer", o.idle)
		failed.kind = ErrTimeout
	}
	if failed != nil {
		return Response{}, failed, false
	}
	return r.response(req), nil, false
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
func (r *reading) pieces(stream *ssestream.Stream[openai.ChatCompletionChunk], body *meter, alive func()) *Error {
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
		alive()
	}
	var reported *ssestream.StreamError
	err := stream.Err()
	switch {
	case r.finish != "" || body.done && r.seen:
		return r.check()
	case errors.As(err, &reported):
		return unavailable("its server reported an error in the middle of the answer")
	case body.over:
		return badResponse("it is longer than %d MiB", maxAnswer>>20)
	case body.err != nil || err == nil && (r.seen || body.n == 0):
		e := unavailable("its server broke off in the middle of the answer")
		e.retry = true
		return e
	}
	return badResponse("it is not a stream of chat completion chunks")
}

// whole reads an answer of a server that does not stream.
func (r *reading) whole(body io.Reader) *Error {
	data, err := io.ReadAll(body)
	if err != nil {
		return unavailable("its server broke off in the middle of the answer")
	}
	var c openai.ChatCompletion
	if json.Unmarshal(data, &c) != nil || len(c.Choices) == 0 {
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
	u := Usage{PromptTokens: r.usage.PromptTokens, CompletionTokens: r.usage.CompletionTokens, TotalTokens: r.usage.TotalTokens}
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

// meter reads a body up to a limit and notices the end-of-stream mark, which the
// stream's decoder swallows.
type meter struct {
	io.ReadCloser
	left, n    int
	tail       []byte
	done, over bool
	err        error // why reading ended, when not with io.EOF
}

// The mark stands on a line of its own: inside a JSON string there is no line break.
var doneMarks = [][]byte{[]byte("\ndata: [DONE]"), []byte("\ndata:[DONE]")}

// Read implements io.Reader.
func (m *meter) Read(p []byte) (int, error) {
	if m.left <= 0 {
		m.over = true
		return 0, io.EOF
	}
	n, err := m.ReadCloser.Read(p[:min(len(p), m.left)])
	m.left, m.n = m.left-n, m.n+n
	if !m.done && n > 0 {
		m.tail = append(m.tail, p[:n]...)
		m.done = bytes.Contains(m.tail, doneMarks[0]) || bytes.Contains(m.tail, doneMarks[1])
		m.tail = append(m.tail[:0], m.tail[max(0, len(m.tail)-len(doneMarks[0])):]...)
	}
	if err != nil && err != io.EOF {
		m.err = err
	}
	return n, err
}
