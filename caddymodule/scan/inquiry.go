package scan

import (
	"context"

	"github.com/svc-gateway/svc/internal/classifier"
	"github.com/svc-gateway/svc/scanner"
)

const (
	// between is what separates texts that are sent together.
	between = "\n\n"
	// margin is how much more than may be sent is kept of a text: the classifier finds credentials there.
	margin = 8 << 10
)

// inquiry is what the classifier is to be asked about a body: its texts, which are sent together. The texts
// of a stream that go on from record to record are not among them: each has a [classifier.Stream].
type inquiry struct {
	text []byte
	live bool // of a stream: they are sent when there are enough of them, and at the end
	sent int  // bytes
}

// note adds a text to what the classifier is asked about.
func (rep *report) note(text string) {
	q, asks := rep.inquiry, rep.handler.Classifier.asks
	switch {
	case !classifier.Telling(text):
		return
	case len(q.text)+q.sent >= asks.MaxText():
		rep.collect([]scanner.Finding{asks.PartlyScanned()})
		return
	}
	q.text = append(append(q.text, text[:min(len(text), asks.MaxText()+margin)]...), between...)
}

// inquire asks the classifier about what was noted, where that is enough to ask.
func (rep *report) inquire(last bool) {
	q := rep.inquiry
	if q == nil || len(q.text) == 0 || q.live && !last && len(q.text) < classifier.Step {
		return
	}
	text := string(q.text[:len(q.text)-len(between)])
	q.sent += len(q.text)
	q.text = q.text[:0]
	rep.giveWay()
	found, err := rep.handler.Classifier.asks.Classify(rep.patience(), text, rep.observe)
	rep.learnt(found, err)
}

// learnt takes what the classifier says.
func (rep *report) learnt(found []scanner.Finding, err error) {
	rep.collect(found)
	if err != nil && rep.handler.Classifier.closed() {
		rep.fail(errUntold)
	}
}

// patience is the context of calls. What has passed already is judged although its receiver may be gone.
func (rep *report) patience() context.Context {
	if ctx := rep.request.Context(); rep.handler.strict() {
		return ctx
	}
	return context.WithoutCancel(rep.request.Context())
}
