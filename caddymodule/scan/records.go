package scan

import (
	"bytes"
	"strings"

	"github.com/svc-gateway/svc/internal/media"
	"github.com/svc-gateway/svc/scanner/jsonscan"
	"github.com/svc-gateway/svc/scanner/sse"
)

// maxRecord is the longest event or line that is scanned as one; a longer one is scanned as text
// while it comes.
const maxRecord = 256 << 10

// separator is what each document of a JSON sequence begins with (RFC 7464); a line feed follows it.
const separator = "\x1e"

// records scans a stream of events or lines, each when it is complete. What belongs to one text,
// as the pieces of an answer do, is followed from one to the next.
type records struct {
	kind      media.Kind
	report    *report
	fields    *fields
	buf       []byte // what has come of a record that is not complete
	place     []byte // of a string in its document
	texts     texts
	templates templates
	last      map[string]string // by place: the value that was scanned last
	keys      map[string]bool   // that were scanned
}

// newRecords makes the records of a stream; strict says that each is scanned before it passes.
func newRecords(k media.Kind, rep *report, f *fields, strict bool) *records {
	if rep.inquiry != nil {
		rep.inquiry.live = true
	}
	return &records{
		kind: k, report: rep, fields: f, last: map[string]string{}, keys: map[string]bool{},
		texts: texts{report: rep, eager: strict, known: map[string]*text{}},
	}
}

// sift scans the records that p completes and returns what may pass: all that is complete, up to
// the first record with a finding that is to be blocked.
func (r *records) sift(p []byte) ([]byte, error) {
	r.buf = append(r.buf, p...)
	done := 0
	for {
		n := r.next(r.buf[done:])
		if n == 0 {
			break
		}
		r.scan(r.buf[done : done+n])
		if err := r.report.blocked(); err != nil {
			return r.cut(done), err
		}
		done += n
	}
	if len(r.buf)-done > maxRecord {
		r.overlong(r.buf[done:])
		if err := r.report.blocked(); err != nil {
			return r.cut(done), err
		}
		done = len(r.buf)
	}
	return r.cut(done), nil
}

// observe scans the records that p completes, which passes in any case.
func (r *records) observe(p []byte) {
	if len(r.buf) > 0 {
		r.buf = append(r.buf, p...)
		p = r.buf
	}
	for n := r.next(p); n > 0; n = r.next(p) {
		r.scan(p[:n])
		p = p[n:]
	}
	if len(p) > maxRecord {
		r.overlong(p)
		p = nil
	}
	r.buf = append(r.buf[:0], p...)
}

// overlong scans what has come of a record that is too long to wait for.
func (r *records) overlong(p []byte) { r.followText(p) }

// followText scans what is no JSON, as one text with all that is none.
func (r *records) followText(p []byte) {
	r.texts.follow(nil, []byte(decodeEscapes(string(p))))
	if bytes.IndexByte(p, 0) >= 0 {
		r.report.scanText(decodeEscapes(strings.ReplaceAll(string(p), "\x00", "")))
	}
}

// cut takes the first n bytes from the buffer.
func (r *records) cut(n int) []byte {
	out := bytes.Clone(r.buf[:n])
	r.buf = r.buf[:copy(r.buf, r.buf[n:])]
	return out
}

// rest scans what is left and returns it.
func (r *records) rest() ([]byte, error) {
	r.finish()
	if err := r.report.blocked(); err != nil {
		return nil, err
	}
	return r.cut(len(r.buf)), nil
}

// finish scans what is left.
func (r *records) finish() {
	if len(r.buf) > 0 {
		r.scan(r.buf)
	}
	r.texts.close()
	r.report.inquire(true)
}

// next returns the length of the record that p begins with, 0 when it is not complete.
func (r *records) next(p []byte) int {
	if r.kind != media.Events {
		return bytes.IndexByte(p, '\n') + 1
	}
	for rest := p; len(rest) > 0; {
		line, end, after := sse.Line(rest)
		n := len(p) - len(after)
		switch {
		case len(end) == 0:
			return 0
		case len(line) == 0, n == len(line)+len(end) && line[0] == ':':
			return n // the event is complete; a keepalive waits for nothing
		}
		rest = after
	}
	return 0
}

// scan scans one record.
func (r *records) scan(record []byte) {
	if place, piece, ok := r.templates.match(record); ok {
		r.texts.follow(place, piece)
		return
	}
	data := record
	switch r.kind {
	case media.Events:
		data = r.dataOf(record)
	case media.JSONSequence:
		data = bytes.TrimLeft(record, separator)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return
	}
	if start, _ := media.Sniff(data, media.JSON); !start.Charset.Readable() {
		r.report.fail(errCharset) // some readers tell by each line what it is
		return
	}
	if !jsonscan.Valid(data) {
		r.followText(data)
		return
	}
	r.templates.begin()
	r.fields.walk(string(data), func(path []string, value string, key bool) {
		switch {
		case value == "":
		case key:
			if !r.keys[value] {
				if len(r.keys) < maxTexts {
					r.keys[value] = true
				}
				r.report.scanText(value)
			}
		case continues(path):
			place, piece := r.placeOf(path), []byte(value)
			r.texts.follow(place, piece)
			r.templates.note(place, piece)
		default:
			r.once(r.placeOf(path), value)
		}
	})
	r.templates.learn(record)
}

// placeOf writes a path as one text, valid until the next call.
func (r *records) placeOf(path []string) []byte {
	r.place = r.place[:0]
	for _, name := range path {
		r.place = append(append(r.place, 0), name...)
	}
	return r.place
}

// once scans a value unless it stood at its place before.
func (r *records) once(place []byte, value string) {
	last, ok := r.last[string(place)]
	if ok && last == value {
		return
	}
	if ok || len(r.last) < maxTexts {
		r.last[string(place)] = value
	}
	r.report.scanText(value)
}

// dataOf returns the data of an event: the values of its lines of data joined. Lines of other names a
// client may show too.
func (r *records) dataOf(event []byte) []byte {
	for rest := event; len(rest) > 0; {
		var line []byte
		if line, _, rest = sse.Line(rest); len(line) > 0 && !sse.IsData(line) {
			r.once(nil, string(line))
		}
	}
	return sse.Data(event)
}

// continues reports whether strings at the path are pieces of one text.
func continues(path []string) bool {
	if len(path) == 0 {
		return true
	}
	for i := len(path) - 1; i >= 0; i-- {
		switch path[i] {
		case "*":
			continue
		case "content", "text", "delta", "arguments", "partial_json", "reasoning_content", "reasoning", "thinking", "output_text", "input", "data", "value", "refusal":
			return true
		}
		return false
	}
	return true
}
