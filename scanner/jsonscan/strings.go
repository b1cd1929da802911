package jsonscan

import "bytes"

// maxDepth is how deep a document may be whose strings are visited.
const maxDepth = 64

// Strings calls visit for each string of a JSON document, with what stands between its quotes and whether
// it is a key. It reports whether all of doc is one document that is not too deep, and visit said so of
// each string. Control characters in strings are let pass.
func Strings(doc []byte, visit func(inside []byte, key bool) bool) bool {
	r := stringReader{rest: doc, deepest: maxDepth, visit: visit}
	return r.document()
}

// stringReader reads a document from its first byte to the last.
type stringReader struct {
	rest    []byte
	deepest int
	visit   func(inside []byte, key bool) bool
}

func (r *stringReader) document() bool { return r.value(0) && r.next() == 0 && len(r.rest) == 0 }

// next moves over white space and returns the byte behind it, 0 at the end.
func (r *stringReader) next() byte {
	for i, b := range r.rest {
		if b != ' ' && b != '\n' && b != '\t' && b != '\r' {
			r.rest = r.rest[i:]
			return b
		}
	}
	r.rest = nil
	return 0
}

// accept moves over white space and a byte, if it comes next.
func (r *stringReader) accept(b byte) bool {
	if r.next() != b {
		return false
	}
	r.rest = r.rest[1:]
	return true
}

func (r *stringReader) value(depth int) bool {
	switch b := r.next(); {
	case b == '"':
		return r.text(false)
	case b == '{':
		return depth < r.deepest && r.members('}', func() bool { return r.text(true) && r.accept(':') && r.value(depth+1) })
	case b == '[':
		return depth < r.deepest && r.members(']', func() bool { return r.value(depth + 1) })
	case b == '-' || '0' <= b && b <= '9':
		n := NumberLength(r.rest)
		r.rest = r.rest[max(0, n):]
		return n > 0
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if rest, ok := bytes.CutPrefix(r.rest, []byte(word)); ok {
			r.rest = rest
			return true
		}
	}
	return false
}

// members reads the members of an object or array up to its end.
func (r *stringReader) members(end byte, member func() bool) bool {
	r.rest = r.rest[1:]
	if r.accept(end) {
		return true
	}
	for member() {
		if r.accept(end) {
			return true
		}
		if !r.accept(',') {
			return false
		}
	}
	return false
}

// text reads a string.
func (r *stringReader) text(key bool) bool {
	if r.next() != '"' {
		return false
	}
	n := 1
	for {
		i := bytes.IndexByte(r.rest[n:], '"')
		if i < 0 {
			return false
		}
		if escape := bytes.IndexByte(r.rest[n:n+i], '\\'); escape >= 0 {
			n = min(n+escape+2, len(r.rest))
			continue
		}
		n += i
		inside := r.rest[1:n]
		r.rest = r.rest[n+1:]
		return r.visit(inside, key)
	}
}

// AppendDecoded appends the inside of a string with its escapes decoded. It reports false where one stands
// for a backslash, behind which there may be more, or for nothing.
func AppendDecoded(dst, inside []byte) ([]byte, bool) {
	for {
		n := bytes.IndexByte(inside, '\\')
		if n < 0 {
			return append(dst, inside...), true
		}
		dst = append(dst, inside[:n]...)
		at := len(dst)
		text, size, more := Unescape(inside[n:], dst)
		if dst = text; more || size == 1 || bytes.IndexByte(dst[at:], '\\') >= 0 {
			return dst, false
		}
		inside = inside[n+size:]
	}
}
