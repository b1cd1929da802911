package scan

import "github.com/svc-gateway/svc/scanner"

const (
	// maxTexts bounds the texts of a stream that are followed from record to record.
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
}

// text is one of them.
type text struct {
	stream *scanner.Stream
	fresh  []byte // not scanned yet
}

// follow takes the next piece of a text.
func (ts *texts) follow(place, piece []byte) {
	t := ts.known[string(place)]
	if t == nil {
		if len(ts.known) >= maxTexts {
			ts.report.add(string(piece))
			return
		}
		t = &text{stream: scanner.NewStream()}
		if !ts.eager {
			t.stream = scanner.NewLaggingStream(gathered)
		}
		ts.known[string(place)] = t
	}
	if ts.eager {
		ts.report.take(t.stream.Write(string(piece)))
		return
	}
	if t.fresh = append(t.fresh, piece...); len(t.fresh) >= gathered {
		ts.scan(t)
	}
}

// scan scans what was gathered of a text.
func (ts *texts) scan(t *text) {
	ts.report.take(t.stream.Write(string(t.fresh)))
	t.fresh = t.fresh[:0]
}

// end scans the rest of all texts.
func (ts *texts) end() {
	for _, t := range ts.known {
		ts.scan(t)
		ts.report.take(t.stream.Close())
	}
}
