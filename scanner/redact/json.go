package redact

// JSONStream redacts a JSON document, or several one after the other. It reads strings as
// they decode, so that an escape hides nothing; the key of a value is the word before it: all
// strings below a key such as "password" become "REDACTED", but for those that tell what is known
// of a secret, as "type" and "expires_at" do. Numbers, true, false and null stay what
// they are, but that a long number becomes 0 where it is a password. What
// has no secret stays byte for byte. From the first byte that is not JSON on, the rest is redacted as plain
// text. The zero value is ready for use.
type JSONStream struct {
	from   *Secrets
	walker walker
	held   []byte // output that waits for the name of a value
	failed bool
	plain  TextStream // of what follows the first byte that is not JSON
}

// NewJSONStream returns a redactor of a JSON document.
func NewJSONStream() *JSONStream { return new(JSONStream) }

// JSON returns the JSON document with its secrets redacted.
func JSON(doc []byte) []byte {
	r := NewJSONStream()
	return r.Close(r.Append(make([]byte, 0, len(doc)+len(Mark)), doc))
}

// Append implements [Stream].
func (r *JSONStream) Append(dst, src []byte) []byte {
	if r.failed {
		return r.plain.Append(dst, src)
	}
	r.walker.own.know(r.from)
	r.walker.own.waits = true
	r.resume(dst)
	n := r.walker.walk(src)
	if n == len(src) {
		return r.pause()
	}
	r.walker.giveLate()
	dst = r.pause()
	r.failed = true
	r.plain.know(r.from)
	r.plain.follow(r.walker.lead())
	dst = r.plain.Append(dst, r.walker.waiting())
	return r.plain.Append(dst, src[n:])
}

// Close implements [Stream].
func (r *JSONStream) Close(dst []byte) []byte {
	if r.failed {
		dst = r.plain.Close(dst)
	} else {
		r.resume(dst)
		r.walker.end()
		r.walker.giveLate()
		dst = r.pause()
	}
	r.failed = false
	r.walker.reset()
	return dst
}

// resume gives the walker its output: dst and what was held back.
func (r *JSONStream) resume(dst []byte) {
	w := &r.walker
	w.out = append(dst, r.held...)
	if w.late.depth > 0 {
		w.late.from += len(dst)
		if w.late.to > 0 {
			w.late.to += len(dst)
		}
	}
	r.held = r.held[:0]
}

// pause takes the output from the walker, without what is held back.
func (r *JSONStream) pause() []byte {
	w := &r.walker
	out := w.out
	if w.out = nil; w.late.depth > 0 {
		r.held = append(r.held, out[w.late.from:]...)
		out = out[:w.late.from]
		if w.late.to > 0 {
			w.late.to -= w.late.from
		}
		w.late.from = 0
	}
	return out
}
