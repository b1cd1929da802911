package model

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"
)

// exchange is one request, and its answer while it is read.
type exchange struct {
	answer  *http.Response
	body    *meter
	refusal string // what an answer other than 200 says, as far as it was read

	idle     *time.Timer
	patience time.Duration
}

// watch is a middleware of the providers' clients: it bounds what is read of the answer.
func (x *exchange) watch(r *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	a, err := next(r)
	if err == nil {
		limit := maxRefusal
		if a.StatusCode == http.StatusOK {
			limit = maxAnswer
		}
		x.answer, x.body = a, &meter{ReadCloser: a.Body, left: limit, tail: []byte("\n")}
		a.Body = x.body
	}
	return a, err
}

// isDocument reports whether the answer is one document, as of a server that does not stream.
func (x *exchange) isDocument() bool {
	media, _, _ := mime.ParseMediaType(x.answer.Header.Get("Content-Type"))
	return media == "application/json"
}

// document reads such an answer into v. what is what it should be.
func (x *exchange) document(v any, what string) *Error {
	data, err := io.ReadAll(x.body)
	if err != nil {
		return brokeOff()
	}
	if json.Unmarshal(data, v) != nil {
		return badResponse("it is not %s", what)
	}
	return nil
}

// incomplete says why a stream that ended with an error or with none is no answer; begun says that the beginning
// of one was seen, and what is what should have come.
func (x *exchange) incomplete(err error, begun bool, what string) *Error {
	switch {
	case x.body.over:
		return badResponse("it is longer than %d MiB", maxAnswer>>20)
	case x.body.err != nil || err == nil && (begun || x.body.n == 0):
		e := brokeOff()
		e.retry = true
		return e
	}
	return badResponse("it is not a stream of %s", what)
}

func brokeOff() *Error { return unavailable("its server broke off in the middle of the answer") }

// alive says that a piece of the answer came. After the last one little patience is left.
func (x *exchange) alive(last bool) {
	if last {
		x.idle.Reset(min(x.patience, doneGrace))
	} else {
		x.idle.Reset(x.patience)
	}
}

// exchange makes a request and reads its answer. send makes it with the middleware that it is given, and returns
// why there is no answer; read reads one with the status 200.
func (c *client) exchange(ctx context.Context, send func(context.Context, *exchange) error, read func(*exchange) *Error) (*exchange, *Error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	x := &exchange{patience: c.IdleTimeout}
	err := send(ctx, x)
	switch {
	case x.answer == nil:
		return x, connectionError(err)
	case x.answer.StatusCode != http.StatusOK:
		text, _ := io.ReadAll(io.LimitReader(x.answer.Body, maxRefusal)) // an unreadable body only tells less
		x.refusal = string(text)
		return x, c.statusError(x.answer.StatusCode, x.answer.Header, x.refusal)
	}
	x.idle = time.AfterFunc(c.IdleTimeout, func() { cancel(errIdle) })
	defer x.idle.Stop()
	failed := read(x)
	if failed != nil && errors.Is(context.Cause(ctx), errIdle) {
		failed = unavailable("it fell silent for %v in the middle of an answer", c.IdleTimeout)
		failed.kind = ErrTimeout
	}
	return x, failed
}
