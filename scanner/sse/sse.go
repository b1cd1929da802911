// Package sse cuts streams of server-sent events into lines, and lines into fields (HTML Living
// Standard 9.2.5 and 9.2.6).
//
//	for len(event) > 0 {
//		var line []byte
//		line, _, event = sse.Line(event)
//		name, value := sse.Field(line)
//		…
//	}
//
// A line ends with LF, CR LF or CR; an event with an empty line. The functions work on what has come:
// a line whose end has not come yet has an empty end. They never fail, return parts of what they are
// given, do no I/O and are safe for concurrent use.
//
// Redaction reads events so, and so can whoever handles streams without redacting them; that is why
// this is no part of package redact, whose tables are built when it is linked.
package sse

import "bytes"

// LineLength returns the number of bytes before the first line end.
func LineLength(p []byte) int {
	if n := bytes.IndexByte(p, '\n'); n >= 0 {
		p = p[:n]
	}
	if n := bytes.IndexByte(p, '\r'); n >= 0 {
		p = p[:n]
	}
	return len(p)
}

// Line cuts the first line off p, with its end. The end is empty where none has come. A CR at the end
// of p ends a line; a LF that comes after it is the second half of that end.
func Line(p []byte) (line, end, rest []byte) {
	n := LineLength(p)
	if n == len(p) {
		return p, nil, nil
	}
	m := n + 1
	if p[n] == '\r' && m < len(p) && p[m] == '\n' {
		m++
	}
	return p[:n], p[n:m], p[m:]
}

// Field splits a line into the name of its field and the value. The name of a comment is empty.
func Field(line []byte) (name, value []byte) {
	name, value, _ = bytes.Cut(line, []byte(":"))
	return name, bytes.TrimPrefix(value, []byte(" "))
}

// IsData reports whether a line is one of data.
func IsData(line []byte) bool {
	name, _ := Field(line)
	return string(name) == "data"
}

// Data returns the data of an event, its lines joined by LF. That of a single line is part of the
// event.
func Data(event []byte) []byte {
	var data []byte
	lines := 0
	for len(event) > 0 {
		var line []byte
		if line, _, event = Line(event); !IsData(line) {
			continue
		}
		_, value := Field(line)
		if lines++; lines == 1 {
			data = value[:len(value):len(value)]
		} else {
			data = append(append(data, '\n'), value...)
		}
	}
	return data
}

// WithData appends the event with other data. The lines of the data take the places of the
// old ones; if there are more, they follow the last one.
func WithData(dst, event, data []byte) []byte {
	left := 0
	for rest := event; len(rest) > 0; {
		var line []byte
		if line, _, rest = Line(rest); IsData(line) {
			left++
		}
	}
	more := true
	for len(event) > 0 {
		line, end, rest := Line(event)
		event = rest
		if !IsData(line) {
			dst = append(append(dst, line...), end...)
			continue
		}
		left--
		_, value := Field(line)
		prefix := line[:len(line)-len(value)]
		for first := true; first || left == 0 && more; first = false {
			if !first && len(end) == 0 {
				dst = append(dst, '\n')
			}
			var text []byte
			text, data, more = bytes.Cut(data, []byte("\n"))
			dst = append(dst, prefix...)
			if len(text) > 0 && len(prefix) == len("data") {
				dst = append(dst, ':')
			}
			dst = append(append(dst, text...), end...)
		}
	}
	return dst
}
