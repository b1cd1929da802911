package scan

import (
	"bytes"
	"strings"
	"time"

	"github.com/svc-gateway/svc/internal/media"
	"github.com/svc-gateway/svc/scanner/inject"
	"github.com/svc-gateway/svc/scanner/jsonscan"
	"github.com/svc-gateway/svc/scanner/model"
)

// spell is the time that one piece of a body takes.
type spell struct {
	began time.Time
	bytes int64
}

// begin begins to scan the next n bytes of a body.
func (rep *report) begin(n int) spell { return spell{time.Now(), int64(n)} }

// end ends what has begun.
func (rep *report) end(s spell) {
	rep.giveWay()
	took := time.Since(s.began)
	rep.mu.Lock()
	rep.bytes += s.bytes
	rep.took += took
	rep.mu.Unlock()
	rep.inquire(false)
}

// scanBody scans a whole body, or a part of one.
func (rep *report) scanBody(p []byte, f *fields, k media.Kind) {
	defer rep.end(rep.begin(len(p)))
	rep.scanDocument(p, f, k)
}

// scanDocument scans the strings of a JSON document, or of one a line, that the fields name; else all
// of it.
func (rep *report) scanDocument(p []byte, f *fields, k media.Kind) {
	switch {
	case k.Opaque(p): // but not all of it, perhaps
		for at := 0; at == 0 || at+overlap < len(p); at += window - overlap {
			rep.scanPiece(p[at:min(at+window, len(p))], k)
		}
	case jsonscan.Valid(p):
		f.walk(string(p), func(_ []string, value string, _ bool) { rep.scanText(value) })
	case inLines(p, k):
		r := newRecords(lineKind(k), rep, f, false)
		r.observe(p)
		r.finish()
	default:
		rep.scanRaw(p, decoderOf(k))
	}
}

// inLines reports whether a body that begins so is a JSON document a line.
func inLines(p []byte, k media.Kind) bool {
	switch k {
	case media.JSONLines, media.JSONSequence:
		return true
	case media.Events, media.Form, media.Multipart, media.GRPC:
		return false
	}
	is, _ := media.Lines(p)
	return is
}

// lineKind is the kind of such a body.
func lineKind(k media.Kind) media.Kind {
	if k == media.JSONSequence {
		return k
	}
	return media.JSONLines
}

// scanPiece scans a piece of a body that is too long to be scanned as a whole.
func (rep *report) scanPiece(p []byte, k media.Kind) {
	if k.Opaque(p) {
		rep.scanBinary(p)
	} else {
		rep.scanRaw(p, decoderOf(k))
	}
}

// scanRaw scans bytes as text. Where there are zeros among them, readers that tell by each line or part
// what it is may see UTF-16 or UTF-32, so it is scanned without them, too.
func (rep *report) scanRaw(p []byte, decode func(string) string) {
	if len(p) == 0 {
		return
	}
	rep.scanText(decode(string(p)))
	if bytes.IndexByte(p, 0) >= 0 {
		rep.scanText(decode(strings.ReplaceAll(string(p), "\x00", "")))
	}
}

// scanText scans one text.
func (rep *report) scanText(text string) {
	if rep.enter(len(text)) {
		rep.collect(inject.Scan(text))
		if rep.handler.Model != "" {
			rep.collect(model.Scan(text))
		}
		if rep.inquiry != nil {
			rep.note(text)
		}
	}
}
