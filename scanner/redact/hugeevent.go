package redact

import (
	"bytes"

	"github.com/svc-gateway/svc/scanner/sse"
)

// hugeEvent redacts one event that is too large to be kept, as it comes. Its data is one
// document or text; line ends within it are written where they come.
type hugeEvent struct {
	json   JSONStream
	other  TextStream // of a line that is not data
	head   []byte     // the line as long as its field is not known
	kind   lineKind
	prefix []byte // of the lines of data
	buf    []byte
}

func newHugeEvent(from *Secrets) *hugeEvent {
	return &hugeEvent{json: *from.JSONStream(), other: *from.TextStream()}
}

type lineKind uint8

const (
	unknownLine lineKind = iota
	dataLine
	otherLine
)

// begin takes the complete lines of the event.
func (h *hugeEvent) begin(dst, event []byte) []byte {
	for len(event) > 0 {
		line, end, rest := sse.Line(event)
		event = rest
		dst = h.part(dst, line)
		dst, _ = h.line(dst, end)
	}
	return dst
}

// part takes bytes of a line.
func (h *hugeEvent) part(dst, p []byte) []byte {
	switch h.kind {
	case dataLine:
		h.buf = h.json.Append(h.buf[:0], p)
		return h.write(dst)
	case otherLine:
		return h.other.Append(dst, p)
	}
	h.head = append(h.head, p...)
	if len(h.head) < len("data: ") {
		return dst
	}
	return h.lineBegins(dst)
}

// lineBegins takes the beginning of a line, by which its field is known.
func (h *hugeEvent) lineBegins(dst []byte) []byte {
	head := h.head
	h.head = nil
	if h.kind = otherLine; sse.IsData(head) {
		h.kind = dataLine
		_, value := sse.Field(head)
		if h.prefix != nil {
			head = append([]byte("\n"), value...)
		} else {
			h.prefix = bytes.Clone(head[:len(head)-len(value)])
			head = value
		}
		dst = append(dst, h.prefix...)
	}
	return h.part(dst, head)
}

// line takes the end of a line and reports whether the event ends with it.
func (h *hugeEvent) line(dst, end []byte) ([]byte, bool) {
	if h.kind == unknownLine {
		if len(h.head) == 0 {
			return append(h.close(dst), end...), true
		}
		dst = h.lineBegins(dst)
	}
	if h.kind == otherLine {
		dst = h.other.Close(dst)
	}
	h.kind = unknownLine
	return append(dst, end...), false
}

// close appends what the event still holds back, in a line of its own.
func (h *hugeEvent) close(dst []byte) []byte {
	if len(h.head) > 0 {
		dst = h.lineBegins(dst)
	}
	inLine := h.kind == dataLine
	if h.kind == otherLine {
		dst = h.other.Close(dst)
	}
	h.buf = h.json.Close(h.buf[:0])
	if inLine {
		return h.write(dst)
	}
	if len(h.buf) > 0 {
		dst = append(h.write(append(dst, h.prefix...)), '\n')
	}
	return dst
}

// write appends buf without the line ends, which were written already.
func (h *hugeEvent) write(dst []byte) []byte {
	for piece := range bytes.SplitSeq(h.buf, []byte("\n")) {
		dst = append(dst, piece...)
	}
	return dst
}
