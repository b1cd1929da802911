package model

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

type openAI struct {
	*client
	chat         openai.ChatCompletionService
	usageRefused atomic.Bool // the server does not know stream_options
}

// NewOpenAI returns a Model behind an OpenAI-compatible server. It makes no request.
// An error names the setting that is wrong.
func NewOpenAI(c Config) (Model, error) {
	if err := c.check("/chat/completions", "http://127.0.0.1:11434/v1"); err != nil {
		return nil, err
	}
	o := &openAI{client: newClient(c, "often ends in /v1")}
	// NewChatCompletionService, unlike NewClient, takes nothing from the
	// environment, so that no OPENAI_* secret reaches a foreign base URL.
	opts := []option.RequestOption{option.WithBaseURL(c.BaseURL), option.WithHTTPClient(o.http), option.WithMaxRetries(0)}
	if key := c.APIKey.Reveal(); key != "" {
		opts = append(opts, option.WithAPIKey(key))
	}
	o.chat = openai.NewChatCompletionService(opts...)
	return o, nil
}

// Turn implements [Model].
func (o *openAI) Turn(ctx context.Context, req Request, delta func(string)) (Response, error) {
	params, err := o.params(req)
	if err != nil {
		return Response{}, err
	}
	return o.turn(ctx, delta, func(ctx context.Context, show func(string)) (Response, *Error) {
		return o.ask(ctx, req, params, show)
	})
}

// ask makes one request, or a second one without stream_options when the server
// does not know them.
func (o *openAI) ask(ctx context.Context, req Request, params openai.ChatCompletionNewParams, show func(string)) (Response, *Error) {
	if !o.usageRefused.Load() {
		params.StreamOptions.IncludeUsage = openai.Bool(true)
		res, x, failed := o.stream(ctx, req, params, show)
		if failed == nil || failed.Status == 0 || failed.Status >= 500 ||
			!strings.Contains(x.refusal, "stream_options") && !strings.Contains(x.refusal, "include_usage") {
			return res, failed
		}
		o.usageRefused.Store(true)
		params.StreamOptions = openai.ChatCompletionStreamOptionsParam{}
	}
	res, _, failed := o.stream(ctx, req, params, show)
	return res, failed
}
