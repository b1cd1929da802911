package model

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
)

// OpenAIConfig says where a model is and how long to be patient with it.
type OpenAIConfig struct {
	// BaseURL is the address of the API up to and without /chat/completions, for
	// example https://api.openai.com/v1 or http://127.0.0.1:11434/v1 (Ollama).
	// It must not contain credentials, a query or a fragment.
	BaseURL string
	// Model is the model's name as its server knows it.
	Model string
	// APIKey is sent as a Bearer token. Empty: no Authorization header.
	APIKey Secret
	// Timeout bounds one turn with all its attempts. Default 2 minutes.
	Timeout time.Duration
	// IdleTimeout bounds the silence between two pieces of an answer once it has
	// begun. Default 1 minute.
	IdleTimeout time.Duration
	// MaxRetries is how often a turn is asked again after a refused or broken
	// connection, 429, 500, 502 or 503, as long as nothing was given to delta.
	// Default 0.
	MaxRetries int
}

const (
	defaultTimeout     = 2 * time.Minute
	defaultIdleTimeout = time.Minute
	firstBackoff       = 250 * time.Millisecond
	longestBackoff     = 8 * time.Second
	doneGrace          = 2 * time.Second // after the finish reason: for usage and [DONE]
)

var (
	errTimeout = errors.New("turn deadline passed")
	errIdle    = errors.New("stream idle")
)

type openAI struct {
	name          string
	timeout, idle time.Duration
	retries       int
	chat          openai.ChatCompletionService
	usageRefused  atomic.Bool // the server does not know stream_options

	// wait sleeps between attempts; tests replace it.
	wait func(ctx context.Context, d time.Duration) error
}

// NewOpenAI returns a Model behind an OpenAI-compatible server. It makes no request.
// An error names the setting that is wrong.
func NewOpenAI(c OpenAIConfig) (Model, error) {
	base, err := baseURL(c.BaseURL)
	if err != nil {
		return nil, err
	}
	switch {
	case strings.TrimSpace(c.Model) == "":
		return nil, errors.New("model.name is empty; set it to a model that the server at model.base_url has")
	case strings.ContainsAny(c.APIKey.Reveal(), "\r\n\x00"):
		return nil, errors.New("the API key named by model.api_key_env contains a line break")
	case c.Timeout < 0, c.IdleTimeout < 0:
		return nil, errors.New("model.timeout is negative; set a duration such as 2m")
	case c.MaxRetries < 0:
		return nil, errors.New("model.max_retries is negative; set 0 or more")
	}
	o := &openAI{name: c.Model, timeout: c.Timeout, idle: c.IdleTimeout, retries: c.MaxRetries, wait: sleep}
	if o.timeout == 0 {
		o.timeout = defaultTimeout
	}
	if o.idle == 0 {
		o.idle = defaultIdleTimeout
	}

	client := &http.Client{
		Transport: http.DefaultTransport.(*http.Transport).Clone(),
		// A redirect would carry the conversation, perhaps the key, to an address
		// nobody configured.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	// NewChatCompletionService, unlike NewClient, takes nothing from the
	// environment, so that no OPENAI_* secret reaches a foreign base URL.
	opts := []option.RequestOption{option.WithBaseURL(base), option.WithHTTPClient(client), option.WithMaxRetries(0)}
	if key := c.APIKey.Reveal(); key != "" {
		opts = append(opts, option.WithAPIKey(key))
	}
	o.chat = openai.NewChatCompletionService(opts...)
	return o, nil
}

// baseURL checks an API address. No error repeats the address: it may hold a secret.
func baseURL(s string) (string, error) {
	u, err := url.Parse(s)
	switch {
	case s == "":
		return "", errors.New("model.base_url is empty; set the address of an OpenAI-compatible API, for example http://127.0.0.1:11434/v1")
	case err != nil:
		return "", errors.New("model.base_url is not a URL; an example is http://127.0.0.1:11434/v1")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return "", errors.New("model.base_url must begin with http:// or https:// and a host")
	case u.User != nil:
		return "", errors.New("model.base_url contains credentials; put the key into the environment variable named by model.api_key_env")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", errors.New("model.base_url must not have a query or a fragment")
	case strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions"):
		return "", errors.New("model.base_url must end before /chat/completions")
	}
	return strings.TrimRight(u.String(), "/") + "/", nil
}

// Name returns the configured model name.
func (o *openAI) Name() string { return o.name }

// Turn asks the server, again where that may help and nothing was shown yet.
func (o *openAI) Turn(ctx context.Context, req Request, delta func(string)) (Response, error) {
	params, err := o.params(req)
	if err != nil {
		return Response{}, err
	}
	shown := false
	show := func(text string) {
		shown = true
		if delta != nil {
			delta(text)
		}
	}
	turn, cancel := context.WithTimeoutCause(ctx, o.timeout, errTimeout)
	defer cancel()
	for attempt := 1; ; attempt++ {
		res, failed := o.ask(turn, req, params, show)
		if failed == nil {
			return res, nil
		}
		if err := context.Cause(ctx); err != nil {
			return Response{}, fmt.Errorf("asking the model: %w: %w", ctx.Err(), err)
		}
		failed.Attempts = attempt
		if turn.Err() != nil {
			failed.kind, failed.reason = ErrTimeout, fmt.Sprintf("it took longer than %v (model.timeout)", o.timeout)
			return Response{}, failed
		}
		if shown || !failed.retry || attempt > o.retries {
			return Response{}, failed
		}
		pause := backoff(attempt)
		if failed.waits {
			pause = failed.retryAfter
		}
		if deadline, ok := turn.Deadline(); ok && time.Until(deadline) <= pause {
			failed.reason += fmt.Sprintf("; it may be asked again in %v, after model.timeout", pause.Round(time.Second))
			return Response{}, failed
		}
		if o.wait(turn, pause) != nil {
			continue // the next attempt reports which deadline or cancellation it was
		}
	}
}

// backoff doubles from 250 ms to 8 s, less up to a quarter so that many runs that
// failed together do not come back together.
func backoff(attempt int) time.Duration {
	d := min(firstBackoff<<min(attempt-1, 10), longestBackoff)
	return d - rand.N(d/4)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
