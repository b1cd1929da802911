package classifier

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/scanner"
)

// Rule is the rule of all findings of classifiers.
const Rule = "classifier"

// The results of calls, for metrics.
const (
	ResultOK       = "ok"
	ResultFailed   = "failed"   // no connection, or it broke
	ResultTimeout  = "timeout"  // no answer in time
	ResultStatus   = "status"   // an answer other than 200
	ResultAnswer   = "answer"   // an answer that is not understood
	ResultBusy     = "busy"     // too many other calls were on their way; the server was not asked
	ResultOpen     = "open"     // the server is left alone
	ResultCanceled = "canceled" // whoever wanted to know is gone
)

// Error is why a classifier did not tell.
type Error struct {
	Result string // one of the constants Result… other than ResultOK
	err    error
	wait   time.Duration // how long the server has asked to be left alone
}

func (e *Error) Error() string { return "asking the classifier: " + e.err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.err }

var (
	errBusy = errors.New("too many calls are on their way")
	errOpen = errors.New("it has failed again and again and is left alone for a while")
)

// Observer is told of each call: its result, one of the constants Result…, how long it took, and whether the
// server is left alone after it.
type Observer func(result string, took time.Duration, open bool)

// Classifier asks a server. Make it with [New].
type Classifier struct {
	c       Config
	client  *http.Client
	places  chan struct{}
	breaker breaker

	mu    sync.Mutex
	names map[scanner.Category]bool // of categories that have come up
}

// New returns a classifier that is ready.
func New(c Config) (*Classifier, error) {
	c = c.complete()
	if err := c.Check(); err != nil {
		return nil, err
	}
	client, err := newClient(c)
	if err != nil {
		return nil, err
	}
	return &Classifier{
		c: c, client: client, places: make(chan struct{}, c.Calls), names: map[scanner.Category]bool{},
		breaker: breaker{after: c.Failures, pause: c.Pause},
	}, nil
}

// Close lets go of the connections.
func (c *Classifier) Close() { c.client.CloseIdleConnections() }

// Classify asks about a text. The findings that are there count even where there is an error, which is an
// [*Error]. observe may be nil.
func (c *Classifier) Classify(ctx context.Context, text string, observe Observer) ([]scanner.Finding, error) {
	var partly []scanner.Finding
	if whole := len(text); whole > c.c.MaxText {
		partly = append(partly, c.PartlyScanned())
		text = text[:min(whole, c.c.MaxText+margin)] // half a credential is none to who redacts
	}
	if !c.c.Unchanged {
		text = c.c.Secrets.Redact(text)
	}
	text = text[:min(len(text), c.c.MaxText)]
	found, err := c.askAll(ctx, text, observe)
	return append(found, partly...), err
}

// askAll asks about the pieces of a text that may be sent.
func (c *Classifier) askAll(ctx context.Context, text string, observe Observer) (found []scanner.Finding, err error) {
	for _, piece := range pieces(text, c.c.Piece) {
		more, err := c.ask(ctx, piece, observe)
		found = append(found, more...)
		if err != nil {
			return found, err
		}
	}
	return found, nil
}

// ask asks about one piece.
func (c *Classifier) ask(ctx context.Context, piece string, observe Observer) ([]scanner.Finding, error) {
	began := time.Now()
	trial, ok := c.breaker.enter(began)
	if !ok {
		c.observed(observe, ResultOpen, began)
		return nil, &Error{Result: ResultOpen, err: errOpen}
	}
	verdicts, err := c.call(ctx, piece)
	if err != nil && ctx.Err() != nil {
		err = &Error{Result: ResultCanceled, err: ctx.Err()}
	}
	c.took(err, trial)
	if err != nil {
		c.observed(observe, err.Result, began)
		return nil, err
	}
	c.observed(observe, ResultOK, began)
	return c.findings(piece, verdicts), nil
}

// took tells the breaker and the log what became of a call. The log has the first failure of several in a
// row, that the server is left alone, and that it answers again.
func (c *Classifier) took(err *Error, trial bool) {
	f, wait := worked, time.Duration(0)
	if err != nil {
		f, wait = failed, err.wait
		if err.Result == ResultBusy || err.Result == ResultCanceled {
			f = untold
		}
	}
	before, changed := c.breaker.done(time.Now(), trial, f, wait)
	switch {
	case f == worked && (changed || before > 0):
		c.c.Log.Info("the classifier answers again")
	case f == failed && changed:
		c.c.Log.Warn("the classifier has failed and is left alone for a while", zap.Error(err))
	case f == failed && before == 0:
		c.c.Log.Warn("the classifier has failed", zap.Error(err))
	}
}

func (c *Classifier) observed(observe Observer, result string, began time.Time) {
	if observe != nil {
		observe(result, time.Since(began), c.breaker.open())
	}
}

// PartlyScanned is the finding that tells of texts of which no more than their beginning was sent.
func (c *Classifier) PartlyScanned() scanner.Finding {
	return scanner.Finding{
		Category: scanner.PartlyScanned, Rule: Rule, Confidence: scanner.High, Start: c.c.MaxText, End: c.c.MaxText,
		Excerpt: fmt.Sprintf("the classifier was sent the first %d bytes", c.c.MaxText), View: scanner.ViewText,
	}
}

// MaxText is how many bytes of a text are sent.
func (c *Classifier) MaxText() int { return c.c.MaxText }
