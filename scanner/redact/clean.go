package redact

import (
	"bytes"
	"sync"

	"github.com/svc-gateway/svc/scanner/redact/jsonscan"
	"github.com/svc-gateway/svc/scanner/redact/literal"
)

// Clean tells by one look at its bytes that a JSON document, or whatever is taken for one, stays as it is:
// it has no mark of a rule, which the names of secrets have as well, and no known secret, neither as it
// is written nor with its escapes decoded. It is false for all that has a secret, and for some that has
// none: then it takes a JSONStream to know. doc has to be all of the document.
func (s *Secrets) Clean(doc []byte) bool {
	f := s.load()
	if !clean(f, doc) {
		return false
	}
	if bytes.IndexByte(doc, '\\') < 0 {
		return true
	}
	buf := decoded.Get().(*[]byte)
	defer decoded.Put(buf)
	text, ok := appendDecoded((*buf)[:0], doc)
	*buf = text[:0]
	return ok && clean(f, text)
}

// decoded are documents without their escapes.
var decoded = sync.Pool{New: func() any { return new([]byte) }}

// appendDecoded appends a document with its escapes decoded. It reports false where one stands for a
// backslash, behind which there may be more, or for nothing.
func appendDecoded(dst, doc []byte) ([]byte, bool) {
	for {
		n := bytes.IndexByte(doc, '\\')
		if n < 0 {
			return append(dst, doc...), true
		}
		dst = append(dst, doc[:n]...)
		at := len(dst)
		text, size, more := jsonscan.Unescape(doc[n:], dst)
		if dst = text; more || size == 1 || bytes.IndexByte(dst[at:], '\\') >= 0 {
			return dst, false
		}
		doc = doc[n+size:]
	}
}

// clean reports whether a text has no mark that may be what it seems, and none of the forms.
func clean(f *literal.Forms, text []byte) bool {
	for state, i := literal.State(0), 0; i < len(text); {
		next, n, found := marks.Find(state, text[i:])
		if state, i = next, i+n; found && marks.May(state, text[:i]) {
			return false
		}
	}
	return f.Clean(text)
}
