package redact

import (
	"bytes"
	"sync"

	"github.com/svc-gateway/svc/scanner/jsonscan"
	"github.com/svc-gateway/svc/scanner/redact/literal"
)

// Clean tells by a look at its bytes that a JSON document stays as it is: it has no known secret, and no
// mark of a rule but in keys whose values are none, as in "total_tokens": 412. It is false for all that has a
// secret, and for some that has none: then it takes a JSONStream to know. doc has to be all of the
// document.
func (s *Secrets) Clean(doc []byte) bool {
	f := s.load()
	if !f.Clean(doc) {
		return false
	}
	c := cleaners.Get().(*cleaner)
	defer cleaners.Put(c)
	c.judged = false
	return jsonscan.Strings(doc, func(inside []byte, key bool) bool { return c.clean(f, inside, key) })
}

// cleaner is the memory for the strings of a document.
type cleaner struct {
	text   []byte // decoded
	key    TextStream
	out    []byte // what becomes of a key
	judged bool   // the last key makes a string a secret, by its looks
}

var cleaners = sync.Pool{New: func() any { return new(cleaner) }}

// clean reports whether a string of a document stays as it is, and if it is a key, its value does.
func (c *cleaner) clean(f *literal.Forms, text []byte, key bool) bool {
	if bytes.IndexByte(text, '\\') >= 0 {
		var ok bool
		if c.text, ok = jsonscan.AppendDecoded(c.text[:0], text); !ok {
			return false
		}
		if text = c.text; f != nil {
			if _, form := f.Find(text, true); form != "" {
				return false
			}
		}
	}
	switch {
	case !key && c.judged:
		return false
	case !marks.MayHave(text):
		c.judged = false
		return true
	case !key:
		return false
	}
	kind := nameKind(text)
	c.judged = kind != openKey
	c.out = c.key.Close(c.key.Append(c.out[:0], text))
	return kind != secretKey && bytes.Equal(text, c.out)
}
