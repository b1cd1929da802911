package redact

import "slices"

// Stream rewrites a stream piece by piece.
type Stream interface {
	// Append appends to dst what can be written now that src has come, and returns dst.
	Append(dst, src []byte) []byte
	// Close appends the rest and returns dst. What might be a secret is treated as one.
	// After Close the transformer is ready for a new stream.
	Close(dst []byte) []byte
}

// TextStream redacts plain text. It writes all but what may be part of a secret at once, and
// holds at most 2 KiB. The zero value is ready for use.
type TextStream struct {
	engine
	finder secretFinder
	dst    []byte
}

// NewTextStream returns a redactor of plain text.
func NewTextStream() *TextStream { return new(TextStream) }

// Append implements [Stream].
func (r *TextStream) Append(dst, src []byte) []byte {
	r.dst = dst
	if r.finder.active() {
		r.finder.step((*remainder)(r), src, false)
	} else {
		r.step(r, src, false)
	}
	dst, r.dst = r.dst, nil
	return dst
}

// Close implements [Stream].
func (r *TextStream) Close(dst []byte) []byte {
	r.dst = dst
	if r.finder.active() {
		r.finder.step((*remainder)(r), nil, true)
	}
	r.finder.reset()
	r.step(r, nil, true)
	dst, r.dst = r.dst, nil
	return dst
}

// undecided is what was neither written nor dropped yet.
func (r *TextStream) undecided() []byte { return slices.Concat(r.held(), r.finder.held()) }

// remainder is a redactor as the sink of what is no known secret.
type remainder TextStream

func (u *remainder) keep(p []byte) { u.step((*TextStream)(u), p, false) }
func (u *remainder) drop(int)      {}
func (u *remainder) mark()         { u.keep([]byte(Mark)) }

func (r *TextStream) keep(p []byte) { r.dst = append(r.dst, p...) }
func (r *TextStream) drop(int)      {}
func (r *TextStream) mark()         { r.dst = append(r.dst, Mark...) }

// Text returns the text with its secrets redacted. A text without any mark of a secret is
// returned as it is, without an allocation.
func Text(text string) string {
	if !marks.Contains([]byte(text)) {
		return text
	}
	var r TextStream
	out := r.Append(make([]byte, 0, len(text)+len(Mark)), []byte(text))
	return string(r.Close(out))
}
