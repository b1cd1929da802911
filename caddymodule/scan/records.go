package scan

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/svc-gateway/svc/scanner"
)

const (
	// maxRecord is the longest event or line that is scanned as one; a longer one is scanned as
	// text while it comes.
	maxRecord = 256 << 10
	// maxTexts bounds the texts of a stream that are followed from event to event.
	maxTexts = 64
)

// records scans a stream of events or lines, each when it is complete. What belongs to one text,
// as the pieces of an answer do, is followed from one to the next.
type records struct {
	kind   kind
	report *report
	fields *fields
	buf    []byte // what has come of a record that is not complete
	data   []byte // of an event
	texts  map[string]*scanner.Stream
	last   map[string]string // by path: the value that was scanned last
	keys   map[string]bool   // that were scanned
}

func newRecords(k kind, rep *report, f *fields) *records {
	return &records{kind: k, report: rep, fields: f, texts: map[string]*scanner.Stream{}, last: map[string]string{}, keys: map[string]bool{}}
}

// pass scans the records that p completes and returns what may pass: all that is complete, up to
// the first record with a finding that is to be blocked.
func (r *records) pass(p []byte) ([]byte, error) {
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
		r.follow("", decodeEscapes(string(r.buf[done:])))
		if err := r.report.blocked(); err != nil {
			return r.cut(done), err
		}
		done = len(r.buf)
	}
	return r.cut(done), nil
}

// take scans the records that p completes, which passes in any case.
func (r *records) take(p []byte) {
	for len(p) > 0 {
		n := min(len(p), maxRecord)
		_, _ = r.pass(p[:n]) // nothing is blocked where bodies pass before they are scanned
		p = p[n:]
	}
}

// cut takes the first n bytes from the buffer.
func (r *records) cut(n int) []byte {
	out := bytes.Clone(r.buf[:n])
	r.buf = r.buf[:copy(r.buf, r.buf[n:])]
	return out
}

// end scans what is left and returns it.
func (r *records) end() ([]byte, error) {
	if len(r.buf) > 0 {
		r.scan(r.buf)
	}
	for _, t := range r.texts {
		r.report.take(t.Close())
	}
	if err := r.report.blocked(); err != nil {
		return nil, err
	}
	return r.cut(len(r.buf)), nil
}

// next returns the length of the record that p begins with, 0 when it is not complete.
func (r *records) next(p []byte) int {
	if r.kind == lines {
		return bytes.IndexByte(p, '\n') + 1
	}
	for i := 0; i < len(p); {
		end := lineEnd(p, i)
		if end < 0 {
			return 0
		}
		if i == 0 && (p[0] == ':' || p[0] == '\n' || p[0] == '\r') {
			return end // a keepalive waits for nothing
		}
		following := lineEnd(p, end)
		if following < 0 {
			return 0
		}
		if blank := bytes.Trim(p[end:following], "\r\n"); len(blank) == 0 {
			return following
		}
		i = end
	}
	return 0
}

// lineEnd returns the byte after the line at i: after \n, \r\n or \r. It is negative while the
// line is not complete.
func lineEnd(p []byte, i int) int {
	n := bytes.IndexAny(p[i:], "\r\n")
	if n < 0 {
		return -1
	}
	n += i + 1
	if p[n-1] == '\r' && n < len(p) && p[n] == '\n' {
		n++
	}
	return n
}

// scan scans one record.
func (r *records) scan(record []byte) {
	data := record
	if r.kind == events {
		data = r.dataOf(record)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return
	}
	if !json.Valid(data) {
		r.follow("", decodeEscapes(string(data)))
		return
	}
	r.fields.walk(string(data), func(path []string, value string, key bool) {
		switch {
		case value == "":
		case key:
			if !r.keys[value] {
				if len(r.keys) < maxTexts {
					r.keys[value] = true
				}
				r.report.add(value)
			}
		case continues(path):
			r.follow(strings.Join(path, "\x00"), value)
		default:
			r.once(strings.Join(path, "\x00"), value)
		}
	})
}

// once scans a value unless it stood at its place before.
func (r *records) once(place, value string) {
	if r.last[place] == value {
		return
	}
	if _, ok := r.last[place]; ok || len(r.last) < maxTexts {
		r.last[place] = value
	}
	r.report.add(value)
}

// dataOf returns the data of an event: the rests of its lines "data:", and of those of other names
// the values, which a client may show too.
func (r *records) dataOf(event []byte) []byte {
	r.data = r.data[:0]
	for line := range bytes.SplitSeq(bytes.ReplaceAll(event, []byte("\r"), []byte("\n")), []byte("\n")) {
		if rest, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			if len(r.data) > 0 {
				r.data = append(r.data, '\n')
			}
			r.data = append(r.data, bytes.TrimPrefix(rest, []byte(" "))...)
		} else if len(line) > 0 {
			r.once("\x00", string(line))
		}
	}
	return r.data
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

// follow scans the next piece of a text.
func (r *records) follow(key, piece string) {
	t := r.texts[key]
	if t == nil {
		if len(r.texts) >= maxTexts {
			r.report.add(piece)
			return
		}
		t = scanner.NewStream()
		r.texts[key] = t
	}
	r.report.take(t.Write(piece))
}

// farewell is the last record of a stream that is ended.
func (r *records) farewell(err error) []byte {
	var b *blockedError
	detail := "The stream was ended."
	if errors.As(err, &b) {
		detail = "The stream was ended because it seems to hold an injection (" + strings.Join(b.categories, ", ") + ")."
	}
	// Without the member error a client of chat completions would take this for one more piece and
	// the answer for a whole one.
	message, err := json.Marshal(map[string]string{"type": "error", "code": "injection_found", "error": "injection_found", "message": detail})
	if err != nil { // strings: cannot happen
		return nil
	}
	if r.kind == lines {
		return append(message, '\n')
	}
	return append(append([]byte("event: error\ndata: "), message...), "\n\n"...)
}
