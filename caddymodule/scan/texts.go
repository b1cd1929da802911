package scan

import (
	"bytes"

	"github.com/svc-gateway/svc/internal/classifier"
	"github.com/svc-gateway/svc/scanner/inject"
	"github.com/svc-gateway/svc/scanner/model"
)

const (
	// maxTexts bounds the texts of a stream that are followed each by itself; all others, and what
	// is no JSON, are followed as one.
	maxTexts = 64
	// gathered is how much of a text is scanned together where findings are only noted.
	gathered = 2 << 10
)

// texts are the texts of a stream that go on from record to record, by their places in the
// documents.
type texts struct {
	report *report
	eager  bool // each piece is scanned as it comes
	known  map[string]*text
	other  []byte // the place that went on last of those that are followed as one
}

// text is one of them.
type text struct {
	stream *inject.Stream
	model  *model.Stream // nil: it is not asked
	asks   *classifier.Stream
	fresh  []byte // not scanned yet
}

// follow takes the next piece of a text.
func (ts *texts) follow(place, piece []byte) {
	t := ts.known[string(place)]
	if t == nil && len(ts.known) >= maxTexts {
		if !bytes.Equal(place, ts.other) { // where another text goes on, a word ends
			ts.other = append(ts.other[:0], place...)
			piece = append([]byte(" "), piece...)
		}
		place = nil
		t = ts.known[""]
	}
	if t == nil {
		t = &text{stream: inject.NewStream()}
		if !ts.eager {
			t.stream = inject.NewLaggingStream(gathered)
		}
		if ts.report.handler.Model != "" {
			t.model = model.NewStream()
		}
		if ts.report.inquiry != nil {
			t.asks = ts.report.handler.Classifier.asks.NewStream(ts.report.giveWay, ts.report.observe)
		}
		ts.known[string(place)] = t
	}
	if ts.eager {
		if ts.report.enter(len(piece)) {
			t.write(ts.report, string(piece))
		}
		return
	}
	if t.fresh = append(t.fresh, piece...); len(t.fresh) >= gathered {
		ts.scan(t)
	}
}

// scan scans what was gathered of a text.
func (ts *texts) scan(t *text) {
	if ts.report.enter(len(t.fresh)) {
		t.write(ts.report, string(t.fresh))
	}
	t.fresh = t.fresh[:0]
}

// close scans the rest of all texts.
func (ts *texts) close() {
	for _, t := range ts.known {
		ts.scan(t)
		ts.report.collect(t.stream.Close())
		if t.model != nil {
			ts.report.collect(t.model.Close())
		}
		if t.asks != nil {
			ts.report.learnt(t.asks.Close(ts.report.patience()))
		}
	}
}

// write scans the next piece of a text.
func (t *text) write(rep *report, piece string) {
	rep.collect(t.stream.Write(piece))
	if t.model != nil {
		rep.collect(t.model.Write(piece))
	}
	if t.asks != nil {
		rep.learnt(t.asks.Write(rep.patience(), piece))
	}
}
