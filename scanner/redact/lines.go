package redact

import "bytes"

// LineStream redacts JSON lines (NDJSON), in which an answer may be written piece by piece:
// each line is read as [EventStream] reads the data of an event, so that a secret is found also
// when it is split over lines. Lines that are no JSON are one text, line ends included. The number and
// order of the lines stay. The zero value is ready for use.
type LineStream struct {
	line  []byte // so far
	state streamFields
	huge  *JSONStream // of a line of more than 1 MiB
}

// NewLineStream returns a redactor of JSON lines.
func NewLineStream() *LineStream { return new(LineStream) }

// Append implements [Stream].
func (r *LineStream) Append(dst, src []byte) []byte {
	for len(src) > 0 {
		n := bytes.IndexByte(src, '\n')
		piece := src
		if n >= 0 {
			piece = src[:n]
		}
		dst = r.part(dst, piece)
		if n < 0 {
			return dst
		}
		dst = r.ends(dst, false)
		src = src[n+1:]
	}
	return dst
}

// Close implements [Stream].
func (r *LineStream) Close(dst []byte) []byte {
	if len(r.line) > 0 || r.huge != nil {
		dst = r.ends(dst, true)
	}
	dst = r.state.flush(dst)
	*r = LineStream{line: r.line[:0], state: streamFields{from: r.state.from}}
	return dst
}

// part takes bytes of a line.
func (r *LineStream) part(dst, p []byte) []byte {
	if r.huge != nil {
		return r.huge.Append(dst, p)
	}
	r.line = append(r.line, p...)
	if len(r.line) <= maxEvent {
		return dst
	}
	dst = r.state.flush(dst)
	r.huge = r.state.from.JSONStream()
	dst = r.huge.Append(dst, r.line)
	r.line = r.line[:0]
	return dst
}

// ends takes the end of a line; last says that it has none.
func (r *LineStream) ends(dst []byte, last bool) []byte {
	end := []byte("\n")
	if last {
		end = nil
	}
	if r.huge != nil {
		dst = append(r.huge.Close(dst), end...)
		r.huge = nil
		return dst
	}
	line := bytes.TrimSuffix(r.line, []byte("\r"))
	end = append(r.line[len(line):len(r.line):len(r.line)], end...)
	if len(line) == 0 && r.state.texts[plainText] == nil {
		dst = r.state.emit(dst, end, nil, asItCame)
	} else {
		r.state.lines = true
		dst = r.state.event(dst, "", end, line, last, appendLine)
	}
	r.line = r.line[:0]
	return dst
}

// appendText appends a line of text, which has its end.
func appendText(dst, _, text []byte) []byte { return append(dst, text...) }

// appendLine appends a line with its end.
func appendLine(dst, end, text []byte) []byte { return append(append(dst, text...), end...) }
