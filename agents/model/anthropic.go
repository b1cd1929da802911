package model

import (
	"context"
	"errors"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

// anthropicOutput is how many tokens an answer may have where the settings do not say: the protocol wants a number.
const anthropicOutput = 8192

type anthropicModel struct {
	*client
	messages anthropic.MessageService
	by       string // whose thoughts are sent back
}

// NewAnthropic returns a Model behind a server that speaks Anthropic's messages protocol. It makes no request.
// An error names the setting that is wrong.
//
// What is the same at each turn (tools, system prompt, the conversation so far) is marked, so that the server
// keeps it. Thoughts are kept whole with their message, see [Thinking], and go back to the same model at the
// same server only.
func NewAnthropic(c Config) (Model, error) {
	if err := c.check("/v1/messages", "https://api.anthropic.com"); err != nil {
		return nil, err
	}
	switch {
	case strings.HasSuffix(c.BaseURL, "/v1/"):
		return nil, errors.New(c.field("base_url") + " must end before /v1")
	case c.Thinking > 0 && c.Thinking < 1024:
		return nil, errors.New(c.field("thinking") + " is too little; set off, adaptive or 1024 and more")
	}
	if c.MaxOutput == 0 {
		c.MaxOutput = anthropicOutput
	}
	a := &anthropicModel{client: newClient(c, "is often the name of the server alone"), by: "anthropic " + c.Model + " " + c.BaseURL}
	// A service by itself takes nothing from the environment; the mark says so to whoever makes a client of it.
	opts := []option.RequestOption{
		option.WithoutEnvironmentDefaults(), option.WithBaseURL(c.BaseURL), option.WithHTTPClient(a.http), option.WithMaxRetries(0),
	}
	if key := c.APIKey.Reveal(); key != "" {
		opts = append(opts, option.WithAPIKey(key))
	}
	a.messages = anthropic.NewMessageService(opts...)
	return a, nil
}

// Turn implements [Model].
func (a *anthropicModel) Turn(ctx context.Context, req Request, delta func(string)) (Response, error) {
	params, err := a.params(req)
	if err != nil {
		return Response{}, err
	}
	return a.turn(ctx, delta, func(ctx context.Context, show func(string)) (Response, *Error) {
		return a.stream(ctx, req, params, show)
	})
}
