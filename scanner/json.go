package scanner

// JSONRedactor redacts a JSON document, or several one after the other. It reads strings as
// they decode, so that an escape hides nothing; the key of a value is the word before it: all
// strings and numbers below a key such as "password" become "REDACTED". What has no secret
// stays byte for byte. From the first byte that is not JSON on, the rest is redacted as plain
// text. The zero value is ready for use.
type JSONRedactor struct {
	walker walker
	failed bool
	plain  Redactor // of what follows the first byte that is not JSON
}

// NewJSONRedactor returns a redactor of a JSON document.
func NewJSONRedactor() *JSONRedactor { return new(JSONRedactor) }

// RedactJSON returns the JSON document with its secrets redacted.
func RedactJSON(doc []byte) []byte {
	r := NewJSONRedactor()
	return r.Close(r.Append(make([]byte, 0, len(doc)+len(Redacted)), doc))
}

// Append implements [Transformer].
func (r *JSONRedactor) Append(dst, src []byte) []byte {
	if r.failed {
		return r.plain.Append(dst, src)
	}
	r.walker.out = dst
	n := r.walker.walk(src)
	dst, r.walker.out = r.walker.out, nil
	if n == len(src) {
		return dst
	}
	r.failed = true
	if r.walker.announced() {
		r.plain.follow()
	}
	dst = r.plain.Append(dst, r.walker.literal)
	return r.plain.Append(dst, src[n:])
}

// Close implements [Transformer].
func (r *JSONRedactor) Close(dst []byte) []byte {
	if r.failed {
		dst = r.plain.Close(dst)
	} else {
		r.walker.out = dst
		r.walker.end()
		dst, r.walker.out = r.walker.out, nil
	}
	r.failed = false
	r.walker.reset()
	return dst
}

// follow makes what comes next the value of a key that was written already.
func (r *Redactor) follow() {
	r.step(discard{}, []byte(`"password":`), false)
	r.sent = len(r.buf)
}

// discard is a sink for what was written already.
type discard struct{}

func (discard) keep([]byte) {}
func (discard) drop(int)    {}
func (discard) mark()       {}
