package redact

import (
	"bytes"
	"slices"
	"strings"
)

// idNames are the members that tell which one of several texts an object is a piece of,
// wherever in the object they stand. Those before "id" do so by their name; "id" is left out
// where one of the numbers is there, and where each event has its own.
var idNames = [...]string{
	"index", "output_index", "content_index", "summary_index", "choice_index", "block_index",
	"item_id", "message_id", "messageid", "run_id", "response_id", "call_id", "tool_call_id", "toolcallid", "task_id", "part_id", "stream_id",
	"id",
}

const (
	numberNames = 6                // of idNames hold numbers
	bareID      = len(idNames) - 1 // place of "id"
	maxOwnIDs   = 3                // different ids under one path before each event is taken to have its own
	maxOpen     = 64               // objects and arrays within each other for which memory is kept
)

// objectID is what tells an object apart: its members of idNames as they are written.
type objectID struct {
	object int // in the order in which objects open
	tag    []byte
	bare   []byte // the member "id", when it is not part of the tag
	named  bool   // it has a name that makes its value a secret
}

// idReader finds the ids of the objects of a document.
type idReader struct {
	ids  []objectID
	open []idFrame
}

// idFrame is an open object or array.
type idFrame struct {
	object int // -1: an array
	named  bool
	found  [len(idNames)][]byte
}

// read returns the ids of the objects of a valid document, in the order in which the objects
// open. They are valid until the next call.
func (r *idReader) read(doc []byte) []objectID {
	r.ids, r.open = r.ids[:0], r.open[:0]
	r.find(doc)
	if cap(r.open) > maxOpen {
		r.open = nil
	}
	// Inner objects close first.
	slices.SortFunc(r.ids, func(a, b objectID) int { return a.object - b.object })
	return r.ids
}

func (r *idReader) find(doc []byte) {
	objects := 0
	for i := 0; i < len(doc); i++ {
		switch doc[i] {
		case '{':
			r.open = append(r.open, idFrame{object: objects})
			objects++
		case '[':
			r.open = append(r.open, idFrame{object: -1})
		case ']':
			r.open = r.open[:max(0, len(r.open)-1)]
		case '}':
			if len(r.open) == 0 {
				return
			}
			top := &r.open[len(r.open)-1]
			if id := newObjectID(top.object, &top.found, top.named); id.tag != nil || id.bare != nil || id.named {
				r.ids = append(r.ids, id)
			}
			r.open = r.open[:len(r.open)-1]
		case '"':
			end := i + stringLength(doc[i:])
			if n := len(r.open); n > 0 && r.open[n-1].object >= 0 && isKey(doc[end:]) {
				r.open[n-1].note(doc[i+1:max(i+1, end-1)], doc[end:])
			}
			i = end - 1
		}
	}
}

// note takes a key of the object and what follows it.
func (f *idFrame) note(key, rest []byte) {
	if place := idPlace(key); place >= 0 {
		f.found[place] = scalar(rest)
	} else if nameKeys.HasFold(key) {
		f.named = nameKind(bytes.Trim(scalar(rest), `"`)) == secretKey
	}
}

func newObjectID(object int, found *[len(idNames)][]byte, named bool) objectID {
	id := objectID{object: object, named: named}
	for place, v := range found[:bareID] {
		isNumber := len(v) > 0 && v[0] != '"'
		if len(v) == 0 || isNumber != (place < numberNames) {
			continue
		}
		id.tag = append(append(id.tag, byte('A'+place)), v...)
	}
	numbered := len(id.tag) > 0 && id.tag[0] < 'A'+numberNames
	if bare := found[bareID]; len(bare) > 0 && bare[0] == '"' && !numbered {
		id.bare = bare
	}
	return id
}

// idPlace returns the place of a key in idNames, -1 when it is none of them.
func idPlace(key []byte) int {
	if len(key) < 2 || len(key) > 13 {
		return -1
	}
	for i, n := range idNames {
		if len(n) == len(key) && strings.EqualFold(n, string(key)) {
			return i
		}
	}
	return -1
}

// isKey reports whether a colon follows.
func isKey(p []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(p, " \t\r\n"), []byte(":")) }

// scalar returns the string or number that follows a colon, nil when it is something else.
func scalar(p []byte) []byte {
	p = bytes.TrimLeft(p, ": \t\r\n")
	if len(p) > 0 && p[0] == '"' {
		if n := stringLength(p); n <= maxKey {
			return p[:n]
		}
		return nil
	}
	if n := numberLength(p); n > 0 {
		return p[:n]
	}
	return nil
}

// stringLength returns the length of the string that p begins with, its quotes included.
func stringLength(p []byte) int {
	for i := 1; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(p)
}

// ownIDs remembers the values of "id" under one path.
type ownIDs struct {
	seen     []string
	repeated bool // one came a second time, so they are ids of messages
}

// tells reports whether the id tells messages apart, rather than events.
func (o *ownIDs) tells(id []byte) bool {
	for _, k := range o.seen {
		if k == string(id) {
			o.repeated = true
		}
	}
	if o.repeated {
		return true
	}
	if len(o.seen) < maxOwnIDs {
		o.seen = append(o.seen, string(id))
		return true
	}
	return false
}
