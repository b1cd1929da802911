package model

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
)

const (
	firstBackoff = 250 * time.Millisecond
	longBackoff  = 8 * time.Second
	doneGrace    = 2 * time.Second // after the finish reason: for usage and the mark of the end
	maxAnswer    = 32 << 20        // bytes read of one answer
	maxRefusal   = 64 << 10        // bytes read of an error
)

var (
	errTimeout = errors.New("turn deadline passed")
	errIdle    = errors.New("stream idle")
)

// client is what all models behind a server have in common: patience, and bounds.
type client struct {
	Config
	hint string // what addresses of such servers look like
	http *http.Client

	// wait sleeps between attempts; tests replace it.
	wait func(ctx context.Context, d time.Duration) error
}

// newClient returns the client of a configuration that was checked.
func newClient(c Config, hint string) *client {
	return &client{Config: c, hint: hint, wait: sleep, http: &http.Client{
		Transport: http.DefaultTransport.(*http.Transport).Clone(),
		// A redirect would carry the conversation, perhaps the key, to an address
		// nobody configured.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Name returns the configured model name.
func (c *client) Name() string { return c.Model }

// turn asks the server, again where that may help and nothing was shown yet.
func (c *client) turn(ctx context.Context, delta func(string), ask func(ctx context.Context, show func(string)) (Response, *Error)) (Response, error) {
	shown, unasked := false, true
	show := func(text string) {
		shown = true
		if delta != nil {
			delta(text)
		}
	}
	turn, cancel := context.WithTimeoutCause(ctx, c.Timeout, errTimeout)
	defer cancel()
	for attempt := 1; ; attempt++ {
		res, failed := ask(turn, show)
		if failed == nil {
			return res, nil
		}
		if err := context.Cause(ctx); err != nil {
			return Response{}, fmt.Errorf("asking the model: %w: %w", ctx.Err(), err)
		}
		unasked = unasked && failed.unasked // by any attempt
		failed.Attempts, failed.unasked = attempt, unasked
		if turn.Err() != nil {
			failed.kind, failed.reason = ErrTimeout, fmt.Sprintf("it took longer than %v (%s)", c.Timeout, c.field("timeout"))
			return Response{}, failed
		}
		if shown || !failed.retry || attempt > c.MaxRetries {
			return Response{}, failed
		}
		pause := backoff(attempt)
		if failed.waits {
			pause = failed.retryAfter
		}
		if deadline, ok := turn.Deadline(); ok && time.Until(deadline) <= pause {
			failed.reason += fmt.Sprintf("; it may be asked again in %v, after %s", pause.Round(time.Second), c.field("timeout"))
			return Response{}, failed
		}
		if c.wait(turn, pause) != nil {
			continue // the next attempt reports which deadline or cancellation it was
		}
	}
}

// backoff doubles from 250 ms to 8 s, less up to a quarter so that many runs that
// failed together do not come back together.
func backoff(attempt int) time.Duration {
	d := min(firstBackoff<<min(attempt-1, 10), longBackoff)
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
